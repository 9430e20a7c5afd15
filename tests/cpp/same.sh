#!/bin/sh
# SPDX-License-Identifier: MIT
# same.sh SAME_C SAME_CPP: the systems of weft.hpp take at most 0.5 % more instructions than those written in
# C, whole steps counted, and do the same.
set -eu
command -v valgrind >/dev/null 2>&1 || { echo "FAILED: valgrind is not installed (apt-get install valgrind)"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count() { # PROGRAM NAME
    valgrind --tool=callgrind --collect-atstart=no --toggle-collect=same_body --callgrind-out-file=/dev/null \
        "$1" >"$work/$2" 2>"$work/err"
    sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$work/err"
}
c=$(count "$1" c)
cpp=$(count "$2" cpp)
echo "C $c, C++ $cpp instructions"
cmp "$work/c" "$work/cpp" || { echo "FAILED: the hashes differ"; exit 1; }
[ "$c" -gt 1000000 ] || { echo "FAILED: nothing was counted"; exit 1; }
[ $((cpp * 200)) -le $((c * 201)) ] || { echo "FAILED: more than 0.5 % more"; exit 1; }
