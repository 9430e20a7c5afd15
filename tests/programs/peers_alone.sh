#!/bin/sh
# SPDX-License-Identifier: MIT
# peers_alone.sh PROGRAM: weft-peers without peers: rows run, and what is wrong with the arguments is said.
set -u
failed=0
check() { # STATUS TEXT COMMAND...
    status=$1 text=$2
    shift 2
    said=$("$@" 2>&1)
    code=$?
    if [ "$code" -ne "$status" ] || ! printf '%s' "$said" | grep -q -e "$text"; then
        echo "FAILED: $*: status $code, not $status, or without \"$text\": $said"
        failed=1
    fi
}
check 0 'usage: weft-peers' "$1" --help
check 0 'jobs.layers' "$1" --list
check 0 '^get  *1000000 ns/entity' "$1" --rounds 1 get
check 0 '| `world` 100 | us/world |' "$1" --rounds 1 --markdown world
check 0 '"weft":"' "$1" --rounds 1 --json jobs.chain
for row in create destroy iterate set add remove sparse observe children jobs; do
    check 0 "^$row" "$1" --rounds 1 $row
done
check 2 'no row begins with "nothing"' "$1" nothing
check 2 'see --help' "$1" --rounds 0
check 2 'see --help' "$1" --workers
check 2 'see --help' "$1" --nothing
[ $failed -ne 0 ] || echo "weft-peers alone: all checks passed"
exit $failed
