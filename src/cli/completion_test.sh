#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What bash completes after the words of a call. usage: completion_test.sh COMPLETION
set -u
source "$1" || exit 1
compopt() { :; }
fettle() { printf 'lx01\nlx02\nmx01\n'; }
failed=0

# want "WORDS OF THE CALL" "COMPLETIONS": the last word is the one to complete
want()
{
    local IFS=' '
    read -r -a COMP_WORDS <<< "$1"
    [[ $1 == *' ' ]] && COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    unset IFS
    _fettle
    if [[ "${COMPREPLY[*]}" != "$2" ]]; then
        echo "$1: ${COMPREPLY[*]} (wanted: $2)"
        failed=1
    fi
}

want "fettle no" "node"
want "fettle " "node partition status watch events journal reload token cert conform class baseline place slurm check incident remedy repair approve refuse queue override brake power version help"
want "fettle baseline ro" "rollout"
want "fettle baseline rollout s" "start show"
want "fettle baseline rollout start --dead" "--deadline"
want "fettle conform diff mx" "mx01"
want "fettle place --re" "--require-conformance"
want "fettle node u" "undrain up"
want "fettle cert " "create list revoke"
want "fettle node drain lx" "lx01 lx02"
want "fettle node drain lx01 --re" "--reason"
want "fettle node list --no" "--no-header"
want "fettle status --fo" ""
want "fettle status --js" "--json"
want "fettle watch mx" "mx01"
want "fettle cert create ada --role a" "admin"
want "fettle node list -o Name,Sta" "Name,State"
want "fettle node list -o name,sta" "name,State"
want "fettle help par" "partition"
want "fettle check run l" ""
want "fettle check run scratch l" "lx01 lx02"
want "fettle power status mx" "mx01"
want "fettle repair move m" ""
want "fettle queue take m" "mx01"
want "fettle queue take lx01 m" "mx01"
want "fettle place -N 2 m" ""
want "fettle token create --nodes m" "mx01"
exit $failed
