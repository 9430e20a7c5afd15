#!/bin/sh
# SPDX-License-Identifier: MIT
# debian.sh: the Debian source package is built, lintian has nothing to say, and a program is built with
# what the binary packages hold. WEFT_AUTOPKGTEST: how autopkgtest runs the package's own tests (`chroot FOLDER`,
# a folder of mmdebstrap). Minutes: with WEFT_DEEP only.
set -eu
[ -n "${WEFT_DEEP:-}" ] || { echo "skipped: only with WEFT_DEEP"; exit 77; }
for tool in dpkg-buildpackage lintian dh; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not there (debhelper dpkg-dev lintian)"; exit 77; }
done
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$here/../../tools/packaging/build-deb" "$work" >"$work/log" 2>&1 || { tail -n 30 "$work/log"; exit 1; }
lintian --allow-root --fail-on error,warning "$work"/*.changes
for deb in "$work"/*.deb; do dpkg-deb -x "$deb" "$work/tree"; done
libdir=$(dirname "$(dirname "$(find "$work/tree" -name weft.pc)")")
cc -std=c11 "$here/../consumer/consumer.c" -o "$work/app" -I"$work/tree/usr/include" -L"$libdir" -lweft "-Wl,-rpath,$libdir"
[ "$("$work/app")" = WEFT_OK ]
# The tests of the package, with the packages installed: in a machine made for it.
if [ -n "${WEFT_AUTOPKGTEST:-}" ]; then
    # shellcheck disable=SC2086 # a list
    env -u CMAKE_C_COMPILER_LAUNCHER -u CMAKE_CXX_COMPILER_LAUNCHER \
        autopkgtest --setup-commands="apt-get update" "$work"/*.deb "$work"/*.dsc -- $WEFT_AUTOPKGTEST
else
    echo "skipped: autopkgtest, WEFT_AUTOPKGTEST names no virtual server (chroot FOLDER, null on a machine to be thrown away)"
fi
echo "$(ls "$work" | grep -c '\.deb$') packages, lintian clean"
