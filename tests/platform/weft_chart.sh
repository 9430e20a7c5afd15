#!/bin/sh
# SPDX-License-Identifier: MIT
# weft_chart.sh WEFT_CHART: all three panels are drawn from saved lines; nonsense is status 2. Where
# gnuplot is not installed only the message that says so is checked.
set -u
tool=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() {
    failed=$((failed + 1))
    echo "FAILED: $*"
}
cat >run.json <<'LINES'
{"bench":"iter.move3","case":"10k","workers":1,"unit":"ns/entity","median":0.25,"min":0.24,"raw":0.22,"ratio":1.13}
{"bench":"iter.move3","case":"1M","workers":1,"unit":"ns/entity","median":0.5,"min":0.49,"raw":0.55,"ratio":0.9}
{"bench":"iter.move3","case":"1M","workers":2,"unit":"ns/entity","median":0.26,"min":0.25,"raw":0.55,"ratio":0.47}
{"bench":"jobs.loop","case":"empty","workers":2,"peer":"openmp","unit":"us/loop","median":1,"min":1,"raw":2,"ratio":0.5}
{"machine":{"cpu":"x"}}
LINES
if command -v gnuplot >/dev/null 2>&1; then
    "$tool" -o a.svg run.json 2>log || fail "status $?"
    grep -q '3 panels, 3 cases' log || { fail "panels:"; cat log; }
    python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' a.svg || fail "the SVG is not valid XML"
    grep -q 'speed-up' a.svg && grep -q 'iter.move3' a.svg || fail "titles are missing"
    grep -q '^<rect .*fill="#ffffff"' a.svg && grep -q '\[fill="#ffffff"\] { fill: var(--ground)' a.svg ||
        fail "the ground stays white in the dark"
    for out in run.svg link.svg; do
        cp run.json run.svg
        ln -sf run.svg link.svg
        "$tool" -o $out run.svg 2>log
        [ $? -eq 2 ] && grep -q 'which would be written over' log || { fail "writes over what it reads"; cat log; }
        cmp -s run.json run.svg || fail "the run that was named as output has changed"
    done
    [ ! -e a.svg.part ] || fail "a part is left"
    echo '{"machine":{}}' >empty.json
    "$tool" -o b.svg empty.json 2>/dev/null
    [ $? -eq 2 ] || fail "nothing to draw must be status 2"
    echo 'no json' >bad.json
    "$tool" -o b.svg bad.json 2>/dev/null
    [ $? -eq 2 ] || fail "a bad file must be status 2"
    for line in '[1]' '7' '{"bench":"x","median":1}'; do
        echo "$line" >bad.json
        "$tool" -o b.svg bad.json 2>log
        [ $? -eq 2 ] && grep -q 'not a line of' log || { fail "status of a file with $line"; cat log; }
    done
else
    "$tool" -o a.svg run.json 2>&1 | grep -q 'apt-get install gnuplot' || fail "no hint how to get gnuplot"
fi
[ "$failed" -eq 0 ] && echo passed
