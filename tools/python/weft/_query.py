# SPDX-License-Identifier: MIT
"""_query: queries, their loops, and slices, whose columns are arrays over the memory of the world."""
import gc
import traceback
import weakref

import numpy

from . import _native
from ._values import _component, entity


class Slice:
    """Rows of one loop position: s[Position] is their column, without copying."""

    __slots__ = ("_slice", "_places", "_given", "commands")

    def __init__(self, native, places, commands):
        self._slice, self._places, self.commands = native, places, commands
        self._given = {}  # weak references to the arrays: they end with the caller's variables

    def __len__(self):
        return self._slice.count()

    def __getitem__(self, component):
        """The column; None where an optional component is absent. Writable if the query writes it."""
        place = self._places.get(component)
        if place is None:
            raise KeyError(f"{component!r} is not a column of this query")
        column = self._slice.column(place)
        if column is None:
            return None
        array = numpy.frombuffer(column, component.dtype)
        self._given[component] = weakref.ref(array)
        return array

    def __setitem__(self, component, values):
        """s[Position] = array, and what `s[Position] += array` ends with."""
        given = self._given.get(component)
        if given is not None and given() is values:
            return
        column = self[component]
        if column is None:
            raise KeyError(f"the rows have no {component.name}")
        column[...] = values

    @property
    def dt(self):
        """Seconds of the step."""
        return self._slice.dt()

    @property
    def entities(self):
        """The entities of the rows (a copy)."""
        return numpy.frombuffer(self._slice.entities(), entity)

    @property
    def enabled(self):
        """A boolean for each row: whether the components asked for are enabled; None: all are."""
        mask = self._slice.enabled()
        return None if mask is None else numpy.frombuffer(mask, bool)


class _Slices:
    """An open loop: `with query.slices() as slices: for s in slices: ...`."""

    def __init__(self, query, dt=0.0, commands=None):
        self._query, self._dt, self._commands, self._loop = query, dt, commands, None

    def __enter__(self):
        if self._loop is not None:
            raise RuntimeError("this loop was entered already: call query.slices() again")
        self._loop = self._query._native.begin(self._dt)
        return self

    def __iter__(self):
        if self._loop is None:
            raise RuntimeError("a loop over slices needs `with query.slices() as slices:`")
        while (native := self._loop.next()) is not None:
            yield Slice(native, self._query._places, self._commands)
            del native

    def __exit__(self, kind, value, trace):
        views = self._loop.end()
        if views and kind is None:
            gc.collect()
            views = self._loop.end()
            if views:
                raise BufferError(f"{views} view(s) of the columns are still alive: del the arrays before the loop "
                                  "ends, or make the loop a function: query.each(function)")
        return False


class Query:
    """What selects rows: made by World.query."""

    def __init__(self, world, write=(), read=(), optional=(), without=(), having=(), any=()):
        self.world = world
        self._places, terms = {}, []
        writes = [_component(c) for c in write]
        for component, access, match in ([(c, _native.WRITE, _native.ALL) for c in writes]
                                         + [(c, _native.READ, _native.ALL) for c in read]
                                         + [(c, _native.READ, _native.OPTIONAL) for c in optional]
                                         + [(c, _native.NO_ACCESS, _native.ALL) for c in having]
                                         + [(c, _native.NO_ACCESS, _native.NONE) for c in without]
                                         + [(c, _native.NO_ACCESS, _native.ANY) for c in any]):
            _component(component)
            if access != _native.NO_ACCESS:
                if component.dtype is None:
                    raise TypeError(f"{component.name} is a tag: name it in `having`, `without` or `any`")
                self._places[component] = len(terms)
            terms.append((component.number, access, match))
        self._terms = terms
        self._native = world._native.query(terms)

    def __len__(self):
        return self._native.count()

    def slices(self):
        """A loop over the rows, slice by slice: a context manager."""
        return _Slices(self)

    def each(self, function):
        """Calls function(slice) for every slice; its arrays end with the call."""
        self._run(function, 0.0, None)

    def _run(self, function, dt, commands):
        slices = _Slices(self, dt, commands)
        with slices:
            try:
                for s in slices:
                    function(s)
                    s = None
            except BaseException as error:
                traceback.clear_frames(error.__traceback__)
                raise

    @property
    def entities(self):
        """The entities of all rows (a copy)."""
        return numpy.frombuffer(self._native.entities(), entity)

    def read(self, component):
        """The values of all rows (a copy), zero where there is none."""
        values = self._native.read_values(_component(component).number)
        return numpy.frombuffer(values, component.dtype)

    def write(self, component, values):
        """Sets the values of all rows, in the order of `entities`."""
        count = self._native.count()
        self._native.write_values(_component(component).number, component._bytes(values, count))
