#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every page formats without a warning and has a name line that apropos(1) understands.
# usage: man_test.sh PAGE...
set -eu
failed=0
for page in "$@"; do
    said=$(groff -ww -man -Tutf8 -z "$page" 2>&1)
    if [ -n "$said" ]; then
        echo "$said"
        failed=1
    fi
    if ! grep -A1 '^\.SH NAME' "$page" | grep -q ' \\- '; then
        echo "$page: no line of name and purpose"
        failed=1
    fi
done
exit $failed
