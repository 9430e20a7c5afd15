#!/bin/sh
# SPDX-License-Identifier: MIT
# wheel.sh PYTHON: builds the wheel from a copy of the tree as pip does, offline, installs it into an empty
# environment and uses it there: from Python, and a system in C compiled against weft.get_include().
set -eu
python=$1
source=$(cd "$(dirname "$0")/../.." && pwd)
"$python" -c "import setuptools, wheel, pip, venv" 2>/dev/null || { echo "skipped: python3-setuptools, python3-wheel, python3-pip, python3-venv"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$source/tools/python" "$work/package" # pip builds in place: the source stays clean
mkdir -p "$work/single"
"$python" "$source/tools/amalgamate" "$work/package/build/single"
cd "$work"
# -O0: the work of the optimiser is not what is tested here
CFLAGS="-O0 ${CFLAGS:-}" "$python" -m pip wheel --no-build-isolation --no-deps --no-index -w wheels ./package >log 2>&1 ||
    { tail -n 20 log; exit 1; }
wheel=$(ls wheels/weft-*-cp311-abi3-*.whl)
"$python" -m venv --system-site-packages --without-pip env
"$python" -m zipfile -l "$wheel" | grep -E 'weft/(py.typed|__init__.pyi|include/weft.h)' | wc -l | grep -qx 3 ||
    { echo "FAILED: stubs or weft.h are not in the wheel"; exit 1; }
"$python" -m pip --python env/bin/python install --no-deps --no-index "$wheel" >log 2>&1 ||
    "$python" -m zipfile -e "$wheel" "$(env/bin/python -c 'import site; print(site.getsitepackages()[0])')"
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
[ "$got" = "-700.0 True" ] || { echo "FAILED: the program printed '$got'"; exit 1; }
echo "$(basename "$wheel"), $(wc -c <"$wheel") bytes"
