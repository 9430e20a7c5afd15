#!/bin/sh
# SPDX-License-Identifier: MIT
# all_tests.sh: every test of libweft against weft.c, built by gcc and by clang. Ten minutes: only with
# WEFT_DEEP in the environment.
set -eu
[ -n "${WEFT_DEEP:-}" ] || { echo "skipped: only with WEFT_DEEP"; exit 77; }
unset WEFT_DEEP # every test, none of the campaigns
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for cc in gcc clang; do
    command -v $cc >/dev/null || { echo "$cc is not there: skipped"; continue; }
    cmake -S "$source" -B "$work/$cc" -G Ninja -DCMAKE_C_COMPILER=$cc -DCMAKE_BUILD_TYPE=Release \
        -DWEFT_AMALGAMATED=ON -DWEFT_TEST_ONCE=OFF >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    cmake --build "$work/$cc" >"$work/log" 2>&1 || { grep -E -m 20 'error|FAILED' "$work/log"; exit 1; }
    (cd "$work/$cc" && ctest -j2 --output-on-failure --no-tests=error -L 'unit|plain') >"$work/log" 2>&1 ||
        { sed -n '/The following tests FAILED/,$p' "$work/log"; exit 1; }
    echo "$cc: $(grep 'tests passed' "$work/log")"
done
