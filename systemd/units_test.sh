#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# systemd has nothing to say against the units, but for programs that are not installed yet; and a remedy outlives
# its agent, which waits for the end of the boot.
# usage: units_test.sh DIRECTORY
set -eu
work=$(mktemp -d /tmp/fettle-units-XXXXXX)
trap 'rm -rf "$work"' EXIT
failed=0
for unit in fettled.service fettle-agent.service; do
    sed 's|^ExecStart=[^ ]*|ExecStart=/bin/true|' "$1/$unit" >"$work/$unit"
    said=$(SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no "$work/$unit" 2>&1 | grep -F fettle || true)
    if [ -n "$said" ]; then
        echo "$said"
        failed=1
    fi
done
# What the rest of Fettle builds on, and no tool finds missing.
for line in 'After=.*multi-user.target' 'KillMode=process' 'Delegate=memory pids' 'ExecStopPost=.*-memory -pids' 'RuntimeDirectoryPreserve=yes'; do
    grep -q "^$line" "$1/fettle-agent.service" || { echo "fettle-agent.service: no $line"; failed=1; }
done
exit $failed
