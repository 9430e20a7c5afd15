#!/bin/sh
# SPDX-License-Identifier: MIT
# headers.sh CC CXX LAYER_DIR...: every public header compiles alone, twice in one file, as strict C11
# and as C++17, without warnings; and all of them after the macros of other libraries (foreign_macros.h).
set -u
cc=$1 cxx=$2
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
includes=
for dir; do includes="$includes -I$dir/include"; done
warnings="-Wall -Wextra -Wpedantic -pedantic-errors -Werror -fsyntax-only"
count=0 failed=0
try() { # name compiler arguments...
    what=$1
    shift
    count=$((count + 1))
    if ! "$@" 2>"$work/log"; then
        failed=$((failed + 1))
        echo "FAILED: $what" && cat "$work/log"
    fi
}
# What is not weft's comes first: system headers may use the names.
for dir; do cat "$dir"/include/weft/*.h; done 2>/dev/null | grep -ho '^#include <[a-z_]*\.h>' | sort -u >"$work/c"
for dir; do cat "$dir"/include/weft/*.h*; done 2>/dev/null | grep -ho '^#include <[a-z_.]*>' | sort -u >"$work/cpp"
cat "$(dirname "$0")/foreign_macros.h" >>"$work/c"
cat "$(dirname "$0")/foreign_macros.h" >>"$work/cpp"
for dir; do # all in one file: each is read once, behind the macros
    for header in "$dir"/include/weft/*.h*; do
        [ -f "$header" ] || continue
        echo "#include <weft/${header##*/}>" >>"$work/cpp"
        [ "${header%.h}" = "$header" ] || echo "#include <weft/${header##*/}>" >>"$work/c"
    done
done
mv "$work/c" "$work/foreign.c" && mv "$work/cpp" "$work/foreign.cpp"
# shellcheck disable=SC2086
try "all as C11 after foreign macros" "$cc" -std=c11 -fsyntax-only $includes "$work/foreign.c"
# shellcheck disable=SC2086
try "all as C++17 after foreign macros" "$cxx" -std=c++17 -fsyntax-only $includes "$work/foreign.cpp"
for dir; do
    for header in "$dir"/include/weft/*.h; do
        [ -f "$header" ] || continue
        name=weft/${header##*/}
        printf '#include <%s>\n#include <%s>\nextern int weft_unused;\n' "$name" "$name" >"$work/alone.c"
        cp "$work/alone.c" "$work/alone.cpp"
        # shellcheck disable=SC2086 # the flags are lists
        try "$name as C11" "$cc" -std=c11 $warnings -Wstrict-prototypes $includes "$work/alone.c"
        # shellcheck disable=SC2086
        try "$name as C++17" "$cxx" -std=c++17 $warnings $includes "$work/alone.cpp"
    done
done
echo "$count compilations, $failed failed"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ]
