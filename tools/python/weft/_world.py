# SPDX-License-Identifier: MIT
"""_world: World, which is made of its parts: each module has those of its subject."""
from . import _native
from ._commands import Commands
from ._components import Components
from ._entities import Entities
from ._files import Files
from ._query import Query
from ._systems import Systems


class World(Components, Entities, Systems, Files):
    """Entities and all that belongs to them. `workers`: threads for systems in C; 0: all cores."""

    def __init__(self, workers=0):
        self._native = _native.World(workers=workers)
        self._components = {}
        self._systems = []  # (name, function, query, is_before)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        """Ends the world. Refused while a view of a column lives."""
        self._native.close()

    def query(self, **terms):
        """write=[...], read=[...], optional=[...], having=[...], without=[...], any=[...]."""
        return Query(self, **terms)

    def commands(self):
        return Commands(self)
