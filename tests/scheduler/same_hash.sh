#!/bin/sh
# SPDX-License-Identifier: MIT
# same_hash.sh WEFT HASH with|without: `weft stress determinism` prints this hash. A build without event
# counters says that it has none.
set -u
weft=$1 expected=$2 counters=$3
out=$("$weft" stress determinism --seed 0x15 --rounds 1 --workers 3) || { echo "$out"; exit 1; }
hash=$(printf '%s\n' "$out" | sed -n 's/.*world hash \(0x[0-9a-f]*\).*/\1/p')
[ "$hash" = "$expected" ] || { echo "FAILED: hash '$hash', expected $expected (tests/scheduler/CMakeLists.txt)"; exit 1; }
[ "$counters" = with ] && exit 0
WEFT_COUNTERS=1 "$weft" stress systems --rounds 1 2>&1 | grep -q '^counters: this library is built without them' ||
    { echo "FAILED: it does not say that it has no counters"; exit 1; }
