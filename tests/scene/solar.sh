#!/bin/sh
# SPDX-License-Identifier: MIT
# solar.sh SOLAR WEFT: the solar system of docs/examples/solar: its program moves the bodies as the almanac
# says, `weft bake` makes the same entities with the program's types, and edits and mistakes of people show.
set -eu
solar=$1 weft=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$WEFT_SOURCE_DIR/docs/examples/solar/"*.weft "$work"
cd "$work"
"$solar" solar.weft >now
# a body's period in days and its distance in au, each within the share that the almanac's mean elements allow
expect() {
    awk -v body="$1" -v around="$2" -v period="$3" -v share="$4" '
        $1 == body && $2 == around && ($3 / period - 1) ^ 2 < share ^ 2 { found = 1 }
        END { exit !found }' now || { echo "$1: not $3 days around $2:" && cat now && exit 1; }
}
expect earth sun 365.256 0.0001
expect mercury sun 87.969 0.0001
expect jupiter sun 4332.59 0.0005
expect pluto sun 90560 0.002
expect moon earth 27.32 0.003
expect io jupiter 1.769 0.001
expect titan saturn 15.945 0.001
expect triton neptune 5.877 0.001
expect phobos mars 0.3189 0.001
# J2000 is a day before the perihelion of 2000, at 0.98332 au; half a year later is the aphelion, at 1.01669
awk '$1 == "earth" && $4 > 0.98325 && $4 < 0.9834 { found = 1 } END { exit !found }' now
"$solar" solar.weft 184 | awk '$1 == "earth" && $4 > 1.0166 && $4 < 1.01675 { found = 1 } END { exit !found }'

"$solar" --types >types.json
"$weft" bake solar.weft --types types.json -o solar.world --json | grep -q '"files":2,.*"entities":.*"errors":0'
"$weft" dump solar.world >solar.json
grep '"name": "saturn"' solar.json | grep '"mass": 5.6834e+26' | grep -q '"Place"' # which Body requires
test "$(grep -c '"InstanceOf"' solar.json)" -ge 21
grep '"name": "camera"' solar.json | grep -q '"view": 0.0061' # what the orbiter says, in radians
test "$(grep -c '"name": "camera"' solar.json)" -eq 2 # the orbiter's and the prefab's: the relay has none

sed 's/"5.97217e24 kg"/"5.97217e24 km"/' solar.weft >wrong.weft
! "$weft" bake wrong.weft --types types.json >/dev/null 2>said
grep -q 'wrong.weft:32:[0-9]*: earth.Body.mass: "km" is a length, the field a mass (kg)' said
sed 's/"axis": "1.00000261 au"/"axis": "4 au"/' solar.weft >edited.weft
"$solar" edited.weft | awk '$1 == "earth" && $3 > 2920 && $3 < 2924 { found = 1 } END { exit !found }'
echo "the planets are where they should be"
