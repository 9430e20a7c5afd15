#!/bin/sh
# SPDX-License-Identifier: MIT
# single_file.sh PYTHON CC [CXX]: gcc and clang check weft.c as C11 and, with its own checks on, as C17
# (WEFT_DEEP: each with each), weft.h and weft.hpp as C++17, all without a warning; then a stranger's program is built with
# weft.c and the command of the docs. What it exports is what libweft exports: the public functions.
set -eu
python=$1 cc=$2 cxx=${3:-}
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$python" "$source/tools/amalgamate" "$work"
"$python" "$source/tools/amalgamate" "$work/again"
cmp weft.c again/weft.c && cmp weft.h again/weft.h

warnings="-Wall -Wextra -Wpedantic -Werror -fsyntax-only"
combinations="c11 c17:-DWEFT_CHECKED=1"
[ -z "${WEFT_DEEP:-}" ] || combinations="c11 c11:-DWEFT_CHECKED=1 c17 c17:-DWEFT_CHECKED=1"
for compiler in gcc clang; do
    command -v "$compiler" >/dev/null || continue
    for combination in $combinations; do
        # shellcheck disable=SC2046,SC2086 # lists
        "$compiler" -std=$(echo "$combination" | tr : ' ') $warnings weft.c ||
            { echo "FAILED: $compiler $combination"; exit 1; }
    done
done
printf '#include "weft.h"\n#include "weft.hpp"\n' >header.cpp
for compiler in "$cxx" g++ clang++; do
    command -v "$compiler" >/dev/null || continue
    # shellcheck disable=SC2086
    "$compiler" -std=c++17 $warnings header.cpp || { echo "FAILED: $compiler, weft.h as C++17"; exit 1; }
done

! "$cc" -ffast-math -fsyntax-only weft.c 2>fast || { echo "FAILED: -ffast-math is not refused"; exit 1; }
grep -q 'without -ffast-math' fast || { echo "FAILED: it is not said why -ffast-math is refused"; exit 1; }

sed 's|<weft/weft.h>|"weft.h"|' "$source/tests/consumer/consumer.c" >app.c
"$cc" -O0 -fPIC -c weft.c # as the docs say, but without the half minute of -O2
"$cc" app.c weft.o -lpthread -o app
[ "$(./app)" = WEFT_OK ] || { echo "FAILED: the program printed '$(./app)'"; exit 1; }
"$cc" -shared weft.o -o libone.so
other=$(nm -D --defined-only libone.so | awk '{ print $3 }' | grep -v '^weft_[^_]' || true)
[ -z "$other" ] || { echo "FAILED: weft.c exports $other"; exit 1; }
for name in weft_world_create weft_world_step weft_job_pool_create weft_blob_load; do
    nm -D --defined-only libone.so | grep -q " $name\$" || { echo "FAILED: weft.c does not export $name"; exit 1; }
done
echo "weft.c: $(wc -l <weft.c) lines, weft.h: $(wc -l <weft.h) lines"
