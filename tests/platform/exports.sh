#!/bin/sh
# SPDX-License-Identifier: MIT
# exports.sh LIBRARY: libweft.so exports names that begin with weft_ (one underscore) and nothing else.
set -u
symbols=$(nm -D --defined-only "$1" | awk '{print $NF}' | sed 's/@.*//') || exit 1
[ -n "$symbols" ] || { echo "FAILED: $1 exports nothing"; exit 1; }
wrong=$(printf '%s\n' "$symbols" | grep -vE '^weft_[^_]')
if [ -n "$wrong" ]; then
    echo "FAILED: exported but not public (make it static, or name it weft__ and keep it hidden):"
    printf '%s\n' "$wrong"
    exit 1
fi
echo "$(printf '%s\n' "$symbols" | wc -l) symbols, all weft_"
