#!/bin/sh
# readme.sh BUILD_DIR CC: installs weft, extracts the program of README.md, compiles it as C11 with
# warnings as errors, runs it, and compares what it prints.
set -eu
build=$1 cc=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
pc=$(dirname "$(find "$work/prefix" -name weft.pc)")
sed -n '/^```c$/,/^```$/p' "$source/README.md" | grep -v '^```' >"$work/readme.c"
[ "$(grep -c . "$work/readme.c")" -gt 20 ] || { echo "FAILED: README.md holds no C program"; exit 1; }
# shellcheck disable=SC2046 # flags are a list
"$cc" -std=c11 -O2 -Wall -Wextra -Werror "$work/readme.c" -o "$work/readme" \
    $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs weft) "-Wl,-rpath,${pc%/pkgconfig}"
got=$("$work/readme")
[ "$got" = "1000000 entities moved" ] || { echo "FAILED: the program of README.md printed '$got'"; exit 1; }
echo "$got"
