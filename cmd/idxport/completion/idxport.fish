# Completion of idxport for fish. commandline -o removes quotes and evaluates nothing.
function __idxport_complete
    set -l word (commandline -ct)
    set -l before (commandline -opc)
    set -e before[1]
    string match -q -- '-*' "$word"; and set -a before -; or set -a before x # - lists all flags
    command idxport $before --generate-shell-completion 2>/dev/null | string replace : \t
end
complete -c idxport -e
complete -c idxport -f -n __fish_use_subcommand
complete -c idxport -k -a '(__idxport_complete)'
