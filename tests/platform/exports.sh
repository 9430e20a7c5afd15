#!/bin/sh
# SPDX-License-Identifier: MIT
# exports.sh ROOT LIBRARY BESIDE...: libweft.so exports names that begin with weft_ (one underscore), and the
# private functions that the libraries beside it call: those that headers mark with WEFT__DOOR, no more and no
# fewer. And a process has one engine: no library has a function or a variable that another one has.
set -u
root=$1 library=$2
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
say() { # SENTENCE FILE: a failure, when the file is not empty
    [ -s "$2" ] || return 0
    echo "FAILED: $1:"
    cat "$2"
    failed=1
}
nm -D --defined-only "$library" | awk '{print $NF}' | sed 's/@.*//' | sort -u >"$work/exported"
[ -s "$work/exported" ] || { echo "FAILED: $library exports nothing"; exit 1; }
grep -vE '^weft_' "$work/exported" >"$work/wrong"
say "exported but not named weft_ (make it static, or name it weft__ and keep it hidden)" "$work/wrong"

cat "$root"/jobs/base/src/*.h "$root"/ecs/engine/*.h "$root"/ecs/src/*/*.h "$root"/scheduler/engine/*.h | tr '\n' ' ' | grep -o 'WEFT__DOOR [^;]*' |
    grep -o 'weft__[a-z0-9_]*(' | tr -d '(' | sort -u >"$work/marked"
grep '^weft__' "$work/exported" >"$work/inner"
comm -13 "$work/marked" "$work/inner" >"$work/wrong"
say "exported, private, and without the mark WEFT__DOOR" "$work/wrong"
for other; do nm -D --undefined-only "$other"; done | awk '{print $NF}' | grep '^weft__' | sort -u >"$work/called"
if [ $# -eq 3 ]; then
    comm -23 "$work/marked" "$work/called" >"$work/wrong"
    say "marked WEFT__DOOR, and called by no library beside (take the mark away)" "$work/wrong"
fi

# Names that cross sources (of the archives), against what the others hold, hidden or not.
for one in "$library" "$@"; do
    archive=$(basename "$one")
    nm -g --defined-only "$(dirname "$one")/${archive%%.so*}.a" 2>/dev/null |
        awk '$2 ~ /[TDBR]/ {print $3}' | sort -u >"$work/own"
    [ -s "$work/own" ] || { echo "FAILED: no names in the archive of $one"; exit 1; }
    seen=
    for other in "$library" "$@"; do
        [ "$one" != "$other" ] || [ -n "$seen" ] || { seen=1; continue; }
        nm --defined-only "$other" | awk '{print $3}' | sort -u | comm -12 "$work/own" -
    done
done | sort -u >"$work/wrong"
say "in two libraries, so that a process has it twice" "$work/wrong"
[ "$failed" -eq 0 ] || exit 1
echo "$(wc -l <"$work/exported") symbols of libweft, $(wc -l <"$work/inner") of them for $# libraries beside it; none twice"
