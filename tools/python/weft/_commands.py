# SPDX-License-Identifier: MIT
"""_commands: changes that are recorded now and made later."""
import contextlib

import numpy

from . import _native
from ._all import AllCommands
from ._entities import _count_of, _refuse_kind
from ._entity import Entity, as_entities, entity
from ._errors import BadHandleError, TypeMismatchError
from ._query import Query
from ._values import Component, component_of, enableable_of, numbers_of


class Commands:
    """Changes that are recorded now and made later: by play(), or, in a system, after it."""

    def __init__(self, world):
        self._world, self._native = world, world._native.recorder()
        self._queries = []

    def create(self, *components, values=None, name=None):
        """An entity-to-be, which later commands of this object may name."""
        if name is not None:
            if not isinstance(name, str) or "\0" in name:
                raise (ValueError if isinstance(name, str) else TypeError)(f"a name is a text without null characters, not {name!r}")
            name.encode()  # or it raises
        made = self._create(None, values, components)
        if name is not None:
            self.set_name(made, name)
        return made

    def create_many(self, count, values=None, components=()):
        """`count` entities-to-be; a value is one for all, or an array with one each. Returns their array."""
        return self._create(_count_of(count), values, components)

    def _create(self, count, values, components):
        values = dict(values or {})
        data = [(component, self._data(component, value, count)) for component, value in values.items()]
        named = [components] if isinstance(components, Component) else [*components]
        made = self._native.create(numbers_of(self._world, [*named, *values]), count)
        made = Entity(made) if count is None else numpy.frombuffer(made, entity)
        try:
            for component, value in data:
                self._native.set(made, component.number, value, False)
        except BaseException:  # memory ran out: nothing of the call is made
            with contextlib.suppress(MemoryError):
                self._native.destroy(made)
            raise
        return made

    def _data(self, component, value, count=None):
        """The bytes of a value, or of `count`. What an entity has when the commands are played is not known now:
        a dict has to have every field."""
        _refuse_kind(component_of(self._world, component))
        return component._elements(value) if component.flags & _native.BUFFER else component._bytes(value, count)

    def instantiate(self, source, count=None):
        """A copy-to-be of an entity, of a prefab with its members; or an array of `count`."""
        made = self._native.instantiate(Entity(source), None if count is None else _count_of(count))
        return Entity(made) if count is None else numpy.frombuffer(made, entity)

    def destroy(self, entities):
        """Destroys an entity, or an array of them; so for add, remove, set and append."""
        self._native.destroy(as_entities(entities))

    def add(self, entities, component):
        self._native.change(as_entities(entities), component_of(self._world, component).number, True)

    def remove(self, entities, component):
        self._native.change(as_entities(entities), component_of(self._world, component).number, False)

    def set(self, entities, component, value):
        """Sets a value: of many entities one for all, or an array with one each; of a buffer all elements. A dict has
        every field."""
        entities = as_entities(entities)
        count = None if isinstance(entities, Entity) else entities.size
        self._native.set(entities, component.number, self._data(component, value, count), False)

    def append(self, entities, component, values):
        """Appends elements to a buffer."""
        data = self._data(component, values)
        if not component.flags & _native.BUFFER:
            raise TypeMismatchError(f"{component.name} is no buffer: set gives it a value", component=component.name)
        self._native.set(as_entities(entities), component.number, data, True)

    def enable(self, entity, component, enabled=True):
        self._native.enable(Entity(entity), enableable_of(self._world, component), enabled)

    def set_name(self, entity, name):
        self._native.set_name(Entity(entity), name)

    def relate(self, sources, relation, target):
        """Gives one source, or an array of them, a target; None: the relation goes."""
        many = numpy.atleast_1d(numpy.asarray(as_entities(sources), "u8"))
        if target is None:
            self.remove(many, relation)
        else:
            self.set(many, relation, Entity(target))

    def all(self, query):
        """Changes of all rows that a query selects when they are made: commands.all(query).destroy()."""
        if not isinstance(query, Query):
            raise TypeError(f"a query is needed, not {type(query).__name__}")
        if query.world is not self._world:
            raise BadHandleError("the query is of another world")
        self._queries.append(query)  # lives until they are made
        return AllCommands(self._world, self._native, query)

    def play(self):
        """Makes the changes now."""
        try:
            self._native.play()
        finally:
            self._queries.clear()
