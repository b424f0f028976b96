# Completion of idxport for bash 3.2 and later. What was typed is passed on as it stands, with its
# quotes, and is never evaluated.
#
# From bash 4 on, COMP_WORDS is cut at = and : too, so words with nothing between them are joined
# again. Where there are no candidates, readline completes paths (-o default): it quotes them.
_idxport() {
    local line=${COMP_LINE:0:COMP_POINT} readline=$2 words=() word kept value paths= n=0
    COMPREPLY=()
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if ((n == 0)) || [[ $line == [[:space:]]* ]]; then
            line=${line#"${line%%[![:space:]]*}"}
            n=$((n + 1))
        fi
        [[ $line == "$word"* ]] || word=$line # the cursor is within it
        words[n-1]+=$word
        line=${line#"$word"}
    done
    word=${words[n-1]}
    if ((n > 1)) && [[ $word != *[\<\>]* && ${words[n-2]} != *[\<\>] ]]; then # not the file of a redirection
        kept=${word%"$readline"} # which readline does not replace
        while IFS=$'\t' read -r value _; do
            case $value in
            '') paths=1 ;;
            *=) COMPREPLY+=("${value#"$kept"}") ;;
            *) COMPREPLY+=("${value#"$kept"} ") ;;
            esac
        done < <(command idxport __complete "word=$word" "${words[@]:1:n-2}" 2>/dev/null)
    else
        paths=1
    fi
    case $word in *'$('* | *'`'*) paths= ;; esac # bash 3.2 would run the command
    if [[ ! $paths ]]; then
        # Nothing but the candidates. Without compopt, the word completes to itself.
        compopt +o default 2>/dev/null || ((${#COMPREPLY[@]})) || COMPREPLY=("$readline")
    elif ((${#COMPREPLY[@]})); then # the word is empty or begins a format: it has no quotes
        while IFS= read -r value; do
            if [[ -d $value ]]; then
                printf -v value '%q/' "$value"
            elif [[ -e $value ]]; then
                printf -v value '%q ' "$value"
            else
                continue # one line of a name with several
            fi
            COMPREPLY+=("$value")
        done < <(compgen -f -- "${word#"$kept"}")
    else
        compopt +o nospace 2>/dev/null || :
    fi
}
complete -o default -o nospace -F _idxport idxport
