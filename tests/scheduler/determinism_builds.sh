#!/bin/sh
# SPDX-License-Identifier: MIT
# determinism_builds.sh: the hash of `weft stress determinism` must be the same for gcc and clang,
# without and with optimisation, and without the optional parts. Builds in a temporary folder, the program only.
# Takes minutes: with WEFT_DEEP in the environment only (the builds of ./check compare in same_hash.sh).
# Usage: determinism_builds.sh [rounds] [jobs]        gcc and clang, each at -O0 and -O3
set -eu
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
rounds=${1:-4}
jobs=${2:-2}
[ -n "${WEFT_DEEP:-}" ] || { echo "skipped: WEFT_DEEP is not set"; exit 77; }
builds="gcc:-O0 gcc:-O3 clang:-O0 clang:-O3"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# hash_of NAME PROGRAM: runs it, notes its hash.
hash_of() {
    "$2" stress determinism --seed 0x15 --rounds "$rounds" > "$folder/out" || { cat "$folder/out"; exit 1; }
    hash=$(sed -n 's/.*world hash \(0x[0-9a-f]*\).*/\1/p' "$folder/out")
    [ -n "$hash" ] || { echo "$1: no hash in the output"; cat "$folder/out"; exit 1; }
    echo "$1 $hash"
    echo "$hash" >> "$folder/hashes"
}

# build COMPILER LEVEL: without event counters; leaves the program in $folder/COMPILERLEVEL/weft.
build() {
    cmake -G Ninja -S "$source_dir" -B "$folder/$1$2" -DCMAKE_C_COMPILER="$1" \
        -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$2" -DWEFT_BUILD_TESTS=OFF -DWEFT_COUNTERS=OFF > "$folder/log" 2>&1 &&
        cmake --build "$folder/$1$2" -j "$jobs" --target weft_cli >> "$folder/log" 2>&1 ||
        { tail -20 "$folder/log"; exit 1; }
}

for each in $builds; do
    compiler=${each%%:*} level=${each#*:}
    command -v "$compiler" > /dev/null || { echo "$compiler: not installed, left out"; continue; }
    build "$compiler" "$level"
    hash_of "$compiler $level" "$folder/$compiler$level/weft"
    WEFT_COUNTERS=1 "$folder/$compiler$level/weft" stress determinism --rounds 1 2>&1 |
        grep -q '^counters: this library is built without them' ||
        { echo "$compiler $level: it does not say that it has no counters"; exit 1; }
done
[ "$(wc -l < "$folder/hashes")" -gt 1 ] || { echo "only one build: nothing to compare"; exit 1; }
[ "$(sort -u "$folder/hashes" | wc -l)" = 1 ] || { echo "the builds differ"; exit 1; }
