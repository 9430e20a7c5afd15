#!/bin/sh
# SPDX-License-Identifier: MIT
# inspect_environment.sh WEFT: --inspect and WEFT_INSPECT: the URL on stderr, wrong values, and the same
# hash as without.
set -u
weft=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
count=0 failed=0
check() { # NAME STATUS
    count=$((count + 1))
    [ "$2" -eq 0 ] || { failed=$((failed + 1)); echo "FAILED: $1"; }
}
run() { "$weft" stress scheduler --seed 7 --rounds 2 --json "$@" >"$work/out" 2>"$work/err"; }
hash() { sed -n 's/.*"hash":"\([^"]*\)".*/\1/p' "$work/out"; }
run; check "without" $?
plain=$(hash)
[ -n "$plain" ]; check "there is a hash" $?
run --inspect=0; check "--inspect=0" $?
[ "$(hash)" = "$plain" ]; check "the same hash with --inspect" $?
grep -Eq 'http://127\.0\.0\.1:[0-9]+/#[0-9a-f]{32}$' "$work/err"; check "the URL is on stderr" $?
! grep -q 'http' "$work/out"; check "and not on stdout" $?
WEFT_INSPECT=0,write run; check "WEFT_INSPECT=0,write" $?
[ "$(hash)" = "$plain" ]; check "the same hash with WEFT_INSPECT" $?
grep -q 'http://127' "$work/err"; check "the variable is enough" $?
SSH_CONNECTION=x TERM_PROGRAM= run --inspect=0
grep -Eq 'ssh -L ([0-9]+):127\.0\.0\.1:\1 HOST' "$work/err"; check "how to reach it from elsewhere" $?
SSH_CONNECTION="10.0.0.9 50000 10.0.0.5 2222" TERM_PROGRAM= run --inspect=0
grep -Eq 'ssh -p 2222 -L ([0-9]+):127\.0\.0\.1:\1 10\.0\.0\.5,' "$work/err"; check "with the address that was connected to" $?
SSH_CONNECTION=x TERM_PROGRAM=vscode run --inspect=0
! grep -q 'ssh -L' "$work/err"; check "an editor forwards the port itself" $?
told() { # OPTION ...: how often a URL is told
    "$weft" stress "$@" --seed 7 --rounds 2 --workers 2 2>&1 >"$work/out" | grep -c 'inspector: http'
}
[ "$(told everything --inspect=0)" -ge 1 ]; check "stress everything is inspected" $?
[ "$(told everything --inspect=0 --json)" -ge 1 ]; check "with --json as well" $?
[ "$(told determinism --inspect=0)" -eq 1 ]; check "worlds one after the other have one URL, told once" $?
once() { # OPTION ...: no URL is told twice, however many worlds there are at once
    "$weft" stress "$@" --inspect=0 --seed 7 --rounds 2 --workers 2 2>&1 >"$work/out" | grep -o 'http.*' | sort | uniq -d >"$work/twice"
    [ ! -s "$work/twice" ]
}
once everything; check "each URL is told once" $?
once threads; check "by worlds of several threads as well" $?
"$weft" stress jobs --inspect --rounds 1 >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && grep -q "makes no world" "$work/err"; check "a scenario without a world says so" $?
printf '{"weft": 1, "objects": {"lamp": {}}}' >"$work/a.weft"
WEFT_INSPECT=0 "$weft" bake "$work/a.weft" -o "$work/a.world" >"$work/out" 2>"$work/err" &&
    WEFT_INSPECT=0 "$weft" dump "$work/a.world" >"$work/out" 2>>"$work/err" && [ ! -s "$work/err" ]
check "a world that is read or written, and takes no step, has no page" $?
if command -v script >/dev/null; then # stress lets a line of progress stand when its next world is made
    TERM=xterm script -qec "$weft stress everything --seconds 1.5 --workers 2 --inspect=0" /dev/null >"$work/out"
    [ "$(grep -c 'inspector: http' "$work/out")" -ge 1 ]; check "in a terminal" $?
    sed 's/.*\r.\[K//' "$work/out" | grep 'inspector: http' | grep -vq '^weft: '; [ $? -eq 1 ]; check "the URL has its own line" $?
fi
run --inspect=0,paused,; [ $? -eq 2 ]; check "an empty word is refused" $?
run --inspect=none; [ $? -eq 2 ]; check "--inspect=none is refused" $?
grep -q '27760,write' "$work/err"; check "and says what to give" $?
echo "$((count - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
