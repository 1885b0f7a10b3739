#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# systemd has nothing to say against the units, but for programs that are not installed yet; and a remedy outlives
# its agent, which waits for the end of the boot.
# usage: units_test.sh DIRECTORY
set -eu
work=$(mktemp -d /tmp/fettle-units-XXXXXX)
trap 'rm -rf "$work"' EXIT
failed=0
for unit in fettled.service fettle-agent.service fettle-agent-join.service fettle-exec.service fettle-exec.socket; do
    sed 's|^ExecStart=[^ ]*|ExecStart=/bin/true|' "$1/$unit" >"$work/$unit"
done
for unit in fettled.service fettle-agent.service fettle-agent-join.service fettle-exec.service fettle-exec.socket; do
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
has() {
    file=$1
    shift
    for line; do
        grep -q "^$line\$" "$file" || { echo "${file##*/}: no $line"; failed=1; }
    done
}
# fettled is a user of its own that can become nobody else, and fettle-exec hears nobody but that user.
has "$1/fettled.service" 'User=fettle' 'Environment=FETTLE_EXEC=/run/fettle-exec/socket' 'NoNewPrivileges=yes' \
    'CapabilityBoundingSet=CAP_NET_BIND_SERVICE' 'StateDirectory=fettle fettle-begun fettle-backup' 'RuntimeDirectory=fettled'
has "$1/fettle-exec.socket" 'ListenSequentialPacket=/run/fettle-exec/socket' 'SocketUser=fettle' 'SocketMode=0600'
has "$1/fettle-exec.service" 'StandardInput=socket' 'CapabilityBoundingSet=' 'NoNewPrivileges=yes' 'ProtectSystem=strict'
# An image joins by itself, once a boot, and again until it succeeds; then the agent starts.
has "$1/fettle-agent-join.service" 'ConditionPathExists=/etc/fettle/join' 'ConditionPathExists=!/var/lib/fettle-agent/node.pem' \
    'Restart=on-failure' 'ExecStart=.*/fettle-agent join' 'ExecStartPost=-/bin/systemctl --no-block start fettle-agent.service' \
    'WantedBy=multi-user.target'
# The user, and the name of the local socket.
mkdir -p "$work/root/etc"
systemd-sysusers --root="$work/root" - <"$1/fettled.sysusers" 2>"$work/said" || { cat "$work/said"; failed=1; }
has "$work/root/etc/passwd" 'fettle:x:[0-9]*:[0-9]*:Fettle controller:/var/lib/fettle:/usr/sbin/nologin'
has "$1/fettled.tmpfiles" 'L+ /run/fettle/fettled.sock - - - - /run/fettled/fettled.sock'
exit $failed
