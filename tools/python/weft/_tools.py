# SPDX-License-Identifier: MIT
"""_tools: the part of World about what there is, how much of it, and how long it took."""
import operator

import numpy

from . import _native
from ._entity import entity
from ._errors import NotFoundError

_TEXTS = ("ambiguities", "sync points", "chain", "json")


class Tools:
    """Figures and lists of a World."""

    @property
    def stats(self):
        """Counts and bytes, by their names in C (weft_world_stats); "components" are its types, "bytes" all bytes."""
        figures = self._native.stats()
        return {**figures, "components": figures["component_types"], "bytes": figures["bytes_total"]}

    @property
    def frame_stats(self):
        """Counts and times of the steps of systems in C, by their names in C (weft_frame_stats). Times need measure()."""
        return self._native.frame_stats()

    def measure(self, measured=True, *, parallel=True, fused=True):
        """Whether times of systems are taken; and for experiments, whether systems in C run on several workers, and together."""
        self._native.schedule_set(bool(measured), bool(parallel), bool(fused))

    @property
    def components(self):
        """The components and tags that were registered, in their order; resources are in `resources`."""
        return [c for c in self._components.values() if not c.flags & _native.RESOURCE]

    @property
    def resources(self):
        return [c for c in self._components.values() if c.flags & _native.RESOURCE]

    @property
    def archetypes(self):
        """A dict for each combination of components: their names, entities, bytes and the like (weft_archetype_stats)."""
        return self._native.archetypes()

    @property
    def systems(self):
        """A dict for each system: its name, group, `language`, `is_enabled`, what it `reads` and `writes`, and of systems in C
        figures of the last run (weft_system_stats)."""
        listed = []
        for system in self._systems:
            reads, writes = system.touched()
            listed.append({"name": system.name, "group": system.group, "language": "Python", "is_enabled": system.is_enabled,
                           "period": system.rate.period if system.rate is not None else 0.0, "reads": reads, "writes": writes,
                           "runs": system.runs})
        return listed + [{**system, "language": "C"} for system in self._native.systems()]

    def schedule(self, what="sync points", *systems):
        """A text about the schedule of systems in C: "ambiguities", "sync points", "chain" (what the last step waited for),
        "json", or "order" of two systems: why one runs before the other."""
        if what == "order":
            if len(systems) != 2:
                raise ValueError("order needs the names of two systems")
            known = {system["name"] for system in self._native.systems()}
            for name in systems:
                if name not in known:
                    raise NotFoundError(f"there is no system {name!r} in C: those of Python run as `systems` lists them")
            return self._native.schedule_text("", *systems)
        if what not in _TEXTS or systems:
            raise ValueError(f"what is one of {', '.join(_TEXTS)}, or order with two names, not {what!r}")
        return self._native.schedule_text(what)

    def search(self, part=""):
        """Entities whose name contains a text, whatever the case; "": all with a name."""
        return numpy.frombuffer(self._native.search(part), entity)

    def shared_values(self, component):
        """The values of a shared component that are in use; the default, zero, is the first."""
        return numpy.frombuffer(self._native.shared_values(self._own(component).number), component.dtype)

    def relation_stats(self, relation):
        """Counts of a relation, by their names in C (weft_relation_stats)."""
        return self._native.relation_stats(self._own(relation).number)

    def compact(self, rows=2 ** 64 - 1):
        """Merges chunks that are not full, moving at most so many rows; how many it moved."""
        if isinstance(rows, bool) or not 0 <= operator.index(rows) < 2 ** 64:
            raise OverflowError(f"{rows} is no number of rows")
        return self._native.compact(rows)

    def clear_references(self):
        """Sets fields of weft.entity that lead to a dead entity to none; how many."""
        return self._native.clear_references()
