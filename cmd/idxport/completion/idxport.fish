# Completion of idxport for fish. commandline -o removes quotes and evaluates nothing.
function __idxport_complete
    set -l word (commandline -ct)
    set -l before (commandline -opc)
    set -e before[1]
    command idxport __complete "word=$word" $before 2>/dev/null
end
complete -c idxport -e
complete -c idxport -f -n 'not __idxport_complete | string match -q ""'
complete -c idxport -k -a '(__idxport_complete | string match -v "")'
