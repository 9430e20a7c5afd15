#!/bin/sh
# SPDX-License-Identifier: MIT
# kernel.sh: WEFT_KERNEL makes a version for AVX2 that is wider, takes fewer instructions, has no fused
# multiply-add, and gives the same bits as the plain one, with gcc and clang.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
include=$here/../../jobs/base/include
[ "$(uname -m)" = x86_64 ] || { echo "skipped: not x86-64"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags="-O3 -fno-math-errno -Wall -Wextra -Wpedantic -Werror -I$include"
instructions() { # PROGRAM
    valgrind --tool=callgrind --collect-atstart=no --toggle-collect=kernel_body --callgrind-out-file=/dev/null \
        "$1" 2>&1 >/dev/null | sed -n 's/.*Collected : *\([0-9]*\).*/\1/p'
}
wanted=
for cc in gcc clang; do
    command -v $cc >/dev/null || continue
    # shellcheck disable=SC2086 # a list
    $cc $flags "$here/kernel_check.c" -o "$work/wide" -lm
    # shellcheck disable=SC2086
    $cc $flags -DWEFT_KERNEL_PLAIN "$here/kernel_check.c" -o "$work/plain" -lm
    objdump -d "$work/wide" >"$work/code"
    [ "$(nm "$work/wide" | grep -c ' i ')" -eq 4 ] || { echo "FAILED: $cc: not four indirect functions"; exit 1; }
    grep -q ymm "$work/code" || { echo "FAILED: $cc: no version for AVX2"; exit 1; }
    ! grep -q vfmadd "$work/code" || { echo "FAILED: $cc: a fused multiply-add"; exit 1; }
    ! objdump -d "$work/plain" | grep -q ymm || { echo "FAILED: $cc: the plain build has AVX2"; exit 1; }
    for program in wide plain; do
        got=$("$work/$program")
        : "${wanted:=$got}"
        [ "$got" = "$wanted" ] || { echo "FAILED: $cc, $program: '$got' instead of '$wanted'"; exit 1; }
    done
    if grep -q avx2 /proc/cpuinfo && command -v valgrind >/dev/null; then
        wide=$(instructions "$work/wide") plain=$(instructions "$work/plain")
        echo "$cc: $wide instructions instead of $plain"
        [ $((wide * 3)) -le $((plain * 2)) ] || { echo "FAILED: $cc: not a third fewer instructions"; exit 1; }
    fi
done
echo "the same bits: $wanted"
