#!/bin/sh
# SPDX-License-Identifier: MIT
# cpack.sh BUILD_DIR CC: the archive and the .deb that cpack makes of a build hold libraries, headers, files
# for pkg-config and CMake, and the command; a program is built with what is in each.
set -eu
build=$1 cc=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
generators=TGZ
command -v dpkg-deb >/dev/null && generators="TGZ;DEB"
cpack --config "$build/CPackConfig.cmake" -G "$generators" -B "$work" >"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
consume() { # ROOT: a tree that has what was packed
    pc=$(find "$1" -name weft.pc)
    [ -n "$pc" ] || { echo "FAILED: no weft.pc in $1"; exit 1; }
    libdir=$(dirname "$(dirname "$pc")")
    # shellcheck disable=SC2046 # flags are lists
    PKG_CONFIG_PATH=$(dirname "$pc") "$cc" -std=c11 "$here/../consumer/consumer.c" -o "$work/app" \
        $(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs weft) "-Wl,-rpath,$libdir"
    [ "$("$work/app")" = WEFT_OK ] || { echo "FAILED: the program with $1"; exit 1; }
    "$(find "$1" -path '*bin/weft' -type f)" --version
    for wanted in 'weft.hpp' 'weftConfig.cmake' 'libweft-scene.so' 'weft-scene.pc'; do
        [ -n "$(find "$1" -name "$wanted")" ] || { echo "FAILED: $wanted is not in $1"; exit 1; }
    done
}
mkdir "$work/archive"
tar -xzf "$work"/weft-*.tar.gz -C "$work/archive"
consume "$work/archive"
[ "$generators" = TGZ ] && exit 0
dpkg-deb -x "$work"/weft_*.deb "$work/deb"
consume "$work/deb"
dpkg-deb -f "$work"/weft_*.deb Package Version Depends
dpkg-deb -f "$work"/weft_*.deb Depends | grep -q libc6 || { echo "FAILED: the .deb does not depend on libc6"; exit 1; }
