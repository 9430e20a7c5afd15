# SPDX-License-Identifier: MIT
"""The build of the Python package (PEP 517), by the standard library and a C compiler alone: neither setuptools
nor CMake nor a network is needed, so every interpreter that has pip can build it.

libweft comes in as one file (tools/amalgamate; a source distribution holds it already). The extension is
for the stable ABI: one wheel for Python 3.11 and later. $CC and $CFLAGS count."""
import base64
import hashlib
import io
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SINGLE = os.path.join("build", "single")  # weft.c and weft.h, for the compiler
FLAGS = ["-std=gnu17", "-g0", "-fvisibility=hidden", "-ffp-contract=off", "-fPIC", "-shared", "-pthread"]
METADATA = """Metadata-Version: 2.1
Name: weft
Version: {version}
Summary: Parallel Entity Component System: columns are NumPy arrays
License: MIT
Requires-Python: >=3.11
Requires-Dist: numpy>=1.24
"""
WHEEL = """Wheel-Version: 1.0
Generator: build_weft
Root-Is-Purelib: false
Tag: {tag}
"""


def amalgamate():
    """Makes weft.c and weft.h; the version that they have."""
    os.chdir(HERE)
    tool = os.path.join(ROOT, "tools", "amalgamate")
    if os.path.exists(tool):
        subprocess.run([sys.executable, tool, "--scenes", SINGLE], check=True)
    with open(os.path.join(SINGLE, "weft.h"), encoding="utf-8") as file:
        header = file.read()
    return ".".join(re.search(rf"#define WEFT_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def compile_extension(out):
    """native/*.c and weft.c as one shared object."""
    include = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(include, "Python.h")):
        sys.exit(f"weft: {sys.executable} has no Python.h in {include}: install its headers (Debian: python3-dev)")
    sources = [os.path.join("native", name) for name in sorted(os.listdir("native")) if name.endswith(".c")]
    command = [*shlex.split(os.environ.get("CC", "cc")), "-O3", *FLAGS, *shlex.split(os.environ.get("CFLAGS", "")),
               "-DNDEBUG", "-DWEFT_SINGLE_FILE=1", "-Inative", f"-I{SINGLE}", f"-I{include}", *sources,
               os.path.join(SINGLE, "weft.c"), "-lm", "-ldl", "-o", out]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        sys.exit(f"weft: there is no C compiler `{command[0]}`: install one (Debian: gcc), or set CC")
    if done.returncode != 0:
        sys.exit(f"weft: {' '.join(command[:1])} refused:\n{done.stderr[-4000:]}")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """A wheel; its files, their times and their order are the same each time."""
    version = amalgamate()
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    tag = f"cp311-abi3-{platform}"
    name = f"weft-{version}-{tag}.whl"
    info = f"weft-{version}.dist-info"
    with tempfile.TemporaryDirectory() as folder:
        extension = os.path.join(folder, "_native.abi3.so")
        compile_extension(extension)
        files = {f"weft/{path}": read(os.path.join("weft", path)) for path in sorted(os.listdir("weft"))
                 if path.endswith((".py", ".pyi", ".typed"))}
        files["weft/_native.abi3.so"] = read(extension)
    files["weft/include/weft.h"] = read(os.path.join(SINGLE, "weft.h"))
    files[f"{info}/METADATA"] = METADATA.format(version=version).encode()
    files[f"{info}/WHEEL"] = WHEEL.format(tag=tag).encode()
    record = "".join(f"{path},sha256={digest(data)},{len(data)}\n" for path, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr = (0o755 if path.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """What the wheel is built from, libweft included: no other folder of the repository is needed."""
    version = amalgamate()
    top = f"weft-{version}"
    paths = ["pyproject.toml", "build_weft.py", f"{SINGLE}/weft.c", f"{SINGLE}/weft.h"]
    paths += [f"{folder}/{name}" for folder in ("native", "weft") for name in sorted(os.listdir(folder))
              if name.endswith((".c", ".h", ".py", ".pyi", ".typed"))]
    with tarfile.open(os.path.join(sdist_directory, top + ".tar.gz"), "w:gz") as archive:
        for path, data in [("PKG-INFO", METADATA.format(version=version).encode()), *((p, read(p)) for p in paths)]:
            entry = tarfile.TarInfo(f"{top}/{path}")
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    return top + ".tar.gz"


def read(path):
    with open(path, "rb") as file:
        return file.read()


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
