# SPDX-License-Identifier: MIT
"""_world: World, which is made of its parts: each module has those of its subject."""
from . import _native
from ._commands import Commands
from ._compiled import Compiled
from ._components import Components
from ._entities import Entities
from ._files import Files
from ._query import Query
from ._relations import Relations
from ._scenes import Scenes
from ._systems import Systems
from ._tools import Tools


class World(Components, Entities, Systems, Compiled, Relations, Scenes, Files, Tools):
    """Entities and all that belongs to them. `workers`: threads for systems in C; 0: all cores."""

    def __init__(self, workers=0):
        self._native = _native.World(workers=workers)
        self._components, self._builtins = {}, {}  # by number; by name
        self._systems, self._groups, self._is_stepping = [], {}, False
        self._order = None  # of the systems, once it was asked for
        self._observers = []  # (function, component)
        self._compiled, self._kept = 0, []  # systems made by c(), and queries that they use

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        """Ends the world. Refused while a view of a column lives."""
        self._native.close()

    def query(self, **terms):
        """What selects rows. write, read: columns; optional: columns to read where they are; having, without, any:
        components that an entity has, lacks, or has one of; disabled: has it, switched off; present, absent: whatever is
        switched off. with_prefabs, with_inactive: also entities with these tags; ignores_enabled: all count as switched on."""
        return Query(self, **terms)

    def commands(self):
        return Commands(self)
