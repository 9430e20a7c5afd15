# SPDX-License-Identifier: MIT
"""Builds the Python package weft: `pip install .` here, or `pip wheel .`; a C compiler is enough.

libweft comes in as one file (tools/amalgamate; a source distribution holds it already), so that neither
CMake nor Concurrency Kit is needed. The extension is for the stable ABI: one wheel for Python 3.11 and
later."""
import os
import re
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SINGLE = os.path.join("build", "single")  # weft.c and weft.h, for the compiler


def amalgamate():
    """weft.c, weft.h and the version; the folder of the package gets weft.h for systems in C."""
    os.chdir(HERE)
    tool = os.path.join(ROOT, "tools", "amalgamate")
    if os.path.exists(tool):
        subprocess.run([sys.executable, tool, SINGLE], check=True)
    with open(os.path.join(SINGLE, "weft.h"), encoding="utf-8") as file:
        header = file.read()
    return ".".join(re.search(rf"#define WEFT_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))


class BuildPackage(build_py):
    """weft.h goes into the package: weft.get_include()."""

    def run(self):
        super().run()
        include = os.path.join(self.build_lib, "weft", "include")
        os.makedirs(include, exist_ok=True)
        self.copy_file(os.path.join(SINGLE, "weft.h"), include)


VERSION = amalgamate()
SOURCES = [os.path.join("native", name) for name in sorted(os.listdir("native")) if name.endswith(".c")]
setup(
    name="weft",
    version=VERSION,
    description="Parallel Entity Component System: columns are NumPy arrays",
    license="MIT",
    python_requires=">=3.11",
    install_requires=["numpy>=1.24"],
    packages=["weft"],
    package_data={"weft": ["py.typed", "*.pyi"]},
    ext_modules=[Extension(
        "weft._native", sources=SOURCES + [os.path.join(SINGLE, "weft.c")], include_dirs=["native", SINGLE],
        define_macros=[("WEFT_SINGLE_FILE", "1")], libraries=["pthread", "dl"],
        extra_compile_args=["-std=gnu17", "-g0", "-fvisibility=hidden", "-ffp-contract=off"], py_limited_api=True)],
    cmdclass={"build_py": BuildPackage},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
