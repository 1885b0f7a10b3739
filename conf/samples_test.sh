#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fettled reads the samples as they stand, and with the lines that are commented out.
# usage: samples_test.sh FETTLED FETTLE_CONF NODES_CONF CLASSES_CONF
set -eu
work=$(mktemp -d /tmp/fettle-samples-XXXXXX)
trap 'rm -rf "$work"' EXIT

# The second argument takes away the comment sign of lines like "#Name = value" and "#Name=value ...".
prepare() {
    sed "$2;s|/etc/fettle|$work|" "$1" >"$work/$(basename "$1")"
}

expect() {
    said=$("$fettled" -n -f "$work/fettle.conf" 2>&1) || { echo "$said"; exit 1; }
    case $said in
    *"$1"*) ;;
    *) echo "\"$said\" does not say \"$1\""; exit 1 ;;
    esac
}

fettled=$1
prepare "$2" ''
prepare "$3" ''
prepare "$4" ''
expect ' 0 nodes'

prepare "$2" 's/^#\([A-Z][A-Za-z]* *=\)/\1/'
prepare "$3" 's/^#\([A-Z][A-Za-z]*=\)/\1/'
prepare "$4" 's/^#\([A-Z][A-Za-z]*=\)/\1/'
echo 'Partition=1 Name=large' >"$work/partitions.conf"
expect ' 112 nodes'
expect ' 3 classes'
