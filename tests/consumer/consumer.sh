#!/bin/sh
# SPDX-License-Identifier: MIT
# consumer.sh BUILD_DIR CC VERSION [CXX]: installs weft into an empty prefix, moves the tree, and builds
# a stranger's programs with it (strict C11 and, where there is a C++ compiler, C++17): by pkg-config
# (shared and static), find_package, and as sub-project.
set -eu
build=$1 cc=$2 version=$3 cxx=${4:-}
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CFLAGS LDFLAGS CPPFLAGS DESTDIR 2>/dev/null || true
step() { echo "== $*"; }
expect() { # program: must print WEFT_OK
    got=$("$@")
    [ "$got" = WEFT_OK ] || { echo "FAILED: $* printed '$got'"; exit 1; }
}

step "install, then move the installed tree"
cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix"
prefix=$work/prefix
expect echo WEFT_OK
[ "$("$prefix/bin/weft" --version | head -n 1)" = "weft $version" ]

step "man pages: of each command, header and function; they render"
man=$prefix/share/man
for page in man1/weft.1 man1/weft-bench.1 man1/weft-perf.1 man1/weft-shards.1 man1/weft-simulate.1 \
    man3/weft.3 man3/weft.hpp.3; do
    [ -s "$man/$page" ] || { echo "FAILED: no $page"; exit 1; }
done
# Functions as docs/reference lists them.
for name in $(sed -n 's/^| `\(weft_[a-z_]*\)(.*/\1/p' "$source"/docs/reference/api-*.md); do
    [ -s "$man/man3/$name.3" ] || { echo "FAILED: no man page for $name"; exit 1; }
done
grep -h '^\.so ' "$man"/man3/* | sort -u | while read -r _ target; do
    [ -s "$man/$target" ] || { echo "FAILED: a man page leads to $target, which is not there"; exit 1; }
done
if command -v groff >/dev/null; then
    # shellcheck disable=SC2046 # a list
    groff -man -Kutf8 -Tutf8 -ww -z $(grep -L '^\.so ' "$man"/man1/* "$man"/man3/*) 2>"$work/warnings" || true
    [ ! -s "$work/warnings" ] || { echo "FAILED: groff says"; head -n 20 "$work/warnings"; exit 1; }
fi

step "pkg-config, shared and static, strict C11"
pc=$(dirname "$(find "$prefix" -name weft.pc)")
export PKG_CONFIG_PATH="$pc"
[ "$(pkg-config --modversion weft)" = "$version" ]
for file in "$pc"/*.pc; do pkg-config --libs "$(basename "$file" .pc)" >/dev/null; done
libdir=$(dirname "$pc")
# shellcheck disable=SC2046 # flags are lists
"$cc" -std=c11 -Wall -Wextra -Werror -pedantic "$here/consumer.c" -o "$work/shared" \
    $(pkg-config --cflags --libs weft) "-Wl,-rpath,$libdir"
expect "$work/shared"
mkdir "$work/static-lib" && cp "$libdir/libweft.a" "$work/static-lib"
# shellcheck disable=SC2046
"$cc" -std=c11 "$here/consumer.c" -o "$work/static" $(pkg-config --cflags weft) -L"$work/static-lib" \
    $(pkg-config --libs --static weft | sed "s|-L[^ ]*||")
expect "$work/static"
if [ -n "$cxx" ]; then
    step "pkg-config, C++17"
    # shellcheck disable=SC2046
    "$cxx" -std=c++17 -Wall -Wextra -Werror -pedantic "$here/consumer_cpp.cpp" -o "$work/cpp" \
        $(pkg-config --cflags --libs weft) "-Wl,-rpath,$libdir"
    expect "$work/cpp"
fi

step "shards: pkg-config, shared and static, alone and on two ranks"
for kind in shard shard-static; do
    # shellcheck disable=SC2046
    "$cc" -std=c11 -Wall -Wextra -Werror -pedantic "$here/consumer_shard.c" -o "$work/$kind" \
        $(pkg-config --cflags --libs weft-$kind) "-Wl,-rpath,$libdir"
    expect "$work/$kind"
done
if grep -q '^WEFT_HAS_MPI:INTERNAL=TRUE' "$build/CMakeCache.txt" && command -v mpirun >/dev/null; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader
    expect env TMPDIR="$work" mpirun --oversubscribe -np 2 "$work/shard-static" # a folder of its own
fi

if [ -e "$pc/weft-inspect.pc" ]; then
    step "scenes and inspector: pkg-config, shared and static, by call and by WEFT_INSPECT"
    for kind in inspect inspect-static; do
        # shellcheck disable=SC2046
        "$cc" -std=c11 -Wall -Wextra -Werror -pedantic "$here/consumer_inspect.c" -o "$work/$kind" \
            $(pkg-config --cflags --libs weft-$kind) "-Wl,-rpath,$libdir"
        expect "$work/$kind" "$work"
        expect env WEFT_INSPECT=0 "$work/$kind" "$work" 2>"$work/url"
        grep -q '^weft: .*http://127\.0\.0\.1:' "$work/url" ||
            { echo "FAILED: WEFT_INSPECT does nothing with $kind"; cat "$work/url"; exit 1; }
        # A program that calls nothing of the inspector, and a linker that drops what is not called.
        # shellcheck disable=SC2046
        "$cc" -std=c11 "$here/consumer.c" -o "$work/silent" -Wl,--as-needed \
            $(pkg-config --cflags --libs weft-$kind) "-Wl,-rpath,$libdir"
        WEFT_INSPECT=0 "$work/silent" 2>"$work/url" >/dev/null
        grep -q 'http://127\.0\.0\.1:' "$work/url" ||
            { echo "FAILED: WEFT_INSPECT does nothing in a program that is only linked with $kind"; exit 1; }
    done
fi

step "a prefix with a space in its name"
cp -r "$prefix" "$work/a prefix"
for name in weft weft-static; do
    flags=$(PKG_CONFIG_PATH="$work/a prefix${pc#"$prefix"}" pkg-config --cflags --libs $name)
    eval "\"\$cc\" -std=c11 \"\$here/consumer.c\" -o \"\$work/spaced\" $flags \"-Wl,-rpath,\$libdir\""
    expect "$work/spaced"
done

step "weft::weft and pkg-config mean the same kind of library; the other one is there by name"
# kind PROGRAM: whether it needs libweft.so.
kind() { if ldd "$1" | grep -q libweft; then echo shared; else echo static; fi; }
is() { # want program
    got=$(kind "$2")
    [ "$got" = "$1" ] || { echo "FAILED: $2 is linked $got, not $1"; exit 1; }
}
is shared "$work/shared"
# shellcheck disable=SC2046
"$cc" -std=c11 "$here/consumer.c" -o "$work/archive" $(pkg-config --cflags --libs weft-static)
expect "$work/archive"
is static "$work/archive"
cmake -G Ninja -S "$here" -B "$work/archived" -DHOW=package -DPROGRAM="$here/consumer.c" \
    -DCMAKE_PREFIX_PATH="$prefix" -DWEFT_VERSION="$version" -DCMAKE_C_COMPILER="$cc" \
    -Dweft_USE_STATIC_LIBS=ON -DCMAKE_BUILD_TYPE=Release >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/archived" --target consumer >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
expect "$work/archived/consumer"
is static "$work/archived/consumer"

step "optimised without a build type, as the host says with one"
# options FLAG...: the compiler options of one file of weft as a part of a host that is configured so.
options() {
    rm -rf "$work/typed"
    cmake -G Ninja -S "$here" -B "$work/typed" -DHOW=source -DPROGRAM="$here/consumer.c" \
        -DWEFT_SOURCE_DIR="$source" -DCMAKE_C_COMPILER="$cc" "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
    ninja -C "$work/typed" -t commands | grep 'src/world/world\.c\.o' | grep -c -- "$pattern" || true
}
pattern=' -O3 -DNDEBUG '
[ "$(options)" = 1 ] || { echo "FAILED: no -O3 without a build type"; exit 1; }
grep -q 'no CMAKE_BUILD_TYPE was given' "$work/log" || { echo "FAILED: no notice"; exit 1; }
pattern=' -O[0-9]'
[ "$(options -DCMAKE_BUILD_TYPE=Debug)" = 0 ] || { echo "FAILED: Debug was optimised"; exit 1; }
! grep -q 'no CMAKE_BUILD_TYPE was given' "$work/log" || { echo "FAILED: a notice with a type"; exit 1; }
pattern=' -O3'
[ "$(options -DCMAKE_C_FLAGS=-O1)" = 0 ] || { echo "FAILED: the host's -O1 was overridden"; exit 1; }

step "all of weft with shared libraries alone can be configured"
cmake -G Ninja -S "$source" -B "$work/top" -DBUILD_SHARED_LIBS=ON -DCMAKE_C_COMPILER="$cc" \
    >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

if [ -d "$libdir/.debug" ]; then
    step "debug information lies apart"
    # has FILE: how many of its parts hold debug information.
    has() { objdump -h "$1" | grep -c '\.debug_info' || true; }
    for file in "$libdir/libweft.a" "$libdir/libweft.so" "$prefix/bin/weft"; do
        [ "$(has "$file")" = 0 ] || { echo "FAILED: $file holds debug information"; exit 1; }
    done
    for file in "$libdir/.debug/libweft.a" "$libdir"/.debug/libweft.so.*.debug "$prefix/bin/.debug/weft.debug"; do
        [ "$(has "$file")" != 0 ] || { echo "FAILED: $file holds no debug information"; exit 1; }
    done
else
    ! grep -q '^CMAKE_BUILD_TYPE:STRING=Release$' "$build/CMakeCache.txt" ||
        { echo "FAILED: a Release build installs no debug information"; exit 1; }
fi

# Each compiles all of weft, 40 s of processor time: ./check lets one of them run with a commit of this test's turn (tests/turns.txt).
ways="package source shared"
if [ -n "${WEFT_TURN-}" ]; then
    if [ $((WEFT_TURN / 2 % 2)) = 0 ]; then ways="package source"; else ways="package shared"; fi
fi
for how in $ways; do
    [ "$how" != shared ] || how="source BUILD_SHARED_LIBS CMAKE_UNITY_BUILD"
    step "CMake, $how"
    more=
    for option in ${how#* }; do [ "$how" = "$option" ] || more="$more -D$option=ON"; done
    how=${how%% *}${more:+-shared}
    # shellcheck disable=SC2086 # a list
    cmake -G Ninja -S "$here" -B "$work/$how" -DHOW=${how%-*} -DPROGRAM="$here/consumer.c" $more \
        -DCMAKE_PREFIX_PATH="$prefix" -DWEFT_SOURCE_DIR="$source" -DWEFT_VERSION="$version" \
        -DWEFT_WITH_MPI=OFF -DCMAKE_C_COMPILER="$cc" ${cxx:+-DCMAKE_CXX_COMPILER="$cxx"} \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O0 -DNDEBUG" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; } # linking is tried, not speed
    cmake --build "$work/$how" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    expect "$work/$how/consumer"
    expect "$work/$how/consumer_shard"
    if [ "$how" = source ]; then is static "$work/$how/consumer"; else is shared "$work/$how/consumer"; fi
    [ "$how" != package ] || is static "$work/$how/consumer_static"
    [ "$how" != package ] || expect "$work/$how/consumer_shared"
    [ ! -x "$work/$how/consumer_inspect" ] || expect "$work/$how/consumer_inspect" "$work"
    [ -z "$cxx" ] || expect "$work/$how/consumer_cpp"
    # A sub-project must not build tests, tools or warnings-as-errors into the host.
    [ ! -e "$work/$how/weft" ] && [ ! -e "$work/$how/tests" ]
done
! [ -e "$work/source/consumer_shard" ] || ! ldd "$work/source/consumer_shard" | grep -q libmpi || { echo "FAILED: MPI is linked although it is off"; exit 1; }
echo "consumer programs built and run by pkg-config (shared, static), find_package and add_subdirectory"
