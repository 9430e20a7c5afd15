# SPDX-License-Identifier: MIT
"""_query: queries, their loops, and slices, whose columns are arrays over the memory of the world."""
import gc
import operator
import sys
import traceback
import weakref

import numpy

from . import _native
from ._all import AllRows
from ._entity import Entity, entity
from ._errors import InvalidArgumentError
from ._random import each
from ._values import Component, component_of


class Slice:
    """Rows of one loop position: s[Position] is their column, without copying."""

    __slots__ = ("_slice", "_query", "_given", "_context")

    def __init__(self, native, query, context):
        self._slice, self._query, self._context = native, query, context
        self._given = {}  # weak references to the arrays: they end with the caller's variables

    def __len__(self):
        return self._slice.count()

    def _place(self, component):
        place = self._query._places.get(component_of(self._query.world, component))
        if place is None:
            raise KeyError(f"{component.name} is not a column of this query: name it in write, read or optional")
        return place

    def __getitem__(self, component):
        """The column; None where an optional component is absent. Writable if the query writes it.

        Copies, which are written back by s[component] = ...: of a sparse component the values of the rows, of a
        shared and of a chunk component the one value of all rows, of a buffer a list of arrays, one for each row."""
        place = self._place(component)
        if not component.is_plain:
            values = self._slice.values(place)
            if values is None:
                return None
            if component.flags & _native.BUFFER:
                return [numpy.frombuffer(row, component.dtype) for row in values]
            array = numpy.frombuffer(values, component.dtype)
            return array if component.flags & _native.SPARSE else array[0]
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
        place = self._place(component)
        if not component.is_plain:
            self._slice.set_values(place, self._other(component, values))
            return
        column = self[component]
        if column is None:
            raise KeyError(f"the rows have no {component.name}")
        if not column.flags.writeable:
            raise ValueError(f"{component.name} is in `read` of the query, not in `write`")
        old = column.copy() if isinstance(values, dict) else None
        column.view("u1").reshape(-1)[...] = component._bytes(values, len(column), old).view("u1").reshape(-1)

    def _other(self, component, values):
        """What the extension writes of a component without a column."""
        if component.flags & _native.BUFFER:
            return [component._elements(row) for row in values]
        if component.flags & _native.CHUNK:
            return component._bytes(values, old=self[component])
        if component.flags & _native.SHARED:
            raise TypeError(f"{component.name} is shared by entities: world.set or commands.set gives an entity another")
        return component._bytes(values, len(self), self[component])

    @property
    def dt(self):
        """Seconds of the step; at a fixed rate its period."""
        return self._slice.dt()

    @property
    def world(self):
        """For look-ups, and resources: s.world.get(entity, Position), s.world.set_resource(Clock, 3)."""
        return self._query.world

    @property
    def frame(self):
        """The number of the step, from 1; 0 outside systems."""
        return self._context.frame if self._context is not None else 0

    @property
    def time(self):
        """Seconds: the sum of the dt of all steps, this one included; 0 outside systems."""
        return self._context.time if self._context is not None else 0.0

    @property
    def commands(self):
        """Changes that are made after the system: s.commands.destroy(entity); None outside systems."""
        return self._context.commands if self._context is not None else None

    def random(self, seed=0, stream=0):
        """A number in [0, 1) for each row, as weft_random_float(weft_random_of(seed, index of the entity, number
        of the step, stream)) gives it: the same in each run."""
        return each(seed, self.entities, self.frame, stream).float()

    def randoms(self, seed=0, stream=0):
        """Generators for the rows: weft_random_of(seed, index of the entity, number of the step, stream), as Random."""
        return each(seed, self.entities, self.frame, stream)

    @property
    def entities(self):
        """The entities of the rows (a copy)."""
        return numpy.frombuffer(self._slice.entities(), entity)

    @property
    def enabled(self):
        """A boolean for each row: whether the components asked for are enabled; None: all are."""
        mask = self._slice.enabled()
        return None if mask is None else numpy.frombuffer(mask, bool)


class Whole(Slice):
    """All rows at once: s[Position] is a copy of the values of all slices, one after the other, of a shared component
    one for each row. Copies of components in `write` are written back when the function has returned."""

    __slots__ = ("_copies",)

    def __init__(self, query, context):
        super().__init__(None, query, context)
        self._copies = {}

    def __len__(self):
        return len(self._query)

    def __getitem__(self, component):
        self._place(component)
        if component not in self._copies:
            self._copies[component] = self._copied(component)
        return self._copies[component]

    def _copied(self, component):
        if component.flags & (_native.SPARSE | _native.BUFFER | _native.CHUNK):
            raise TypeError(f"{component.name} has no column: a system over it has no whole=True")
        return self._query._rows(component.number, component.dtype)

    def __setitem__(self, component, values):
        column = self[component]
        if column is not values:
            if not self._is_written(component):
                raise ValueError(f"{component.name} is in `read` of the query, not in `write`")
            column[...] = component._bytes(values, len(self), column if isinstance(values, dict) else None)

    def _is_written(self, component):
        return self._query._terms[self._query._places[component]][1] == _native.WRITE

    @property
    def dt(self):
        return self._context.dt

    @property
    def parts(self):
        """The rows of each slice, as a slice of Python: s.entities[part]."""
        ends = [0, *numpy.cumsum(numpy.frombuffer(self._query._native.lengths(), "u4"), dtype="i8").tolist()]
        return [slice(*pair) for pair in zip(ends, ends[1:])]

    def _write_back(self):
        for component, values in self._copies.items():
            if component is not None and self._is_written(component):
                self._query._native.write_values(component.number, numpy.ascontiguousarray(values))

    @property
    def entities(self):
        """The entities of the rows (a copy)."""
        if None not in self._copies:
            self._copies[None] = self._query._rows(None, entity)
            self._copies[None].flags.writeable = False
        return self._copies[None]

    @property
    def enabled(self):
        """A boolean for each row: all are, the others are left out."""
        return numpy.ones(len(self), bool)


class _Slices:
    """An open loop: `with query.slices() as slices: for s in slices: ...`."""

    def __init__(self, query, dt=0.0, context=None):
        self._query, self._dt, self._context, self._loop = query, dt, context, None

    def __enter__(self):
        if self._loop is not None:
            raise RuntimeError("this loop was entered already: call query.slices() again")
        self._loop = self._query._native.begin(self._dt)
        return self

    def __iter__(self):
        if self._loop is None:
            raise RuntimeError("a loop over slices needs `with query.slices() as slices:`")
        while (native := self._loop.next()) is not None:
            yield Slice(native, self._query, self._context)
            del native

    def __exit__(self, kind, value, trace):
        if self._loop is None:
            raise RuntimeError("this loop was not entered")
        views = self._loop.end()
        if views and kind is None:
            gc.collect()
            views = self._loop.end()
            if views:
                raise BufferError(f"{views} view(s) of the columns are still alive: del the arrays before the loop "
                                  "ends, or make the loop a function: query.each(function)")
        return False


class Query(AllRows):
    """What selects rows: made by World.query."""

    def __init__(self, world, *, write=(), read=(), optional=(), without=(), having=(), any=(), disabled=(), absent=(), present=(),
                 with_prefabs=False, with_inactive=False, ignores_enabled=False):
        self.world = world
        self._places, self._terms, named = {}, [], {}
        self._kept = {}  # memory of the last copies of all rows, by number
        for word, components, access, match in (
                ("write", write, _native.WRITE, _native.ALL), ("read", read, _native.READ, _native.ALL),
                ("optional", optional, _native.READ, _native.OPTIONAL),
                ("having", having, _native.NO_ACCESS, _native.ALL),
                ("without", without, _native.NO_ACCESS, _native.NONE), ("any", any, _native.NO_ACCESS, _native.ANY),
                ("disabled", disabled, _native.NO_ACCESS, _native.DISABLED),
                ("absent", absent, _native.NO_ACCESS, _native.ABSENT), ("present", present, _native.NO_ACCESS, _native.PRESENT)):
            for component in [components] if isinstance(components, Component) else components:
                component_of(world, component)
                if component in named:
                    raise ValueError(f"{component.name} is in `{named[component]}` and in `{word}`: name it once"
                                     + (" (what is written can be read)" if word == "read" else ""))
                named[component] = word
                if access != _native.NO_ACCESS:
                    if component.dtype is None:
                        raise TypeError(f"{component.name} is a tag: name it in `having`, `without` or `any`")
                    self._places[component] = len(self._terms)
                self._terms.append((component.number, access, match))
        self._native = world._native.query(self._terms, with_prefabs, with_inactive, ignores_enabled)

    def __len__(self):
        return self._native.count()

    def __bool__(self):
        return not self._native.is_empty()

    def __contains__(self, entity):
        """Whether the query selects the entity."""
        return self._native.matches(Entity(entity))

    def single(self):
        """The one entity that the query selects: weft.NotFoundError where there is none, weft.InvalidArgumentError where there are
        several."""
        return Entity(self._native.single())

    def slices(self):
        """A loop over the rows, slice by slice: a context manager."""
        return _Slices(self)

    def each(self, function):
        """Calls function(slice) for every slice; its arrays end with the call."""
        self._run(function, 0.0, None)

    def changed(self, component, since):
        """Selects slices in which the component changed after `since`, a world.change_version; of several
        components those in which any did. None: takes all filters away."""
        if component is None:
            self._native.filter_changed()
        else:
            component_of(self.world, component)
            self._has_term(component)
            self._native.filter_changed(component.number, _version(since))

    def moved(self, since):
        """Selects slices in which rows came, left or moved after `since`, a world.change_version."""
        self._native.filter_order(_version(since))

    def where(self, component, *values):
        """Selects rows whose shared component has this value, or one of these."""
        op = _native.FILTER_EQUAL if len(values) == 1 else _native.FILTER_ONE_OF
        self._filter(component, op, values)

    def where_not(self, component, value):
        """Selects rows whose shared component has another value."""
        self._filter(component, _native.FILTER_NOT_EQUAL, [value])

    def _filter(self, component, op, values):
        if not component_of(self.world, component).flags & _native.SHARED:
            raise TypeError(f"{component.name} is not shared: read its column, and pick rows by NumPy")
        self._has_term(component)
        if not values:
            raise ValueError(f"{component.name}: a value is needed")
        self._native.filter_shared(component.number, op, b"".join(component._bytes(value).tobytes() for value in values))

    def _has_term(self, component):
        if component.number not in [term[0] for term in self._terms]:
            raise InvalidArgumentError(f"{component.name} is not a component of the query: name it in `having`, or in `read`")

    def again(self):
        """Takes all filters away: changed, moved, where."""
        self._native.filter_changed()

    def _rows(self, number, dtype):
        """A copy of all rows, of a component or of the entities: in the memory of the last one, if no array has that any more."""
        kept = self._kept.pop(number, None)
        if sys.getrefcount(kept) > 2:  # this variable, and the argument of getrefcount
            kept = None
        kept = self._kept[number] = self._native.rows(number, kept)
        return numpy.frombuffer(kept, dtype)

    def _run_whole(self, function, context):
        """One call with all rows; none if there are none."""
        if len(self) == 0:
            return
        s = Whole(self, context)
        function(s)
        s._write_back()

    def _run(self, function, dt, context):
        with _Slices(self, dt, context) as slices:
            try:
                for s in slices:
                    function(s)
                    s = None
            except BaseException as error:
                s = None
                forget_views(error)
                raise

    @property
    def entities(self):
        """The entities of all rows (a copy)."""
        return numpy.frombuffer(self._native.entities(), entity)

    def read(self, component):
        """The values of all rows (a copy), zero where there is none."""
        self._has_column(component)
        values = self._native.read_values(component.number)
        return numpy.frombuffer(values, component.dtype)

    def write(self, component, values):
        """Sets the values of all rows, in the order of `entities`. Fields that a dict leaves out stay."""
        self._has_column(component)
        if component.number not in [term[0] for term in self._terms if term[1] == _native.WRITE]:
            raise ValueError(f"{component.name} is not in `write` of this query")
        old = self.read(component) if isinstance(values, dict) else None
        self._native.write_values(component.number, component._bytes(values, self._native.count(), old))

    def _has_column(self, component):
        component_of(self.world, component)
        if component.dtype is None or not component.is_plain:
            raise TypeError(f"{component.name} has no column: {'it is a tag' if component.dtype is None else 'use slices'}")


def _version(since):
    if not 0 <= operator.index(since) < 2 ** 32:
        raise OverflowError(f"{since} is no change version")
    return since


def forget_views(error):
    """Ends the variables of the frames that an exception keeps, with its causes: views are among them."""
    seen, waiting = set(), [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        traceback.clear_frames(one.__traceback__)
        waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
