# SPDX-License-Identifier: MIT
"""weft: a parallel Entity Component System; columns are NumPy arrays over its memory.

    world = weft.World()
    Position = world.component("Position", "3f4")
    Velocity = world.component("Velocity", "3f4")
    world.create_many(1000, {Position: 0, Velocity: [1, 0, 0]})

    @world.system(write=[Position], read=[Velocity])
    def move(s):
        s[Position] += s[Velocity] * s.dt

    world.step(1 / 60)

Columns are not copied. They may be used while their loop runs: a view that outlives it is an error
(BufferError), and until it is gone the world refuses every call that could move what it shows.
"""
import os
import sys

try:
    import numpy  # noqa: F401 (first, for the sentence)
except ImportError as error:
    raise ImportError(f"weft needs NumPy, which this interpreter lacks: {sys.executable} -m pip install numpy") from error

from ._commands import Commands
from ._compiled import CompileError, c
from ._entity import Entity, entity
from ._errors import CLASSES, Error
from ._grid import Grid, Pairs
from ._native import Snapshot
from ._query import Query, Slice
from ._random import Random
from ._relations import Observation
from ._scenes import Live, Scene
from ._sum import Sum, exact_sum
from ._systems import Context
from ._values import Component
from ._world import World

globals().update({kind.__name__: kind for kind in CLASSES.values()})
__all__ = ["World", "Component", "Query", "Slice", "Context", "Commands", "Snapshot", "Random", "Entity", "entity",
           "Observation", "Scene", "Live", "Grid", "Pairs", "Sum", "exact_sum", "get_include", "c", "CompileError", "Error", *(kind.__name__ for kind in CLASSES.values())]
__version__ = "0.1.0"


def get_include():
    """The folder of weft.h, for systems in C."""
    return os.path.join(os.path.dirname(__file__), "include")
