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
import functools
import gc
import os
import traceback
import weakref

import numpy

from . import _native
from ._native import Error

__all__ = ["World", "Component", "Query", "Slice", "Commands", "Snapshot", "Error", "entity", "get_include"]
__version__ = "0.1.0"

#: The dtype of entities: in arrays, and for fields that refer to one.
entity = numpy.dtype("u8", metadata={"weft": "entity"})

Snapshot = _native.Snapshot


def get_include():
    """The folder of weft.h, for systems in C."""
    return os.path.join(os.path.dirname(__file__), "include")


def _kind(dtype):
    """The weft_field_kind of one number, or None."""
    if dtype.metadata and dtype.metadata.get("weft") == "entity":
        return _native.ENTITY
    return _native.NUMPY.get(dtype.str[1:]) if dtype.isnative else None


def _fields(name, dtype):
    """(name, kind, offset, count) of the fields of a dtype."""
    if dtype.names is None:
        dtype = numpy.dtype([("value", dtype)])
    fields = []
    for field in dtype.names:
        inner, offset = dtype.fields[field][:2]
        base, shape = inner.base, inner.shape
        kind = _kind(base)
        if kind is None:
            raise TypeError(f"{name}.{field}: numbers and booleans of this machine's byte order only, not {base}")
        fields.append((field, kind, offset, int(numpy.prod(shape, dtype=int)) if shape else 1))
    return fields


def _numbers(components):
    """The numbers of components, which have to be Component objects."""
    if isinstance(components, Component):
        components = [components]
    return [_component(c).number for c in components]


def _component(value):
    if not isinstance(value, Component):
        raise TypeError(f"a component of weft is needed, not {type(value).__name__}")
    return value


class Component:
    """A component type of one world: made by World.component, World.tag, World.resource."""

    __slots__ = ("number", "name", "dtype", "_world")

    def __init__(self, world, number, name, dtype):
        self._world, self.number, self.name, self.dtype = world, number, name, dtype

    def __repr__(self):
        return f"<weft.Component {self.name}: {self.dtype if self.dtype is not None else 'tag'}>"

    def _bytes(self, value, count=None):
        """`value` as an array with the bytes of one value, or of `count`."""
        if self.dtype is None:
            raise TypeError(f"{self.name} is a tag: it has no value")
        if value is None:
            raise TypeError(f"{self.name}: None is no value")
        shape = () if count is None else (count,)
        base, inner = self.dtype.base, self.dtype.shape
        if isinstance(value, dict):
            out = numpy.zeros(shape + inner, base)
            for field, values in value.items():
                out[field] = values
            return out
        if count is not None and base.names and isinstance(value, tuple):
            value = numpy.array(value, base)
        value = numpy.asarray(value, base) if base.names is None else numpy.asarray(value, dtype=base)
        if count is not None and inner == () and value.shape == (count, 1):
            value = value[:, 0]
        return numpy.ascontiguousarray(numpy.broadcast_to(value, shape + inner))

    def _value(self, memory):
        """One value of its bytes."""
        return numpy.frombuffer(memory, self.dtype)[0]


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


class Commands:
    """Changes that are recorded now and made later: by play(), or, in a system, after it."""

    def __init__(self, world):
        self._native = world._native.recorder()

    def create(self, *components, values=None):
        """An entity-to-be, which later commands of this object may name."""
        values = dict(values or {})
        made = self._native.create(_numbers([*components, *values]))
        for component, value in values.items():
            self.set(made, component, value)
        return made

    def destroy(self, entity):
        self._native.destroy(entity)

    def add(self, entity, component):
        self._native.change(entity, _component(component).number, True)

    def remove(self, entity, component):
        self._native.change(entity, _component(component).number, False)

    def set(self, entity, component, value):
        self._native.set(entity, _component(component).number, component._bytes(value))

    def play(self):
        self._native.play()


class World:
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

    # Components

    def _register(self, name, dtype, flags):
        size, alignment, fields = 0, 1, []
        if dtype is not None:
            dtype = numpy.dtype(dtype)
            fields, size, alignment = _fields(name, dtype), dtype.itemsize, dtype.base.alignment
            if dtype.names is None or not dtype.isalignedstruct:
                alignment = max((dtype.base.alignment if dtype.names is None else 1), 1)
        number = self._native.component(name, size, alignment, flags, fields)
        component = self._components.get(number)
        if component is None:
            component = self._components[number] = Component(self, number, name, dtype)
        return component

    def component(self, name, dtype, enableable=False):
        """A component with values of a dtype: "f4", "3f4", [("x", "f4"), ("y", "f4")], weft.entity."""
        return self._register(name, numpy.dtype(dtype), _native.ENABLEABLE if enableable else 0)

    def tag(self, name):
        """A component without a value."""
        return self._register(name, None, 0)

    def resource(self, name, dtype):
        """A component with one value for the world: get_resource, set_resource."""
        return self._register(name, numpy.dtype(dtype), _native.RESOURCE)

    def get_resource(self, component):
        return _component(component)._value(self._native.resource_read(component.number))

    def set_resource(self, component, value):
        self._native.resource_write(_component(component).number, component._bytes(value))

    # Entities

    def create(self, *components, values=None, name=None):
        """An entity with components (zero) and values ({Position: (1, 2, 3)})."""
        made = int(self.create_many(1, values, components)[0])
        if name is not None:
            self.set_name(made, name)
        return made

    def create_many(self, count, values=None, components=()):
        """`count` entities; a value is one for all, or an array with one each. Returns their array."""
        values = dict(values or {})
        filled = [(_component(c).number, c._bytes(v, count)) for c, v in values.items()]
        return numpy.frombuffer(self._native.create(_numbers([*components, *values]), filled, count), entity)

    def destroy(self, entities):
        """Destroys an entity, or an array of them."""
        self._native.destroy(_entities(entities))

    def is_alive(self, entity):
        return self._native.is_alive(entity)

    def has(self, entity, component):
        return self._native.has(entity, _component(component).number)

    def get(self, entity, component):
        """The value (a copy), or None."""
        value = self._native.read(entity, _component(component).number)
        return None if value is None else component._value(value)

    def set(self, entity, component, value):
        """Writes a value; adds the component where it is absent."""
        self._native.set(entity, _component(component).number, component._bytes(value))

    def add(self, entities, *components):
        self._native.change(_entities(entities), _numbers(components), [])

    def remove(self, entities, *components):
        self._native.change(_entities(entities), [], _numbers(components))

    def enable(self, entity, component, enabled=True):
        self._native.enable(entity, _component(component).number, enabled)

    def set_name(self, entity, name):
        self._native.set_name(entity, name)

    def name(self, entity):
        return self._native.name(entity)

    def find(self, name):
        """The entity with this name, or None."""
        return self._native.find(name)

    # Queries and systems

    def query(self, **terms):
        """write=[...], read=[...], optional=[...], having=[...], without=[...], any=[...]."""
        return Query(self, **terms)

    def commands(self):
        return Commands(self)

    def system(self, function=None, *, name=None, before=False, **terms):
        """Decorator: function(slice) runs in each step, for every slice of the terms (those of
        query()); without terms once, with None. Python's systems run in their order on the thread
        that steps, after those in C, or before them."""
        if function is None:
            return functools.partial(self.system, name=name, before=before, **terms)
        query = Query(self, **terms) if terms else None
        self._systems.append((name or function.__name__, function, query, before))
        return function

    def system_in_c(self, name, library, symbol=None, *, flags=0, commands=False, **terms):
        """`void symbol(weft_slice *, void *)` of a shared library becomes a system that runs on all
        workers. Its terms are in the order write, read, optional, having, without, any; `commands`:
        it records commands (weft_slice_recorder)."""
        terms = Query(self, **terms)._terms
        self._native.system_load(name, library, symbol or name, terms, flags, commands)

    def _run_systems(self, dt, is_before):
        for _, function, query, before in self._systems:
            if before != is_before:
                continue
            commands = Commands(self)
            if query is None:
                function(None)
            else:
                query._run(function, dt, commands)
                commands.play()

    def step(self, dt):
        """Runs all systems once; `dt`: seconds since the last step."""
        self._run_systems(dt, True)
        self._native.step(dt)
        self._run_systems(dt, False)

    @property
    def frame(self):
        """(number of the last step, time in seconds, dt)."""
        return self._native.frame()

    # Snapshots and files

    def snapshot(self, previous=None):
        return self._native.snapshot(previous)

    def restore(self, snapshot):
        self._native.restore(snapshot)

    def save(self, path=None):
        """Writes a world file; without a path returns its bytes."""
        return self._native.save_bytes() if path is None else self._native.save(path)

    def load(self, source):
        """Fills a new world from a path, or from bytes. Register its components first."""
        if isinstance(source, (bytes, bytearray, memoryview)):
            self._native.load_bytes(source)
        else:
            self._native.load(source)

    # Figures

    def hash(self, content=False):
        return self._native.hash(content)

    @property
    def stats(self):
        return self._native.stats()


def _entities(entities):
    """One entity as a number, or many as an array."""
    if isinstance(entities, (int, numpy.integer)):
        return int(entities)
    return numpy.ascontiguousarray(entities, "u8")
