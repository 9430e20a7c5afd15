#!/bin/sh
# SPDX-License-Identifier: MIT
# vcpkg.sh: the port is installed and used; where vcpkg is not there, its portfile runs with the few commands
# of vcpkg that it uses written in CMake (vcpkg_stub.cmake). A minute: with WEFT_DEEP only.
set -eu
[ -n "${WEFT_DEEP:-}" ] || { echo "skipped: only with WEFT_DEEP"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
ports=$(cd "$here/../../tools/packaging/vcpkg/ports" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if command -v vcpkg >/dev/null; then
    vcpkg install weft --overlay-ports="$ports" --x-install-root="$work/installed"
    prefix=$(dirname "$(find "$work/installed" -path '*/lib' -type d | head -n 1)")
else
    echo "vcpkg is not there: a stand-in runs the portfile"
    prefix=$work/packages
    cmake -DPORT=weft -DPORTFILE="$ports/weft/portfile.cmake" -DWORK="$work" -P "$here/vcpkg_stub.cmake" >"$work/log" 2>&1 ||
        { tail -n 20 "$work/log"; exit 1; }
    python3 -c "import json, sys; json.load(open(sys.argv[1]))" "$ports/weft/vcpkg.json"
    [ -s "$prefix/share/weft/copyright" ] && [ -s "$prefix/share/weft/usage" ]
fi
cmake -G Ninja -S "$here/../consumer" -B "$work/app" -DHOW=package -DPROGRAM="$here/../consumer/consumer.c" \
    -DCMAKE_PREFIX_PATH="$prefix" -DWEFT_VERSION=0.1 -DCMAKE_CXX_COMPILER=c++ >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/app" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
[ "$("$work/app/consumer")" = WEFT_OK ]
echo "the port was installed and used"
