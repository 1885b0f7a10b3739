#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The agent of the tarball runs where there is nothing else: no library, no /dev, no name service.
# usage: agent_tarball_test.sh SOURCE BUILD_DIRECTORY
set -eu
[ "$(id -u)" -eq 0 ] || { echo "chroot needs root"; exit 77; }
work=$(mktemp -d /tmp/fettle-tarball-XXXXXX)
trap 'rm -rf "$work"' EXIT
tarball=$(nice -n 5 "$1/tools/agent-tarball" "$2") || { echo "$tarball"; exit 1; } # other tests are waiting for processors
tar -C "$work" -xzf "$(echo "$tarball" | tail -n 1)"
failed=0
complain() {
    echo "$@"
    failed=1
}
agent() {
    status=0
    said=$(unshare --mount --pid --fork --propagation private sh -c '
        root=$1; shift
        [ ! -d "$root/proc" ] || mount -t proc proc "$root/proc"
        exec chroot "$root" /usr/sbin/fettle-agent "$@"' - "$work" "$@" 2>&1) || status=$?
}
agent --version
case $said in "fettle-agent "[0-9]*) ;; *) complain "--version: $said" ;; esac
# Nothing is there, so nothing can be wrong; without /proc some is unknown.
agent check --local
[ $status -eq 3 ] || complain "check --local without /proc: $status: $said"
mkdir "$work/proc"
agent check --local
[ $status -eq 0 ] || complain "check --local: $status: $said"
for line in 'slurmd  *unsupported' 'ntp  *\(unsupported\|ok\)' 'fs-capacity  *\(ok\|warn\)' 'zombie  *ok' 'These are the checks by default'; do
    echo "$said" | grep -q "^$line" || complain "check --local has no \"$line\": $said"
done
# Names are found in files and by DNS, whatever the system asks first: a library of the system's would end the program.
token=fettle1.$(printf '%064d' 0).$(printf '%032d' 0)
mkdir "$work/etc" "$work/lib"
echo '__attribute__((constructor)) static void loaded(void) { __builtin_trap(); }' >"$work/trap.c"
cc -shared -nostdlib -fPIC -o "$work/lib/libnss_trap.so.2" "$work/trap.c"
echo 'hosts: trap files dns' >"$work/etc/nsswitch.conf"
echo '127.0.0.1 head.example' >"$work/etc/hosts"
agent join "$token" head.example:1 --name n1 -D /state
echo "$said" | grep -q 'refused' || complain "a name in /etc/hosts: $status: $said"
agent join "$token" nowhere.invalid:1 --name n1 -D /state
echo "$said" | grep -q 'nowhere.invalid' && [ $status -gt 0 ] && [ $status -lt 128 ] || complain "a name that is not found: $status: $said"
# An image gets its token from the program in it.
agent join --at-boot "$token" head.example
[ "$(cat "$work/etc/fettle/join")" = "$token head.example:6120" ] || complain "join --at-boot: $status: $said"
for unit in fettle-agent fettle-agent-join; do
    grep -q '^ExecStart=/usr/sbin/fettle-agent' "$work/usr/lib/systemd/system/$unit.service" || complain "no $unit.service"
done
exit $failed
