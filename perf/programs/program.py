# SPDX-License-Identifier: MIT
"""program.py: whole programs in Python: what a side of one is.

NAME_weft.py has the model of NAME.h in NumPy, and three sides of it: Columns (systems of Python over the columns of weft), Compiled
(systems in C, by weft.c, with the rules of NAME.h) and Plain (NumPy without weft). All have the content of the sides in C
(program.h), and the worlds their hash. tests/programs/python.py compares them, compare.py times them."""
import ctypes
import importlib
import os
import sys

import numpy as np
from weft import _native

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = [f"-I{HERE}", f"-I{os.path.join(HERE, '..', '..', 'jobs', 'base', 'include')}"]  # of weft.c: the headers of the models
NAMES = ("defence", "epidemic", "flock", "traffic")
LOOK_EVERY = 8

sys.path.insert(0, HERE)


def sides(name):
    """{"columns", "compiled", "numpy": the class of this side}, which takes a size and has step, content and world."""
    module = importlib.import_module(name + "_weft")
    return {"columns": module.Columns, "compiled": module.Compiled, "numpy": module.Plain}


def run(side, size, steps):
    """(content of all looks, hash of the world) of a side, as test_programs prints them."""
    made, contents = side(size), 0
    for number in range(1, steps + 1):
        made.step()
        if number % LOOK_EVERY == 0:
            contents = int(stir(contents, made.content()))
    return contents, None if made.world is None else made.world.hash(content=True)


def end_grid(world, resource):
    """Ends the grid that systems in C made: the resource has its address."""
    ctypes.CDLL(_native.__file__).weft_grid_destroy(ctypes.c_void_p(int(world.get_resource(resource)["grid"])))


def stir(state, value):
    """program_stir of arrays, or of numbers."""
    with np.errstate(over="ignore"):
        state = (np.asarray(state, "u8") ^ np.asarray(value, "u8")) * np.uint64(0x9E3779B97F4A7C15)
        return state ^ state >> np.uint64(29)


def stir_float(state, value):
    """program_stir_float of arrays."""
    return stir(state, np.ascontiguousarray(value, "f4").view("u4"))


def total(*sums):
    """The sum of the states of all things."""
    with np.errstate(over="ignore"):
        return sum((int(np.sum(each, dtype="u8")) for each in sums), 0) % 2 ** 64
