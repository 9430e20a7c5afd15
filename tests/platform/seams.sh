#!/bin/sh
# SPDX-License-Identifier: MIT
# seams.sh CC FOLDERS HEADER... -- HEADER...: what a layer may include. With the include path of the
# layer (folders joined by ":"), the first headers compile alone, the others are not found.
set -u
cc=$1 folders=$2
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
flags=$(printf '%s' "$folders" | sed 's/^/-I/; s/:/ -I/g')
wanted=found count=0 failed=0
for header; do
    [ "$header" = -- ] && wanted=absent && continue
    count=$((count + 1))
    printf '#include "%s"\nextern int weft_unused;\n' "$header" >"$work/alone.c"
    # shellcheck disable=SC2086 # the flags are a list
    if "$cc" -std=gnu17 -D_GNU_SOURCE -fsyntax-only $flags "$work/alone.c" 2>"$work/log"; then
        got=found
    elif grep -q "$header.*\(No such file\|not found\)" "$work/log"; then
        got=absent
    else
        got=broken
    fi
    [ "$got" = "$wanted" ] && continue
    failed=$((failed + 1))
    echo "FAILED: $header is $got, wanted: $wanted" && cat "$work/log"
done
echo "$count includes, $failed failed"
[ "$wanted" = absent ] && [ "$count" -gt 1 ] && [ "$failed" -eq 0 ]
