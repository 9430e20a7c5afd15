# SPDX-License-Identifier: MIT
# setup.sh: sourced by ./run, ./check and .ci/run: installs what is missing, builds a preset.
#
# Expects $root (the repository) and $log (a directory for logs). Prints one line per step; what a
# tool says goes to the logs. A step that cannot be done says what to do and ends the script with 2.

say() { printf '%s\n' "$*"; }
die() {
    printf '%s\n' "$*" >&2
    exit 2
}

# has PACKAGE PROBE: is it there? PROBE is for systems without dpkg: a command, a header (x.h), or a
# Python module (x.py).
has() {
    if command -v dpkg-query >/dev/null 2>&1; then
        case $(dpkg-query -W -f='${Status}' "$1" 2>/dev/null) in *"ok installed"*) return 0 ;; esac
    fi
    case $2 in
    *.py) python3 -c "import ${2%.py}" 2>/dev/null ;;
    *.h) [ -e "/usr/include/$2" ] || [ -e "/usr/local/include/$2" ] ;;
    *) command -v "$2" >/dev/null 2>&1 ;;
    esac
}

# install PACKAGE:PROBE ...: installs the missing ones with apt-get, as root or through sudo.
install() {
    missing=
    for pair; do
        has "${pair%%:*}" "${pair#*:}" || missing="$missing ${pair%%:*}"
    done
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null 2>&1 ||
        die "Missing:$missing (Debian names). There is no apt-get here: install them by hand and start again."
    sudo=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null 2>&1 ||
            die "Missing:$missing. Install them as root (apt-get install$missing) and start again."
        sudo=sudo
    fi
    say "installing:$missing"
    # shellcheck disable=SC2086 # lists
    set -- $sudo env DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends install $missing
    if ! "$@" >"$log/install.log" 2>&1; then
        $sudo apt-get update >>"$log/install.log" 2>&1 || true
        "$@" >>"$log/install.log" 2>&1 || {
            tail -n 5 "$log/install.log" >&2
            die "Could not install:$missing (log: $log/install.log). Install them by hand and start again."
        }
    fi
}

# Compilations already made are not made again: of one preset after a change, of files that several
# test programs compile alike. A launcher that was chosen before stays. Called when install has run.
use_ccache() {
    command -v ccache >/dev/null 2>&1 || return 0
    export CMAKE_C_COMPILER_LAUNCHER="${CMAKE_C_COMPILER_LAUNCHER-ccache}"
    export CMAKE_CXX_COMPILER_LAUNCHER="${CMAKE_CXX_COMPILER_LAUNCHER-ccache}"
}

cores() { nproc 2>/dev/null || echo 2; }

# show FILE: copies standard input to a file; on a terminal, the lines "[n/m] ..." of ninja as one that moves.
show() {
    if [ -t 2 ]; then
        awk -v file="$1" '{ print >> file; fflush(file) }
            /^\[[0-9]+\/[0-9]+\]/ { printf "\r\033[K%.78s", $0 > "/dev/stderr" }
            END { printf "\r\033[K" > "/dev/stderr" }'
    else
        cat >>"$1"
    fi
}

# build PRESET [TARGET ...]: configures and builds build/PRESET; log in $log/build-PRESET.log. A cache that
# no longer fits (another compiler, a moved source tree) is thrown away once.
build() {
    preset=$1 file=$log/build-$1.log
    shift
    use_ccache
    if ! (cd "$root" && cmake --preset "$preset" ${cmake_options-}) >"$file" 2>&1; then
        rm -f "$root/build/$preset/CMakeCache.txt"
        (cd "$root" && cmake --preset "$preset" ${cmake_options-}) >>"$file" 2>&1 || return 1
    fi
    [ $# -eq 0 ] || set -- --target "$@"
    rm -f "$file.failed"
    { cmake --build "$root/build/$preset" -j "$(cores)" "$@" 2>&1 || : >"$file.failed"; } | show "$file"
    if [ -e "$file.failed" ]; then
        rm -f "$file.failed"
        return 1
    fi
}

build_packages="cmake:cmake ninja-build:ninja gcc:gcc libc6-dev:stdio.h libck-dev:ck_pr.h"
