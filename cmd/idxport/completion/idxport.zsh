#compdef idxport
# Completion of idxport for zsh, to be sourced or to be a file _idxport in fpath. ${(Q)...} removes
# quotes and evaluates nothing.
_idxport() {
    local value about paths
    local -a open closed
    while IFS=$'\t' read -r value about; do
        case $value in
        '') paths=1 ;;
        *=) open+=("${value//:/\\:}${about:+:$about}") ;;
        *) closed+=("${value//:/\\:}${about:+:$about}") ;;
        esac
    done < <(command idxport __complete "word=${(Q)PREFIX}" "${(@Q)words[2,CURRENT-1]}" 2>/dev/null)
    local found=1
    (( $#closed )) && _describe idxport closed && found=0
    (( $#open )) && _describe idxport open -S '' && found=0
    if [[ -n $paths && $PREFIX != *('$('|'`')* ]]; then # zsh would run the command
        _files && found=0
        compset -P '*=' && _files && found=0
    fi
    return found
}
if [[ ${funcstack[1]} == _idxport ]]; then
    _idxport "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
    compdef _idxport idxport
fi
