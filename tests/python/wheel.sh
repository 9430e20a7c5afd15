#!/bin/sh
# SPDX-License-Identifier: MIT
# wheel.sh PYTHON: builds the package from a copy of the tree as pip does, offline, and installs it into an empty
# environment. PYTHON has NumPy: used there from Python, with a system in C compiled against weft.get_include(). Other interpreters,
# without NumPy and first in PATH, build and install it, too, and say on import what is missing.
set -eu
python=$1
source=$(cd "$(dirname "$0")/../.." && pwd)
fail() { echo "FAILED: $*"; exit 1; }
"$python" -c "import pip, venv" 2>/dev/null || { echo "skipped: python3-pip, python3-venv"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$source/tools/python" "$work/package" # pip builds in place: the source stays clean
"$python" "$source/tools/amalgamate" --scenes "$work/package/build/single"
cd "$work"
# -O0: the work of the optimiser is not what is tested here
export CFLAGS="-O0 ${CFLAGS:-}"
build() { "$1" -m pip wheel --no-deps --no-index -w "$2" "$3" >log 2>&1 || { tail -n 20 log; fail "$1 builds no wheel"; }; }
install_into() { # ENVIRONMENT WHEEL
    "$python" -m pip --python "$1/bin/python" install --no-deps --no-index "$2" >log 2>&1 ||
        "$python" -m zipfile -e "$2" "$("$1/bin/python" -c 'import site; print(site.getsitepackages()[0])')"
}
build "$python" wheels ./package
wheel=$(ls wheels/weft-*-cp311-abi3-*.whl)
"$python" -m zipfile -l "$wheel" | grep -E 'weft/(py.typed|__init__.pyi|include/weft.h)' | wc -l | grep -qx 3 ||
    fail "stubs or weft.h are not in the wheel"
"$python" -m venv --system-site-packages --without-pip env
install_into env "$wheel"
cat >app.py <<'EOF'
import sys
import weft
world = weft.World(workers=1)
position = world.component("Position", "3f4")
world.create_many(100, {position: 1})
world.system_in_c("fall", sys.argv[1], write=[position])
world.step(1)
print(world.query(read=[position]).read(position).sum(), weft.__file__.startswith(sys.prefix))
EOF
sed 's|<weft/weft.h>|"weft.h"|' "$source/tests/python/fall.c" >fall.c
cc -O1 -shared -fPIC -I"$(env/bin/python -c 'import weft; print(weft.get_include())')" fall.c -o fall.so
got=$(env/bin/python app.py ./fall.so)
[ "$got" = "-700.0 True" ] || fail "the program printed '$got'"

# Another interpreter: first in PATH, without NumPy.
others=0
for other in $(command -v python3) /usr/bin/python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-9].*/bin/python3; do
    "$other" -c "import sys, venv, pip; assert sys.version_info >= (3, 11)" 2>/dev/null || continue
    [ "$others" -lt 2 ] && [ "$("$other" -c 'import sys; print(sys.base_prefix)')" != "$("$python" -c 'import sys; print(sys.base_prefix)')" ] || continue
    others=$((others + 1))
    "$other" -m venv --without-pip "other$others"
    PATH="$work/other$others/bin:$PATH" build "$other" "by$others" ./package
    install_into "other$others" "$(ls "by$others"/weft-*-cp311-abi3-*.whl)"
    said=$("other$others/bin/python" -c "import weft" 2>&1) && fail "weft works without NumPy"
    echo "$said" | tail -n 1 | grep -q "ImportError: weft needs NumPy.*other$others/bin/python.* -m pip install numpy" || fail "without NumPy: $said"
done
echo "$(basename "$wheel"), $(wc -c <"$wheel") bytes, $others other interpreters"
