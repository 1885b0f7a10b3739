#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fettle-agent reads the sample of fingerprint.conf as it stands, with the lines that are commented out,
# and the example of its page.
# usage: fingerprint_test.sh FETTLE_AGENT FINGERPRINT_CONF PAGE
set -eu
work=$(mktemp -d /tmp/fettle-fingerprint-XXXXXX)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/etc/fettle" "$work/state"

# Prints what is known of the components of the file on standard input.
survey() {
    cat >"$work/etc/fettle/fingerprint.conf"
    "$agent" fingerprint --components -D "$work/state" -r "$work"
}

expect() {
    case $said in
    *"$1"*) ;;
    *) echo "\"$said\" does not say \"$1\""; exit 1 ;;
    esac
}

agent=$1
said=$(survey <"$2")
case $said in
*'file./'* | *'command.'*) echo 'the sample names something as it stands'; exit 1 ;;
esac
said=$(sed 's/^#\([A-Z][A-Za-z]*=\)/\1/' "$2" | survey)
expect 'file./etc/slurm/gres.conf absent'
expect 'command.ofed '
said=$(awk '/^\.Sh/ { examples = /EXAMPLES/ } /^\.Ed/ { text = 0 } text { print } /^\.Bd/ { text = examples }' "$3" | survey)
expect 'command.image '
