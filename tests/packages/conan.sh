#!/bin/sh
# SPDX-License-Identifier: MIT
# conan.sh: `conan create` builds the package and the program of its test_package; without Conan 2 a stand-in
# runs the recipe (conan_stub.py). A minute: with WEFT_DEEP only.
set -eu
[ -n "${WEFT_DEEP:-}" ] || { echo "skipped: only with WEFT_DEEP"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
recipe=$here/../../tools/packaging/conan
if command -v conan >/dev/null; then
    export CONAN_HOME="$work/home"
    conan profile detect >"$work/log" 2>&1
    conan create "$recipe" >"$work/log" 2>&1 || { tail -n 30 "$work/log"; exit 1; }
else
    echo "conan is not there: a stand-in runs the recipe"
    python3 "$here/conan_stub.py" "$recipe" "$work" >"$work/log" 2>&1 || { tail -n 30 "$work/log"; exit 1; }
fi
grep -q WEFT_OK "$work/log" || { echo "FAILED: the program of test_package did not run"; exit 1; }
echo "the package was created and used"
