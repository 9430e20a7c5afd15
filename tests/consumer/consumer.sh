#!/bin/sh
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
[ "$("$prefix/bin/weft" --version)" = "weft $version" ]

step "pkg-config, shared and static, strict C11"
pc=$(dirname "$(find "$prefix" -name weft.pc)")
export PKG_CONFIG_PATH="$pc"
[ "$(pkg-config --modversion weft)" = "$version" ]
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

for how in package source; do
    step "CMake, $how"
    cmake -G Ninja -S "$here" -B "$work/$how" -DHOW=$how -DPROGRAM="$here/consumer.c" \
        -DCMAKE_PREFIX_PATH="$prefix" -DWEFT_SOURCE_DIR="$source" -DWEFT_VERSION="$version" \
        -DCMAKE_C_COMPILER="$cc" ${cxx:+-DCMAKE_CXX_COMPILER="$cxx"} -DCMAKE_BUILD_TYPE=Release >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    cmake --build "$work/$how" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    expect "$work/$how/consumer"
    [ "$how" = source ] || expect "$work/$how/consumer_shared"
    [ -z "$cxx" ] || expect "$work/$how/consumer_cpp"
    # A sub-project must not build tests, tools or warnings-as-errors into the host.
    [ ! -e "$work/$how/weft" ] && [ ! -e "$work/$how/tests" ]
done
echo "consumer programs built and run by pkg-config (shared, static), find_package and add_subdirectory"
