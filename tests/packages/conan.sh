#!/bin/sh
# SPDX-License-Identifier: MIT
# conan.sh: `conan create` builds the package and the program of its test_package. Skipped without Conan 2;
# a minute: with WEFT_DEEP only.
set -eu
[ -n "${WEFT_DEEP:-}" ] || { echo "skipped: only with WEFT_DEEP"; exit 77; }
command -v conan >/dev/null || { echo "skipped: conan is not there"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CONAN_HOME="$work/home"
conan profile detect >"$work/log" 2>&1
conan create "$here/../../tools/packaging/conan" >"$work/log" 2>&1 || { tail -n 30 "$work/log"; exit 1; }
grep -q WEFT_OK "$work/log" || { echo "FAILED: the program of test_package did not run"; exit 1; }
echo "conan create: WEFT_OK"
