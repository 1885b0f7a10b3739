# SPDX-License-Identifier: Apache-2.0
# Completion of fettle(1) for bash: the tool says what may follow.
_fettle()
{
    local word prev=${COMP_WORDS[COMP_CWORD-1]-}
    COMPREPLY=()
    case $prev in
    --cert | --key | --ca | -C | --controller) compopt -o default; return ;;
    -o | --output | -s | --sort | --unset | -w | --where) compopt -o nospace ;;
    esac
    while IFS=$'\t' read -r word _; do
        COMPREPLY+=("$word")
    done < <(fettle complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _fettle fettle
