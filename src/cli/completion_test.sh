#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the shells complete after the words of a call. usage: completion_test.sh FETTLE DIRECTORY
set -u
tool=$1 scripts=$2
export FETTLE_CONTROLLER=/nowhere # names are asked of a controller: cli_complete
source "$scripts/fettle.bash" || exit 1
compopt() { :; }
fettle() { "$tool" "$@"; }
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
want "fettle " "node partition status watch events journal audit whoami reload token cert controller backup conform class baseline place slurm check incident remedy repair approve refuse queue override brake power import version help complete owner"
want "fettle baseline ro" "rollout"
want "fettle baseline rollout s" "start show"
want "fettle baseline rollout start --dead" "--deadline"
want "fettle place --re" "--require-conformance"
want "fettle node u" "undrain up"
want "fettle cert " "create list revoke"
want "fettle node list --no" "--no-header"
want "fettle status --fo" ""
want "fettle status --js" "--json"
want "fettle cert create ada --role a" "admin"
want "fettle node list -o Name,Sta" "Name,State"
want "fettle node list -o name,sta" "name,State"
want "fettle help par" "partition"
want "fettle check run l" ""
want "fettle repair move m" "manual_drain maintenance maintenance_over"
want "fettle place -N 2 m" ""
want "fettle incident list -o fau" "Fault"
want "fettle incident list -o json,fau" "json,Fault"
want "fettle status -o y" "yaml"
want "fettle incident list --sort -si" "-Since"
want "fettle node drain --where Heal" "Health="
want "fettle power c" "cycle"
want "fettle power st" "status"
want "fettle repair move quar" "quarantine"
want "fettle status --color al" "always"
want "fettle -C /x status --js" "--json"
want "fettle node show lx01 --js" "--json"

if command -v zsh >/dev/null; then
    said=$(PATH_OF_TOOL=$tool zsh -f -c '
        fettle() { "$PATH_OF_TOOL" "$@" }
        _describe() { print -rl -- "${(@P)2}" }
        _files() { print files }
        compdef() { : }
        words=(fettle node u) CURRENT=3; source "$1"
        words=(fettle --key x) CURRENT=3; source "$1"' zsh "$scripts/_fettle")
    want="undrain:remove your own drain, or the claim that you name
up:remove your own down, or the claim that you name
files"
    [[ $said == "$want" ]] || { echo "zsh: $said"; failed=1; }
fi
if command -v fish >/dev/null; then
    said=$(fish --no-config -c 'function fettle; '"$tool"' $argv; end; source '"$scripts"'/fettle.fish; complete -C "fettle power cy"')
    [[ $said == "cycle"$'\t'"power off, and on again" ]] || { echo "fish: $said"; failed=1; }
fi
exit $failed
