#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The spec names every file that is installed, and each in one package: rpmbuild packs what was built already.
# usage: spec_test.sh SPEC BUILD_DIRECTORY
set -eu
command -v rpmbuild >/dev/null || { echo "there is no rpmbuild"; exit 77; }
spec=$1
build=$2
source=$(dirname "$spec")/../..
work=$(mktemp -d /tmp/fettle-rpm-XXXXXX)
trap 'rm -rf "$work"' EXIT
option() {
    meson introspect --buildoptions "$build" | python3 -c '
import json, sys
print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == sys.argv[1]))' "$1"
}
prefix=$(option prefix)
rpmspec --parse "$spec" >/dev/null
DESTDIR=$work/root meson install -C "$build" --no-rebuild >"$work/install.log" 2>&1 || { cat "$work/install.log"; exit 1; }
mkdir -p "$work/root/etc/fettle"
cp "$source/conf/fettle.conf" "$source/conf/nodes.conf" "$work/root/etc/fettle"
mv "$work/root$prefix/share/zsh/vendor-completions" "$work/root$prefix/share/zsh/site-functions"
# rpmbuild copies it when it unpacks the source, which it does not here.
for package in fettle fettled fettle-agent libfettle python3-fettle; do
    install -D -m 0644 -t "$work/root$prefix/share/licenses/$package-0.1.0" "$source/LICENSE"
done
python=$(dirname "$(find "$work/root" -name fettle.py)")
find "$work/root" -type f -perm -u+x -exec strip {} + 2>/dev/null || true # scripts are none
# As it was configured, and without what follows of a build on this machine.
rpmbuild -bb --short-circuit --nodeps --quiet --noclean --buildroot "$work/root" --define "_topdir $work" --define "_prefix $prefix" \
    --define "_libdir $prefix/$(option libdir)" --define "_datadir $prefix/share" --define "_mandir $prefix/share/man" --define "_sysconfdir /etc" \
    --define "python3_sitelib ${python#"$work/root"}" \
    --define '__os_install_post %{nil}' --define '_binary_payload w1.gzdio' --define 'debug_package %{nil}' \
    --define "_defaultlicensedir $prefix/share/licenses" --define '_build_id_links none' --define '__find_provides %{nil}' --define '__find_requires %{nil}' \
    "$spec" >"$work/log" 2>&1 || { tail -n 60 "$work/log"; exit 1; }
failed=0
for package in fettle fettled fettle-agent libfettle libfettle-devel python3-fettle; do
    set -- "$work"/RPMS/*/"$package"-0.1.0-1.*.rpm
    [ -s "$1" ] || { echo "there is no package $package"; failed=1; continue; }
    rpm -qlp "$1" 2>/dev/null | sed "s,^,$package ,"
done >"$work/files"
has() {
    grep -qx "$1 $prefix/$2" "$work/files" || { echo "$1 has no $2"; failed=1; }
}
has fettle bin/fettle
has fettled sbin/fettle-exec
has fettle-agent sbin/fettle-agent
has fettle-agent lib/systemd/system/fettle-agent-join.service
has fettle-agent share/man/man7/fettle-stateless.7
has libfettle-devel include/fettle.h
twice=$(sed 's/^[^ ]* //' "$work/files" | grep -v LICENSE | sort | uniq -d)
[ -z "$twice" ] || { echo "in two packages: $twice"; failed=1; }
exit $failed
