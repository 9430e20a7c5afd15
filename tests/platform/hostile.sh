#!/bin/sh
# SPDX-License-Identifier: MIT
# hostile.sh WEFT: the result of `weft stress determinism` does not depend on the surroundings: limits of
# stack, files and address space, locale, time zone, umask, an empty environment, a folder that is gone.
set -u
weft=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
hash_of() { # command...: the world hash it prints
    "$@" stress determinism --seed 0x15 --rounds 1 2>&1 | sed -n 's/.*world hash \(0x[0-9a-f]*\).*errors 0.*/\1/p'
}
expected=$(hash_of "$weft")
[ -n "$expected" ] || { echo "no hash"; exit 1; }
same() { # what, hash
    [ "$2" = "$expected" ] && return
    failed=$((failed + 1))
    echo "FAILED: $1: hash '$2', expected $expected"
}
same "a stack of 256 KiB" "$(ulimit -s 256 && hash_of "$weft")"
same "sixteen open files" "$(ulimit -n 16 && hash_of "$weft")"
same "an empty environment" "$(hash_of env -i "$weft")"
same "a Turkish locale, another time zone" "$(LC_ALL=tr_TR.UTF-8 TZ=Asia/Kathmandu hash_of "$weft")"
same "umask 777" "$(umask 777 && hash_of "$weft")"
mkdir "$folder/gone"
same "a folder that is gone" "$(cd "$folder/gone" && rmdir "$folder/gone" && hash_of "$weft")"
# Too little memory, or none for the threads, is an error with a message, not a crash.
for kib in 60000 100000 200000 400000; do
    (ulimit -v $kib && exec "$weft" stress determinism --seed 1 --rounds 1) > "$folder/out" 2>&1
    status=$?
    [ "$status" -lt 126 ] || { failed=$((failed + 1)); echo "FAILED: $kib KiB: status $status"; }
done
echo "$failed failed"
[ "$failed" -eq 0 ]
