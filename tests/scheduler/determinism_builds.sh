#!/bin/sh
# determinism_builds.sh: the hash of `weft stress determinism` must be the same for gcc and clang,
# without and with optimisation. Builds four times in a temporary folder: minutes, so it is not part
# of ctest. Usage: tests/scheduler/determinism_builds.sh [rounds] [jobs]
set -eu
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
rounds=${1:-4}
jobs=${2:-2}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for compiler in gcc clang; do
    command -v "$compiler" > /dev/null || { echo "$compiler: not installed, left out"; continue; }
    for level in -O0 -O3; do
        build="$folder/$compiler$level"
        cmake -S "$source_dir" -B "$build" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=None \
            -DCMAKE_C_FLAGS="$level" -DWEFT_BUILD_TESTS=OFF > "$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
        cmake --build "$build" -j "$jobs" > "$folder/log" 2>&1 || { tail -20 "$folder/log"; exit 1; }
        "$build/weft" stress determinism --seed 0x15 --rounds "$rounds" > "$folder/out"
        hash=$(sed -n 's/.*world hash \(0x[0-9a-f]*\).*/\1/p' "$folder/out")
        echo "$compiler $level $hash"
        echo "$hash" >> "$folder/hashes"
    done
done
[ "$(sort -u "$folder/hashes" | wc -l)" = 1 ] || { echo "the builds differ"; exit 1; }
