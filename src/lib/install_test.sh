#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The library as a program outside sees it: it exports fettle_* and nothing else, and with its header
# and its pkg-config file alone a C program compiles, links and runs.
# usage: install_test.sh LIBRARY HEADER PKG_CONFIG_FILE COMPILER...
set -eu
library=$1 header=$2 pc=$3
shift 3
dir=$(mktemp -d /tmp/fettle-install-XXXXXX)
trap 'rm -rf "$dir"' EXIT

others=$(nm -D --defined-only "$library" | awk '{print $3}' | grep -v -E '^(fettle_[a-z_]+(@@FETTLE_1)?|FETTLE_1)$' || true)
if [ -n "$others" ]; then
    echo "exported beside fettle_*: $others"
    exit 1
fi
declared=$(grep -o 'fettle_[a-z_]*(' "$header" | tr -d '(' | sort -u)
for name in $declared; do
    if ! nm -D --defined-only "$library" | grep -q " $name\(@@FETTLE_1\)\?$"; then
        echo "declared, but not exported: $name"
        exit 1
    fi
done
if ! objdump -p "$library" | grep -q 'SONAME *libfettle.so.1$'; then
    echo "wrong soname"
    exit 1
fi

mkdir "$dir/include" "$dir/lib"
cp "$header" "$dir/include"
cp "$library" "$dir/lib/libfettle.so.1"
ln -s libfettle.so.1 "$dir/lib/libfettle.so"
sed -e "s|^prefix=.*|prefix=$dir|" -e 's|^includedir=.*|includedir=${prefix}/include|' \
    -e 's|^libdir=.*|libdir=${prefix}/lib|' "$pc" >"$dir/libfettle.pc"
cat >"$dir/program.c" <<'END'
#include <fettle.h>
#include <stdio.h>

int main(void)
{
    struct fettle *f = NULL;
    struct fettle_answer *a = NULL;
    struct fettle_error e = {0};
    struct fettle_options o = {.controller = "/nonexistent/socket"};
    int r = fettle_open(&o, &f, &e);
    if (r == 0)
        r = fettle_status(f, &a, &e);
    fettle_close(f);
    puts(e.message);
    return r < 0 ? 0 : 1;
}
END
export PKG_CONFIG_PATH="$dir"
for std in c99 c17; do
    # shellcheck disable=SC2046
    "$@" -std=$std -pedantic -Wall -Wextra -Werror $(pkg-config --cflags libfettle) "$dir/program.c" \
        -o "$dir/program" $(pkg-config --libs libfettle)
    said=$(LD_LIBRARY_PATH="$dir/lib" "$dir/program")
    if [ "$said" != "no controller at /nonexistent/socket: No such file or directory" ]; then
        echo "the program said: $said"
        exit 1
    fi
done
