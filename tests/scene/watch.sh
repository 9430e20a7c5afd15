#!/bin/sh
# SPDX-License-Identifier: MIT
# watch.sh WEFT: `weft bake --watch` bakes again when a file changes, keeps what was good while a file is
# broken, finds a file that was missing, waits for the end of one that is being written, and ends with 0
# when it is told to.
set -eu
weft=$1
work=$(mktemp -d)
process=
trap '[ -z "$process" ] || kill -9 "$process" 2>/dev/null; rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $1" && cat "$work/log" "$work/said"
    exit 1
}
# waits for the line that says so; the limit of two minutes only ends what hangs.
await() {
    tries=0
    until grep -q -- "$1" "$work/log"; do
        tries=$((tries + 1))
        [ "$tries" -lt 1200 ] || fail "no line '$1'"
        sleep 0.1
    done
}
# what people's editors do: write beside, then rename.
write() {
    printf '%s' "$2" >"$work/new" && mv "$work/new" "$work/$1"
}
touch "$work/log" "$work/said"
write level.weft '{"weft": 1, "objects": {"a": {}, "b": {}}}'
"$weft" bake "$work/level.weft" -o "$work/level.world" --watch --json >"$work/log" 2>"$work/said" &
process=$!
await '"baked":2,.*"entities":2,.*"errors":0'
write level.weft '{"weft": 1, "objects": {"a": {}, "b": {"name": "B"}, "c": {}}}'
await '"added":1,"changed":1,.*"entities":3,.*"errors":0'
write level.weft '{"weft": 1, "objects": {"a": {'
await '"entities":3,.*"errors":1'
"$weft" dump "$work/level.world" | grep -q '"name": "B"' || fail 'the last good state is not in the world file'
write level.weft '{"weft": 1, "use": {"more": "more.weft"}, "objects": {"all": {"each": "more"}}}'
await 'more.weft: cannot be read'
write more.weft '{"weft": 1, "objects": {"x": {}, "y": {}, "z": {}, "u": {}, "v": {}}}'
await '"files":2,.*"added":5,.*"errors":0'
# a writer that pauses in the middle: half a document is not read
lines=$(wc -l <"$work/log")
{
    printf '%s' '{"weft": 1, "objects": {"a": {}, '
    sleep 1.5
    printf '%s' '"b": {}, "c": {}}}'
} >"$work/level.weft"
await '"baked":3,.*"entities":3,.*"errors":0'
[ "$(wc -l <"$work/log")" -eq $((lines + 1)) ] || fail 'half a document was read'
kill -INT "$process"
status=0
wait "$process" || status=$?
process=
[ "$status" -eq 0 ] || fail "status $status after an interrupt"
echo "watched"
