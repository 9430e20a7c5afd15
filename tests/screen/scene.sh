#!/bin/sh
# SPDX-License-Identifier: MIT
# scene.sh WEFT CATALOGUE: `weft screen --scene` of a baked catalogue writes the same file as the
# catalogue, baked alone or by a document, by one worker or three; wrong uses are told.
set -eu
weft=$1 catalogue=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$catalogue" "$work/sky.tle"
printf '{"weft": 1, "use": {"sky": "sky.tle"}, "objects": {"sky": {"each": "sky", "baker": "satellite"}}}' >"$work/all.weft"
"$weft" screen "$work/sky.tle" --hours 2 --out "$work/text" >/dev/null
"$weft" bake "$work/sky.tle" -o "$work/one.world" --workers 1 >/dev/null
"$weft" bake "$work/sky.tle" -o "$work/three.world" --workers 3 >/dev/null
cmp "$work/one.world" "$work/three.world"
"$weft" bake "$work/all.weft" -o "$work/all.world" >/dev/null
for scene in one all; do
    "$weft" screen --scene "$work/$scene.world" --hours 2 --out "$work/$scene" >/dev/null
    cmp "$work/text/conjunctions.csv" "$work/$scene/conjunctions.csv"
done
test "$(wc -l <"$work/text/conjunctions.csv")" -gt 1
fails() {
    pattern=$1 want=$2 status=0
    shift 2
    "$weft" "$@" >"$work/said" 2>&1 || status=$?
    if [ "$status" -ne "$want" ] || ! grep -q -- "$pattern" "$work/said"; then
        echo "weft $*: status $status, expected $want and '$pattern':"
        cat "$work/said"
        exit 1
    fi
}
fails 'either a catalogue or --scene' 2 screen "$work/sky.tle" --scene "$work/one.world"
fails 'not a world file' 2 screen --scene "$work/sky.tle"
printf '{"weft": 1, "objects": {"a": {}}}' >"$work/empty.weft"
"$weft" bake "$work/empty.weft" -o "$work/empty.world" >/dev/null
fails 'no entity with a Satellite' 2 screen --scene "$work/empty.world"
sed '3s/1/7/' "$work/sky.tle" >"$work/bad.tle"
fails "bad.tle:3:69: .*checksum" 1 bake "$work/bad.tle" -o "$work/bad.world"
test ! -e "$work/bad.world"
echo "the same file from text and from scenes"
