# Completion of idxport for bash 3.2 and later. Words are passed on as they were typed, with their
# quotes, and are never evaluated. Where nothing is listed, readline completes paths (-o default).
_idxport() {
    local word=$2 name
    COMPREPLY=()
    if ((BASH_VERSINFO[0] < 4)); then # its readline would run a command in a path
        case $word in *'$('* | *'`'*) COMPREPLY=("$word"); return ;; esac
    fi
    set -- "${COMP_WORDS[@]:1:COMP_CWORD-1}"
    if [[ $word == -* ]]; then set -- "$@" -; else set -- "$@" x; fi # - lists all flags
    while IFS=: read -r name _; do
        if [[ $name == "$word"* ]]; then COMPREPLY+=("$name"); fi
    done < <(command idxport "$@" --generate-shell-completion 2>/dev/null)
}
complete -o default -F _idxport idxport
