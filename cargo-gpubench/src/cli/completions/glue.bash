
# Bash breaks words at `:` and `=` as well, which names of cases are full of: completed is the whole word, of which bash knows the last part only.
_cargo_gpubench_whole_words() {
    local word known candidate words=()
    read -ra words <<<"${COMP_LINE:0:COMP_POINT}"
    [[ ${COMP_LINE:0:COMP_POINT} == *[[:space:]] ]] && words+=("")
    word=${words[-1]}
    if [[ $word == --*=* ]]; then
        words[-1]=${word%%=*}
        word=${word#*=}
        words+=("$word")
    fi
    local COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1))
    _cargo_gpubench "$1" "$word" "${words[-2]}"
    known=${word%"${word##*[:=]}"}
    local candidates=("${COMPREPLY[@]}")
    COMPREPLY=()
    for candidate in "${candidates[@]}"; do
        # Options are offered to whoever begins one.
        [[ $candidate == -* && $word != -* ]] || COMPREPLY+=("${candidate#"$known"}")
    done
}

# Cargo's own completion stays in charge of its other subcommands.
_cargo_gpubench_of_cargo() {
    if [[ ${COMP_WORDS[1]} == gpubench && $COMP_CWORD -gt 1 ]]; then
        _cargo_gpubench_whole_words "$@"
    elif [[ -n $_cargo_gpubench_others ]]; then
        "$_cargo_gpubench_others" "$@"
    fi
}

if ! complete -p cargo &>/dev/null; then
    if declare -F _comp_load &>/dev/null; then
        _comp_load cargo &>/dev/null
    elif declare -F _completion_loader &>/dev/null; then
        _completion_loader cargo &>/dev/null
    fi
fi
_cargo_gpubench_others=$(complete -p cargo 2>/dev/null | sed -n 's/.* -F \([^ ]*\) .*/\1/p')
if [[ $_cargo_gpubench_others == _cargo_gpubench_of_cargo ]]; then
    _cargo_gpubench_others=
fi
complete -F _cargo_gpubench_of_cargo -o bashdefault -o default cargo
complete -F _cargo_gpubench_whole_words -o bashdefault -o default cargo-gpubench
