#!/bin/sh
# SPDX-License-Identifier: MIT
# oracle.sh WEFT PYTHON CATALOGUE HOURS: screens a catalogue and compares every event with python3-sgp4.
set -eu
[ -r "$3" ] || { echo "$3 is not here: skipped"; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$1" screen "$3" --hours "$4" --out "$out"
"$2" "$(dirname "$0")/oracle.py" "$3" "$out/conjunctions.csv"
