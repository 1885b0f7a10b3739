#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mandoc has nothing to say against the pages.
# usage: man_test.sh PAGE...
set -eu
failed=0
for page in "$@"; do
    said=$(mandoc -Tlint -W warning "$page" 2>&1 || true)
    if [ -n "$said" ]; then
        echo "$said"
        failed=1
    fi
done
exit $failed
