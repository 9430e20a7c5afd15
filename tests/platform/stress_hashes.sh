#!/bin/sh
# SPDX-License-Identifier: MIT
# stress_hashes.sh WEFT ROUNDS [WORKERS...]: every stress scenario passes with --faults on three workers; it
# passes and prints one world hash for all these worker counts, and where memory is never refused that
# with --faults is the same. ROUNDS: of the scenarios `determinism` and `relations`, the longest; the others run their default.
# With WEFT_TURN, a number: every second scenario, the others with another number.
set -u
weft=$1 rounds=$2
shift 2
field() { # name: the value of a JSON member, quotes and all
    sed -n "s/.*\"$1\":\\([^,}]*\\).*/\\1/p"
}
count=0 failed=0 number=0
for scenario in $("$weft" stress --list --json | field scenario | tr -d '"'); do
    number=$((number + 1))
    [ -z "${WEFT_TURN-}" ] || [ $((number % 2)) = $((WEFT_TURN % 2)) ] || continue
    hashes= amount="--seconds 0"
    case $scenario in determinism | relations) amount="--rounds $rounds" ;; esac
    line=$("$weft" stress "$scenario" --seed 1 $amount --workers 3 --faults --json) || {
        failed=$((failed + 1))
        echo "FAILED: weft stress $scenario --seed 1 $amount --workers 3 --faults: $line"
    }
    case $scenario in
    jobs | determinism | scheduler | playback | relations) hashes=$(printf '%s\n' "$line" | field hash) ;;
    esac
    for workers; do
        line=$("$weft" stress "$scenario" --seed 1 $amount --workers "$workers" --json) || {
            failed=$((failed + 1))
            echo "FAILED: weft stress $scenario --seed 1 --workers $workers: $line"
        }
        hashes="$hashes $(printf '%s\n' "$line" | field hash)"
    done
    count=$((count + 1))
    different=$(printf '%s\n' $hashes | sort -u | wc -l)
    if [ "$different" -ne 1 ]; then
        failed=$((failed + 1))
        echo "FAILED: $scenario: hashes for workers $*:$hashes"
    fi
done
echo "$count scenarios, $failed failed"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ]
