#!/bin/sh
# SPDX-License-Identifier: MIT
# shrink.sh ROOT FAULTY LIBWEFT CC: a seeded fault (fault.c) is found, shrunk to a few calls at the size where it
# begins, and printed as a C program that compiles without a warning, fails with the fault and passes without it. Then
# all calls of some seeds, which have most operations, compile and pass.
set -u
root=$1 faulty=$2 library=$3 cc=$4
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
fail() {
    echo "FAILED: $*"
    cat "$out/program.c" "$out/log" 2>/dev/null | tail -60
    exit 1
}
"$faulty" >"$out/program.c" 2>"$out/log" && fail "no seed found the fault"
calls=$(grep -c '{ /\* [0-9]*: ' "$out/program.c")
[ "$calls" -ge 1 ] && [ "$calls" -le 4 ] || fail "$calls calls, should be 1 to 4"
grep -q 'weft_entity_set_many(world, list, 65,' "$out/program.c" || fail "not shrunk to 65 entities"
headers=
for folder in jobs/base jobs ecs/blob ecs ecs/scene scheduler; do headers="$headers -I$root/$folder/include"; done
build() { # program, options: with or without the fault
    program=$1
    shift
    "$cc" -std=gnu17 -Wall -Wextra -Werror -Wno-unused -Wno-missing-field-initializers $headers "$out/program.c" "$@" "$library" -lm -lpthread -o "$out/$program" \
        >"$out/log" 2>&1 || fail "the program does not compile"
}
build wrong "$root/tests/everything/fault.c" -Wl,--wrap=weft_entity_set_many
build right
"$out/wrong" >"$out/log" && fail "the program passes with the fault"
grep -q '^line [0-9]*: ' "$out/log" || fail "the program does not say where"
"$out/right" >"$out/log" || fail "the program fails without the fault"
for seed in 1 2 3 4 5 6 7 8; do
    "$faulty" $seed >"$out/program.c" || fail "seed $seed is not printed"
    build whole
    "$out/whole" >"$out/log" || fail "the program of seed $seed fails"
done
echo "$calls calls, $seed programs of all calls"
