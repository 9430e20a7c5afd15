#!/bin/sh
# SPDX-License-Identifier: MIT
# counted.sh COUNTED [--update]: instructions and allocations of every piece of counted.c against
# baseline.txt: more than TOLERANCE per mille more instructions, or one more allocation, fails. A piece
# that became cheaper is reported, so that the baseline can be tightened: counted.sh COUNTED --update.
set -u
counted=$1
here=$(cd "$(dirname "$0")" && pwd)
baseline=$here/baseline.txt
tolerance=30
command -v valgrind >/dev/null 2>&1 || { echo "FAILED: valgrind is not installed (apt-get install valgrind)"; exit 1; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
count=0 failed=0
for piece in $("$counted"); do
    valgrind --tool=callgrind --collect-atstart=no --toggle-collect=counted_body \
        --callgrind-out-file=/dev/null "$counted" "$piece" >"$work/out" 2>"$work/err" || {
        failed=$((failed + 1))
        echo "FAILED: $piece does not run:" && tail -n 3 "$work/err"
        continue
    }
    instructions=$(sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' "$work/err")
    allocations=$(sed -n 's/^allocations //p' "$work/out")
    echo "$piece ${instructions:-0} ${allocations:-none}" >>"$work/now"
    count=$((count + 1))
    known=$(grep "^$piece " "$baseline" 2>/dev/null)
    [ -n "$known" ] || known="$piece 0 0"
    base_instructions=$(echo "$known" | cut -d' ' -f2)
    base_allocations=$(echo "$known" | cut -d' ' -f3)
    limit=$((base_instructions + base_instructions * tolerance / 1000))
    printf '%-22s %10s instructions (baseline %s), %s allocations (baseline %s)\n' "$piece" \
        "$instructions" "$base_instructions" "$allocations" "$base_allocations"
    if [ "${2:-}" = --update ]; then continue; fi
    if [ "$instructions" -gt "$limit" ] || [ "$allocations" -gt "$base_allocations" ]; then
        failed=$((failed + 1))
        echo "FAILED: $piece takes more: find out why, or run tests/counted/counted.sh $counted --update"
    elif [ "$instructions" -lt $((base_instructions - base_instructions * tolerance / 1000)) ]; then
        echo "  cheaper than the baseline: tighten it with --update"
    fi
done
if [ "${2:-}" = --update ]; then
    { sed -n '/^#/p' "$baseline" 2>/dev/null; cat "$work/now"; } >"$work/new" && cp "$work/new" "$baseline"
fi
echo "$count pieces, $failed failed"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ]
