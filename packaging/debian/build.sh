#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Builds the Debian packages from an archive that `make dist` made, with its tests, looks at them with lintian where it
# is there, and, as root, installs them, tries them, and removes them again.
# usage: build.sh ARCHIVE PACKAGING-FOLDER, in a folder that receives the packages
set -euo pipefail

archive=$1 packaging=$2
version=$(sed -n '1s/^libfpemu (\([^-]*\)-.*/\1/p' "$packaging/debian/changelog")
rm -rf "libfpemu-$version"
tar xf "$archive"
cp "$archive" "libfpemu_$version.orig.tar.xz"
cp -r "$packaging/debian" "libfpemu-$version/debian"
rm -f "libfpemu-$version/debian/build.sh"
(cd "libfpemu-$version" && dpkg-buildpackage -us -uc)
if command -v lintian >/dev/null; then
    lintian --fail-on error --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog ./*.changes
fi
[ "$(id -u)" -eq 0 ] || { echo "built; not installed, for that needs root"; exit 0; }

apt-get install -y --no-install-recommends ./libfpemu0_*.deb ./libfpemu-dev_*.deb ./fpemu_*.deb
[ "$(fpemu round e4m3fn 464)" = 448 ]
fptrain run --list >/dev/null
printf '#include <fpemu.h>\nint main(void) { return fpemu_version() == 0; }\n' >program.c
read -ra flags < <(pkg-config --cflags --libs fpemu)
cc -o program program.c "${flags[@]}" && ./program
dpkg --purge fpemu libfpemu-dev libfpemu0
echo "built, installed, tried and removed"
