#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fettled reads the samples as they stand, and with the lines that are commented out.
# usage: samples_test.sh FETTLED FETTLE_CONF OTHER_CONF...
set -eu
work=$(mktemp -d /tmp/fettle-samples-XXXXXX)
trap 'rm -rf "$work"' EXIT

# The first argument takes away the comment sign of lines like "#Name = value" and "#Name=value ...".
prepare() {
    edit=$1
    shift
    for file in "$@"; do
        sed "$edit;s|/etc/fettle|$work|" "$file" >"$work/$(basename "$file")"
    done
}

expect() {
    said=$("$fettled" -n -f "$work/fettle.conf" 2>&1) || { echo "$said"; exit 1; }
    case $said in
    *"$1"*) ;;
    *) echo "\"$said\" does not say \"$1\""; exit 1 ;;
    esac
}

fettled=$1
shift
prepare '' "$@"
expect ' 0 nodes'

prepare 's/^#\([A-Z][A-Za-z]* *=\)/\1/' "$@"
echo 'Partition=1 Name=large' >"$work/partitions.conf"
expect ' 112 nodes'
expect ' 3 classes'
