#!/bin/sh
# SPDX-License-Identifier: MIT
# random_campaign.sh LIBWEFT.A [SECONDS [COMPILER WAY]]: random.cpp built by g++ and clang++, each with and without exceptions, under
# AddressSanitizer; each plays its fixed seeds, or new ones for SECONDS (hours, if wanted):
#   tests/cpp/random_campaign.sh build/release/libweft.a 3600
# With COMPILER and WAY (-fexceptions, -fno-exceptions) that one only.
set -eu
library=$1 seconds=${2:-0}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 played=0
for compiler in ${3:-g++ clang++}; do
    command -v $compiler >/dev/null 2>&1 || { echo "$compiler: not there"; continue; }
    for ways in ${4:--fexceptions -fno-exceptions}; do
        $compiler -std=c++17 -O1 -g -Wall -Wextra -Wpedantic -Wshadow -Werror -fsanitize=address $ways "$here/random.cpp" \
            -I"$root/scheduler/include" -I"$root/ecs/include" -I"$root/ecs/blob/include" -I"$root/jobs/include" \
            -I"$root/jobs/base/include" "$library" -lm -pthread -o "$work/random"
        set --
        [ "$seconds" -eq 0 ] || set -- seconds "$seconds"
        echo "$compiler $ways:"
        "$work/random" "$@" || failed=1
        played=$((played + 1))
    done
done
[ $played -gt 0 ] || { echo "FAILED: no compiler of C++"; failed=1; }
exit $failed
