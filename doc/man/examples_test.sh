#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The configuration files in the examples of the pages are files that fettled takes, together.
# usage: examples_test.sh FETTLED PAGE...    each page named as its file: fettle.conf.5
set -eu
fettled=$1
shift
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for page in "$@"; do
    file=$(basename "$page" .5)
    awk '/^\.Sh/ { examples = /EXAMPLES/ } /^\.Ed/ { text = 0 } text { print } /^\.Bd/ { text = examples }' "$page" |
        sed "s,/etc/fettle/,$dir/," >"$dir/$file"
    [ -s "$dir/$file" ] || { echo "$page has no example"; exit 1; }
done
"$fettled" -n -f "$dir/fettle.conf"
