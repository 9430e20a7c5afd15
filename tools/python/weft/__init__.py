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

from ._commands import Commands
from ._native import Error, Snapshot
from ._query import Query, Slice
from ._values import Component, entity
from ._world import World

__all__ = ["World", "Component", "Query", "Slice", "Commands", "Snapshot", "Error", "entity", "get_include"]
__version__ = "0.1.0"


def get_include():
    """The folder of weft.h, for systems in C."""
    return os.path.join(os.path.dirname(__file__), "include")
