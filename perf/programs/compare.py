# SPDX-License-Identifier: MIT
"""compare.py [NAME[=SIZE] ...]: the programs in Python, step by step in turn with what they are measured against: systems over
columns with NumPy without weft (bar: 1.1), compiled systems with the program in C (bar: 1.05), which is built with the same flags.
Prints CPU time of a step on this thread (sums of STEPS steps), and the ratio. Exits with 1 when one is over its bar."""
import ctypes
import os
import subprocess
import sys
import tempfile
import time

import weft
from weft import _compiled, _native

import program

WARM_UP, STEPS = 8, 24
SIZES = {"defence": 50000, "epidemic": 100000, "flock": 100000, "traffic": 100000}
LAYERS = ("jobs/base", "jobs", "ecs/blob", "ecs", "scheduler")


class Side(ctypes.Structure):
    """program_side of program.h."""

    _fields_ = [("open", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)),
                ("step", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
                ("content", ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)),
                ("hash", ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)),
                ("close", ctypes.CFUNCTYPE(None, ctypes.c_void_p))]


class InC:
    """A program in C, as a side in Python."""

    world = None

    def __init__(self, side, size):
        self.side, self.made = side, side.open(size, 1)

    def step(self):
        self.side.step(self.made)

    def content(self):
        return self.side.content(self.made)


def programs_in_c():
    """The library of the programs in C: its calls go to the libweft in the package."""
    ctypes.CDLL(_native.__file__, mode=ctypes.RTLD_GLOBAL)
    root = os.path.join(program.HERE, "..", "..")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "programs.so")
        subprocess.run(["cc", *_compiled.FLAGS, *(f"-I{root}/{layer}/include" for layer in LAYERS),
                        *(f"{program.HERE}/{name}.c" for name in program.NAMES), "-o", path], check=True)
        return ctypes.CDLL(path)


def measure(one, other):
    """CPU seconds of the steps of both, in turn."""
    for _ in range(WARM_UP):
        one.step()
        other.step()
    if one.content() != other.content():
        sys.exit("FAILED: the sides do not compute the same")
    spent = [0.0, 0.0]
    for number in range(STEPS * 2):
        which = (number + number // 2) % 2  # A B, B A
        begin = time.thread_time_ns()
        (one, other)[which].step()
        spent[which] += time.thread_time_ns() - begin
    return [total / STEPS / 1e6 for total in spent]


def main():
    failed, library = 0, programs_in_c()
    for argument in sys.argv[1:] or program.NAMES:
        name, _, size = argument.partition("=")
        size, sides = int(size or SIZES[name]), program.sides(name)
        in_c = Side.in_dll(library, f"{name}_weft")
        for one, other, made, bar in (("columns", "numpy", sides["numpy"], 1.1),
                                      ("compiled", "C", lambda size, side=in_c: InC(side, size), 1.05)):
            spent = measure(sides[one](size), made(size))
            ratio = spent[0] / spent[1]
            print(f"{name} {size}: {one} {spent[0]:.3f} ms, {other} {spent[1]:.3f} ms a step, ratio {ratio:.3f}"
                  + (f"; over {bar}" if ratio > bar else ""), flush=True)
            failed += ratio > bar
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
