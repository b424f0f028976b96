#compdef idxport
# Completion of idxport for zsh, to be sourced or to be a file _idxport in fpath. ${(Q)...} removes
# quotes and evaluates nothing.
_idxport() {
    local -a found
    local last=x
    [[ $PREFIX == -* ]] && last=- # lists all flags
    found=(${(f)"$(command idxport "${(@Q)words[2,CURRENT-1]}" $last --generate-shell-completion 2>/dev/null)"})
    _describe idxport found && return
    [[ $PREFIX == *('$('|'`')* ]] && return 1 # zsh would run the command
    _files || { compset -P '*=' && _files }
}
if [[ ${funcstack[1]} == _idxport ]]; then
    _idxport "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
    compdef _idxport idxport
fi
