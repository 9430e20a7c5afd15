#!/bin/sh
# SPDX-License-Identifier: MIT
# command_line.sh WEFT: the contract of the command line: exit status 0, 1, 2; help; hints; JSON lines.
set -u
weft=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
count=0 failed=0
# expect STATUS PATTERN ARGUMENT...: runs weft and looks for PATTERN in what it printed.
expect() {
    want=$1 pattern=$2
    shift 2
    count=$((count + 1))
    "$weft" "$@" >"$work/out" 2>"$work/err" </dev/null
    got=$?
    if [ "$got" -ne "$want" ] || ! cat "$work/out" "$work/err" | grep -q -- "$pattern"; then
        failed=$((failed + 1))
        echo "FAILED: weft $*: status $got (expected $want), no '$pattern' in:"
        cat "$work/out" "$work/err"
    fi
    narrow "$@"
}
# narrow ARGUMENT...: what a person reads has 80 columns, but for messages, which hold paths.
narrow() {
    case "$got $*" in [12]\ * | *--json* | *=man* | *"$work"*.world* | *"$work"*.weft*) return ;; esac
    count=$((count + 1))
    [ "$(LC_ALL=C.UTF-8 wc -L <"$work/out")" -le 80 ] && return
    failed=$((failed + 1))
    echo "FAILED: weft $*: a line of more than 80 columns:"
    LC_ALL=C.UTF-8 grep -E -m3 '.{81}' "$work/out"
}
# silent: the last command wrote nothing on stderr, which is no terminal here.
silent() {
    count=$((count + 1))
    if [ -s "$work/err" ]; then
        failed=$((failed + 1))
        echo "FAILED: text on stderr without a terminal:" && cat "$work/err"
    fi
}
# objects: every line on stdout is one JSON object.
objects() {
    count=$((count + 1))
    if [ ! -s "$work/out" ] || grep -qv '^{".*}$' "$work/out"; then
        failed=$((failed + 1))
        echo "FAILED: not one JSON object per line:" && cat "$work/out"
    fi
}
# manual FILE: a page has 80 columns where the man of this machine shows it.
manual() {
    command -v nroff >/dev/null || return
    count=$((count + 1))
    nroff -c -man -rLL=80n "$1" 2>/dev/null | sed 's/.\x08//g' >"$work/page"
    [ -s "$work/page" ] && [ "$(LC_ALL=C.UTF-8 wc -L <"$work/page")" -le 80 ] && return
    failed=$((failed + 1))
    echo "FAILED: $1: a line of more than 80 columns:" && LC_ALL=C.UTF-8 grep -E -m3 '.{81}' "$work/page"
}
expect 0 'commands:' --help
expect 0 '^weft [0-9]*\.[0-9]*\.[0-9]*$' --version
expect 0 '^with.*: .*event counters' --version # there or not, it is named
expect 2 'commands:'
expect 2 "did you mean 'bench'" bnech
expect 2 'no command' zzzzzzzz
for command in bake bench stress explain screen dump diverge live simulate shard-demo; do
    [ "$command" = simulate ] && [ ! -x "$(dirname "$weft")/weft-simulate" ] && continue # not with sanitizers
    [ "$command" = shard-demo ] && [ ! -x "$(dirname "$weft")/weft-shards" ] && continue
    expect 0 'options:' $command --help
    # MPI keeps what it allocated (tests/shard looks for leaks of ours)
    leaks=
    [ "$command" = shard-demo ] && leaks=detect_leaks=0
    ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}$leaks" \
        expect 2 'no option --jsno; did you mean --json' $command --jsno
    [ "$command" = simulate ] || expect 0 '^examples:' help $command
    expect 0 '^\.TH WEFT-[A-Z-]* 1$' $command --help=man
    manual "$work/out"
    grep -q "^weft-$command .. [a-z].*[^.]\$" "$work/out" || { failed=$((failed + 1)) && echo "FAILED: weft $command --help=man: NAME is a sentence"; }
done
expect 0 '^self.clock ' bench --list
expect 0 '"bench":"self.clock"' bench --list --json
objects
printf '{"type": "Mark"}\n{"entity": "2:3", "name": "iss", "components": {"Mark": true}}\n' >"$work/a.json"
printf '{"entity": "0:1",\n "colour": 3}\n' >"$work/wrong.json"
expect 2 'name one file' dump
expect 2 '--read needs --out' dump --read "$work/a.json"
expect 2 'none.world' dump "$work/none.world"
expect 2 'wrong.json:2:2: ' dump --read "$work/wrong.json" --out "$work/a.world"
printf '%s\n' '{"type": "Ship", "size": 32, "alignment": 8, "description": {"name": "Ship", "size": 32, "alignment": 8, "fields": [
 {"name": "range", "kind": "f64", "offset": 0, "unit": "km"}, {"name": "call", "kind": "text", "offset": 12, "count": 12},
 {"name": "mode", "kind": "enum", "offset": 8, "type": {"name": "Mode", "size": 4, "alignment": 4, "constants": [
  {"name": "idle", "value": 0}, {"name": "burn", "value": 1}]}}]}}' >"$work/types.json"
{ cat "$work/types.json" && printf '{"entity": "0:1", "components": {"Ship": {"range": "4e5 m", "mode": "burn", "call": "zarya"}}}\n'; } >"$work/ship.json"
"$weft" dump --read "$work/ship.json" --out "$work/ship.world"
expect 0 '"call": "0x7a61.*"mode": 1' dump "$work/ship.world"
expect 0 '{"range": 400, "call": "zarya", "mode": "burn"}' dump "$work/ship.world" --types "$work/types.json"
expect 0 '"unit": "km"' dump "$work/ship.world" --types "$work/types.json"
expect 2 'has entities' dump "$work/ship.world" --types "$work/ship.json"
expect 2 'none.json: ' dump "$work/ship.world" --types "$work/none.json"
"$weft" dump --read "$work/a.json" --out "$work/a.world"
cat >"$work/level.weft" <<'END'
{"weft": 1, "objects": {
  "lamp": {"Mark": true, "children": {"bulb": {}}},
  "door": {"name": "the door"}}}
END
printf '{"type": "Mark"}\n' >"$work/types.json"
sed 's/Mark/Mork/' "$work/level.weft" >"$work/mistake.weft"
expect 2 'name at least one document' bake
expect 1 'none.weft: cannot be read' bake "$work/none.weft"
expect 1 'mistake.weft:2:20: .*Mork.*Mark' bake "$work/mistake.weft" --types "$work/types.json" -o "$work/level.world"
expect 1 '"line":2,"column":20,"object":"lamp"' bake "$work/mistake.weft" --types "$work/types.json" --json
objects
expect 2 'has entities' bake "$work/level.weft" --types "$work/a.json"
expect 2 'no object "lump"' bake "$work/level.weft" --types "$work/types.json" --explain lump
expect 0 '^1 files, 3 objects: 3 baked' bake "$work/level.weft" --types "$work/types.json" -o "$work/level.world"
expect 2 'none.weft: No such file' live "$work/none.weft" --seconds 1
printf '{"weft": 1, "objects": {"lamp": {}}}\n' >"$work/lamp.weft"
expect 0 'lamp.weft: [0-9]* entities; edit it' live "$work/lamp.weft" --seconds 0.02
expect 0 'lamp.weft: [0-9]* entities; edit it' live "$work/lamp.weft" --seconds 0
expect 1 'level.weft: [0-9]* entities; edit it' live "$work/level.weft" --seconds 0.02
expect 2 'needs --out' bake "$work/level.weft" --types "$work/types.json" --depend "$work/level.d"
expect 0 'wrote' bake "$work/level.weft" --types "$work/types.json" -o "$work/level.world" --depend "$work/level.d"
grep -q "^$work/level.world: $work/types.json" "$work/level.d" && grep -q "^$work/level.weft:\$" "$work/level.d" ||
    { echo "FAILED: --depend" && cat "$work/level.d" && exit 1; }
silent
expect 0 '"name": "the door"' dump "$work/level.world"
expect 0 '"baked": \["new"\]' bake "$work/level.weft" --types "$work/types.json" --explain lamp --json
objects
printf '%s' '{"asset": {"version": "2.0"}, "nodes": [{"name": "leg", "extras": {"Mark": true}}]}' >"$work/a.gltf"
expect 0 '^1 files, 1 objects: 1 baked' bake "$work/a.gltf" --types "$work/types.json" -o "$work/leg.world"
expect 0 '"name": "leg", "components": {"LocalTransform"' dump "$work/leg.world"
silent
expect 0 '{"entity": "2:3", "name": "iss", "components": {"Mark": true}}' dump "$work/a.world" --json
silent
objects
"$weft" dump "$work/a.world" --out "$work/b.json"
expect 2 'not a world file' dump "$work/a.json" --out "$work/b.json"
count=$((count + 1))
"$weft" dump "$work/a.world" | cmp -s - "$work/b.json" || { failed=$((failed + 1)); echo 'FAILED: dump --out is not what dump prints'; }
# apart FILE ARGUMENT...: a command that would write over what it reads is refused, and the file stays.
apart() {
    kept=$1
    shift
    cp "$kept" "$work/kept"
    expect 2 'are one file' "$@"
    count=$((count + 1))
    cmp -s "$work/kept" "$kept" && return
    failed=$((failed + 1))
    echo "FAILED: weft $* has written over $kept"
}
mkdir -p "$work/apart/deep"
cp "$work/level.weft" "$work/types.json" "$work/a.world" "$work/apart"
printf '{"weft": 1, "use": {"more": "level.weft"}, "objects": {"all": {"each": "more"}}}' >"$work/apart/top.weft"
printf '{"weft": 1, "use": {"more": "level.weft", "no": "lonely.weft", "none": "none.weft"}, "objects": {"all": {"each": "more"}}}' \
    >"$work/apart/user.weft"
cp "$work/level.weft" "$work/apart/lonely.weft"
(cd "$work/apart" && ln -s level.weft soft.world && ln level.weft hard.world)
level=$work/apart/level.weft top=$work/apart/top.weft types=$work/apart/types.json
apart "$top" bake "$top" --types "$types" -o "$top"
for out in "$level" "$work/apart/deep/../level.weft" "$work/apart/soft.world" "$work/apart/hard.world"; do
    apart "$level" bake "$top" --types "$types" -o "$out"
    apart "$level" bake "$top" --types "$types" -o "$work/apart/new.world" --depend "$out"
done
lonely=$work/apart/lonely.weft user=$work/apart/user.weft
apart "$lonely" bake "$user" --types "$types" -o "$lonely"
apart "$lonely" bake "$user" --types "$types" -o "$work/apart/new.world" --depend "$lonely"
expect 0 'wrote' bake "$user" --types "$types" -o "$work/apart/new.world" --depend "$work/apart/new.d"
grep -q level.weft "$work/apart/new.d" && ! grep -q lonely "$work/apart/new.d" || { failed=$((failed + 1)); echo 'FAILED: --depend of "use"'; }
apart "$types" bake "$top" --types "$types" -o "$types"
apart "$types" bake "$top" --types "$types" -o "$work/apart/new.world" --depend "$types"
"$weft" bake "$top" --types "$types" -o "$work/apart/new.world" >"$work/out" || failed=$((failed + 1))
apart "$work/apart/new.world" bake "$top" --types "$types" -o "$work/apart/new.world" --depend "$work/apart/new.world"
apart "$work/apart/a.world" dump "$work/apart/a.world" --out "$work/apart/./a.world"
apart "$work/apart/a.world" dump --read "$work/apart/a.world" --out "$work/apart/a.world"
for name in conjunctions.csv together.csv meta.json conjunctions.csv.part; do
    cp "$level" "$work/apart/$name"
    apart "$work/apart/$name" screen "$work/apart/$name" --out "$work/apart"
    apart "$work/apart/$name" screen --scene "$work/apart/$name" --out "$work/apart"
done
"$weft" screen - --out "$work/apart" <"$work/apart/meta.json" >"$work/out" 2>&1
[ $? -eq 2 ] && cmp -s "$level" "$work/apart/meta.json" || { failed=$((failed + 1)); echo 'FAILED: screen writes over standard input'; }
[ -x "$(dirname "$weft")/weft-simulate" ] && apart "$level" simulate "$level" --timeline "$level"
[ -x "$(dirname "$weft")/weft-shards" ] && for option in load data; do
    ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" \
        apart "$level" shard-demo sheep --save "$level" --$option "$level"
done
expect 0 '^create.single ' bench storage --list
expect 0 '^filter.shared ' bench query --list
expect 0 '^alloc ' stress --list
expect 0 '^world ' stress --list world
[ "$(wc -l <"$work/out")" -eq 1 ] || { failed=$((failed + 1)) && echo 'FAILED: stress --list world lists others, too'; }
expect 2 "no scenario 'zzzzzzzz'" stress --list zzzzzzzz
expect 0 '^  64MiB  *1 .* raw ' bench self.copy --reps 1
for code in '' $("$weft" explain | sed -n 's/^\(E[0-9]*\) .*/\1/p'); do expect 0 '^E' explain $code; done
expect 0 '^frame.seven ' bench schedule --list
expect 2 "did you mean 'storage'" bench storag
expect 2 "no benchmark ''; see --list" bench ''
expect 2 "no benchmark '/clock'; see --list" bench /clock
expect 2 "no benchmark 'zzzzzzzz'; see --list" bench self.clock zzzzzzzz
expect 0 '"machine":{"cpu":' bench self.clock --reps 1 --json
silent
objects
expect 0 '^{"bench":"self.clock","case":"clock","workers":1,"unit":"ns/call","median":[0-9.e+-]*,"min":[0-9.e+-]*,"raw":[0-9.e+-]*,"ratio":[0-9.e+-]*,"paired":[0-9.e+-]*}$' \
    bench self.clock --reps 3 --json
# paired FILE: the figure of that name is what the samples of its first line say.
paired() {
    count=$((count + 1))
    if ! python3 - "$1" <<'END'; then
import json, statistics, sys
line = json.loads(open(sys.argv[1]).readline())
rounds = [a / b for a, b in zip(line["samples"], line["raw_samples"])]
sys.exit(abs(statistics.median(rounds) / line["paired"] - 1) > 1e-4)
END
        failed=$((failed + 1))
        echo "FAILED: paired is not the median of the rounds' ratios:" && cat "$1"
    fi
}
for run in 1 2; do "$weft" bench self.copy --reps 9 --json --samples >"$work/run$run"; done
expect 0 '^self.copy/64MiB/1 .*x .*x ' bench --compare "$work/run1" "$work/run2"
paired "$work/run1"
# Whatever runs beside this test: samples that are calm.
sed -i 's/"disturbed":[0-9]*/"disturbed":0/; s/"samples":\[[^]]*/"samples":[1,1.1,1,1.1,1,1.1,1,1.1,1/
s/"raw_samples":\[[^]]*/"raw_samples":[1,1,1,1,1,1,1,1,1/' "$work/run1"
expect 0 '"verdict":"same"' bench --compare --json "$work/run1" "$work/run1"
objects
sed 's/"disturbed":0/"disturbed":3/' "$work/run1" >"$work/disturbed"
expect 0 '"verdict":"disturbed"' bench --compare --json "$work/run1" "$work/disturbed"
sed 's/"samples":\[[^]]*/"samples":[9,9,9,9,9,9,9,9,9/' "$work/run1" >"$work/slower"
expect 0 '"verdict":"slower"' bench --compare --json "$work/run1" "$work/slower"
rate() { # FILE MB/S: a run of one rate, five samples
    printf '{"bench":"a.b","case":"c","workers":1,"unit":"MB/s","median":%s,"disturbed":0,"samples":[%s,%s,%s,%s,%s]}\n' \
        "$2" "$2" "$2" "$2" "$2" "$2" >"$work/$1"
}
cat "$work/run1" >"$work/run1more"
rate half 100
rate whole 200
cat "$work/half" >>"$work/run1more"
printf '{"bench":"a.name.of.three.words","case":"and-a-long-case","workers":64,"peer":"1worker","unit":"MB/s","median":1.2345678e+09}\n' >"$work/long"
expect 0 'words/and-a-long-case/64/1worker$' bench --compare "$work/long" "$work/long"
expect 0 'a.b/c/1 .*faster$' bench --compare "$work/half" "$work/whole" # a rate: more is faster
expect 0 'left out: [0-9]* lines' bench --compare "$work/run1" "$work/run1more"
printf '{"bench":"a.b","case":"c","workers":1,"median":1,"samples":[1' >"$work/cut"
expect 2 'holds no benchmark lines' bench --compare "$work/cut" "$work/half"
expect 2 'needs two files' bench --compare "$work/run1"
expect 2 'holds no benchmark lines' bench --compare "$work/run1" /dev/null
expect 2 'holds no benchmark lines' bench --compare /dev/zero "$work/run1"
expect 2 "did you mean 'self.copy'" bench self.cpoy
expect 2 'from 1 to 256' bench --workers 0
expect 2 'from 1 to 256' stress all --workers 257
expect 2 'needs a whole number' bench --reps three
expect 2 'needs a value' bench --reps
expect 2 'name a scenario' stress
if [ -x "$(dirname "$weft")/weft-simulate" ]; then # not with sanitizers
    expect 0 '"kind":"simulated","workers":2' simulate --artificial 8x1000x64 --workers 1,2 --json
    objects
    expect 0 '^stage 0 .* wakes, joins, memory' simulate --artificial 8x1000x64
    for wrong in 8 8x 0x1 8x-1 8x1000junk 8x1000x 8x1x1x1 2000000x1 8x9999999999; do
        expect 2 'is not SLICESxNS' simulate --artificial $wrong
    done
    expect 2 'is not a list' simulate --artificial 8x1000 --workers 1,
fi
for list in bench stress; do
    count=$((count + 1))
    twice=$("$weft" $list --list | sed -n 's/^\([^ ]\+\).*/\1/p' | sort | uniq -d)
    if [ -n "$twice" ]; then
        failed=$((failed + 1))
        echo "FAILED: weft $list --list names something twice: $twice"
    fi
done
expect 2 'no scenario' stress no-such-scenario
expect 2 "'churn' keeps state between rounds" stress churn --from 3
expect 0 'rounds 1 .*errors 0' stress jobs --from 7 --rounds 1 --seed 5 --workers 2
expect 0 '"errors":0}$' stress jobs --rounds 1 --seed 5 --workers 2 --faults --json
silent
objects
# --seconds is for all of them: a scenario keeps to its share, and one round is the least
expect 0 '^total  *scenarios 2  [0-9.]* s of 0.2 s  errors 0$' stress jobs alloc --seconds 0.2 --workers 2
expect 0 '"scenarios":2,.*"errors":0}$' stress jobs alloc --seconds 0.1 --workers 2 --json
objects
# so it is for one, whose hashed rounds take longer
expect 0 'no hash' stress scheduler --seconds 0.001 --workers 2
expect 0 '^self.copy ' bench self. --list
expect 2 "no case 'self.clock/nothing'" bench self.clock/nothing
# a run that is twice as slow, with blanks in its JSON, and what becomes of the status
for side in 10:fast 20:slow; do
    echo "{ \"bench\" : \"a\", \"case\": \"b\", \"workers\" : 1, \"unit\": \"ns\", \"median\": ${side%:*}, \"samples\": [ ${side%:*}, ${side%:*}.1, ${side%:*}.2, ${side%:*}, ${side%:*}.1, ${side%:*} ] }" \
        >"$work/${side#*:}"
done
expect 0 'a/b/1 .*slower' bench --compare "$work/fast" "$work/slow"
expect 0 'a/b/1 .*slower' bench --compare --fail-over 150 "$work/fast" "$work/slow"
expect 1 '1 case slower by more than 50 %' bench --compare --fail-over 50 "$work/fast" "$work/slow"
expect 0 'a/b/1 .*faster' bench --compare --fail-over 0 "$work/slow" "$work/fast"
expect 2 'belongs to --compare' bench --fail-over 5 self.clock
expect 2 'No such file' bench --compare "$work/missing" "$work/run1"
expect 2 'cannot open' screen "$work/missing"
# the shipped catalogue is found from any folder
count=$((count + 1))
case $weft in /*) program=$weft ;; *) program=$PWD/$weft ;; esac
(cd "$work" && "$program" bench screen.stage/pairs --reps 1) >"$work/out" 2>&1 || {
    failed=$((failed + 1))
    echo "FAILED: no catalogue in another folder:" && cat "$work/out"
}
# names that are not UTF-8 make no broken JSON
odd=$(printf '%s/n\377.tle' "$work")
printf '1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753\n2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667\n' >"$odd"
expect 0 'n\\ufffd.tle"' screen "$odd" --hours 0.1 --out "$work" --json
objects
# told to stop, it says how to go on: the last words are there as soon as the scenario is
count=$((count + 1))
"$weft" stress jobs --seconds 1000 --seed 5 --workers 2 2>"$work/err" >"$work/out" &
running=$!
while ! grep -q '^State:.*[RS]' "/proc/$running/status" || ! grep -q weft-w "/proc/$running"/task/*/comm; do
    kill -0 $running || break
done 2>/dev/null
kill -TERM $running
wait $running
got=$?
if [ $got -ne 143 ] || ! grep -q '^repeat: weft stress jobs --seed 0x5 --workers 2 --from [0-9]* --rounds 1$' "$work/err"; then
    failed=$((failed + 1))
    echo "FAILED: status $got, no line that repeats the round:" && cat "$work/err"
fi
expect 0 'E0005 WEFT_STALE_ENTITY' explain E0005
expect 0 'E0005 WEFT_STALE_ENTITY' explain 5
expect 0 'E0005 WEFT_STALE_ENTITY' explain e0005
expect 0 'E0005 WEFT_STALE_ENTITY' explain weft_stale_entity
expect 0 'E0021 WEFT_BUSY' explain busy
expect 0 'E0009 WEFT_WRONG_THREAD' explain wrong-thread
expect 2 'did you mean WRONG_PHASE' explain wrong-fase
expect 0 '^E0022 ' explain
expect 0 '^  weft screen$' help
expect 0 '^diverge$' help --names
expect 0 "^  weft screen$" help help
expect 2 "did you mean 'screen'" help scren
expect 2 'name two logs' diverge "$work/a"
expect 2 'is no state log' diverge "$work/run1" "$work/run1"
expect 0 'below 1 weft is faster' bench self.clock --reps 1
# two runs of a program and what they did differently
for run in 1:20 3:20 2:10; do
    WEFT_STATE_LOG=$work/${run%:*}.log "$weft" screen --hours 0.2 --workers "${run%:*}" --threshold-km "${run#*:}" --out "$work" \
        >/dev/null 2>&1
done
expect 0 'no difference; the last step is' diverge "$work/1.log" "$work/3.log"
expect 1 "first difference: step 1, commands of system 'refine'" diverge "$work/1.log" "$work/2.log"
# rows say where a difference is, not whether there is one: a log with those of other steps, or with none, is of the same run
for rows in 1 2; do
    WEFT_STATE_LOG_ROWS=$rows WEFT_STATE_LOG=$work/rows$rows.log "$weft" screen --hours 0.2 --workers 1 --threshold-km 20 --out "$work" \
        >/dev/null 2>&1
done
expect 0 'no difference; the last step is' diverge "$work/rows1.log" "$work/3.log"
expect 0 'no difference; the last step is' diverge "$work/rows1.log" "$work/rows2.log"
expect 1 "first difference: step 1, commands of system 'refine'" diverge "$work/rows1.log" "$work/2.log"
expect 1 '"system":"' diverge --json "$work/1.log" "$work/2.log"
objects
# stdout that is closed: an error, and its text in no file
count=$((count + 1))
mkdir "$work/closed"
"$weft" screen --hours 0.01 --out "$work/closed" >&- 2>"$work/err"
if [ $? -ne 2 ] || ! grep -q 'cannot write' "$work/err" || grep -q catalogue "$work/closed/conjunctions.csv"; then
    failed=$((failed + 1))
    echo "FAILED: a closed stdout:" && cat "$work/err"
fi
# a reader that goes away, and Ctrl-C: no part of a file is left
count=$((count + 1))
"$weft" screen --hours 24 --threshold-km 50 --json --out "$work/pipe" 2>/dev/null | head -n 1 >/dev/null
"$weft" screen --hours 2000 --out "$work/stopped" >/dev/null 2>&1 &
running=$!
while [ ! -d "$work/stopped" ] && kill -0 $running; do :; done 2>/dev/null
kill -INT $running 2>/dev/null
kill -TERM $running 2>/dev/null
wait $running
if ls "$work"/pipe/*.part "$work"/stopped/* >/dev/null 2>&1; then
    failed=$((failed + 1))
    echo "FAILED: parts of files:" && ls "$work/pipe" "$work/stopped"
fi
expect 0 '"code":"E0005","name":"WEFT_STALE_ENTITY"' explain --json 5
objects
expect 2 'no error code' explain E9999
if [ -e /dev/full ]; then
    for arguments in --help --version 'bench --list' 'bench self.clock --reps 1' 'stress --list' explain \
        'simulate --artificial 8x1000' 'screen --hours 0.01'; do
        count=$((count + 1))
        [ "${arguments%% *}" = simulate ] && [ ! -x "$(dirname "$weft")/weft-simulate" ] && continue
        # shellcheck disable=SC2086 # words are meant to be split
        "$weft" $arguments >/dev/full 2>"$work/err"
        if [ $? -ne 2 ] || ! grep -q 'cannot write' "$work/err"; then
            failed=$((failed + 1))
            echo "FAILED: a full disk goes unnoticed: weft $arguments"
        fi
    done
fi
echo "$count checks, $failed failed"
[ "$failed" -eq 0 ]
