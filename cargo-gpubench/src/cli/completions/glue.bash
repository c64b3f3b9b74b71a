
# Names of stored runs, which only the workspace knows; a file may be named as well.
_cargo_gpubench_or_names() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
    case $previous in
        -b|--baseline|--baseline-lenient|--save-baseline|--load-baseline|--compare|compare|report)
            if [[ $word != -* ]]; then
                local names
                names=$("${COMP_WORDS[0]}" gpubench compare --baselines 2>/dev/null)
                COMPREPLY=($(compgen -W "$names" -- "$word"))
                [[ ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "$word"))
                return
            fi
            ;;
    esac
    _cargo_gpubench "$@"
}

# Cargo's own completion stays in charge of its other subcommands.
_cargo_gpubench_of_cargo() {
    if [[ ${COMP_WORDS[1]} == gpubench && $COMP_CWORD -gt 1 ]]; then
        _cargo_gpubench_or_names "$@"
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
complete -F _cargo_gpubench_or_names -o bashdefault -o default cargo-gpubench
