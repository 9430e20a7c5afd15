#!/bin/sh
# SPDX-License-Identifier: MIT
# endurance.sh WEFT [WORKERS...]: two epochs of `weft stress endurance` pass, and print one world hash for all these
# worker counts; with --json each figure is one object; runs too short to judge are refused.
set -u
weft=$1 failed=0 hashes=
shift
fail() {
    failed=$((failed + 1))
    echo "FAILED: $*"
}
for workers; do
    text=$("$weft" stress endurance --seed 1 --epochs 2 --workers "$workers" --json) || fail "$workers workers: $text"
    figures=$(printf '%s\n' "$text" | grep -c '^{"figure":.*"within":true}$')
    [ "$figures" -ge 25 ] || fail "$workers workers: $figures figures: $text"
    hashes="$hashes $(printf '%s\n' "$text" | sed -n 's/.*"hash":\("[^"]*"\).*/\1/p')"
done
[ "$(printf '%s\n' $hashes | sort -u | wc -l)" -eq 1 ] || fail "hashes for workers $*:$hashes"
for words in "--seconds 59" "--epochs 0" "--epochs 2 --hours 1" "jobs"; do
    "$weft" stress endurance $words 2>/dev/null
    status=$?
    [ "$status" -eq 2 ] || fail "stress endurance $words: status $status"
done
echo "worker counts $*:$hashes, $failed failed"
[ "$failed" -eq 0 ]
