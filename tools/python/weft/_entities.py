# SPDX-License-Identifier: MIT
"""_entities: the part of World about entities: create, read, change, destroy, names."""
import numpy

from . import _native
from ._entity import Entity, as_entities, entity
from ._errors import TypeMismatchError
from ._values import Component, enableable_of, numbers_of


def _refuse_kind(component):
    """TypeMismatchError where entities have no value of their own."""
    if component.flags & _native.CHUNK:
        raise TypeMismatchError(f"{component.name} has one value for each chunk: read and write it in a slice of a "
                                "query", component=component.name)
    if component.flags & _native.RESOURCE:
        raise TypeMismatchError(f"{component.name} is a resource: get_resource and set_resource", component=component.name)


def _count_of(count):
    """A number of entities."""
    if isinstance(count, bool) or not isinstance(count, (int, numpy.integer)):
        raise TypeError(f"a number of entities is needed, not {count!r}")
    if not 0 <= count < 2 ** 31:
        raise ValueError(f"{count} entities cannot be created")
    return int(count)


class Entities:
    """Entities of a World."""

    def create(self, *components, values=None, name=None):
        """An entity with components (zero) and values ({Position: (1, 2, 3)})."""
        made = Entity(self.create_many(1, values, components)[0])
        if name is not None:
            try:
                self.set_name(made, name)
            except BaseException:
                self.destroy(made)
                raise
        return made

    def create_many(self, count, values=None, components=()):
        """`count` entities; a value is one for all, or an array with one each (of a shared component and of a
        buffer: one for all). Returns their array."""
        count = _count_of(count)
        filled, others = [], []
        for component, value in dict(values or {}).items():
            _refuse_kind(self._own(component))
            if component.flags & _native.BUFFER:
                others.append((component, component._elements(value)))
            elif component.flags & (_native.SHARED | _native.SPARSE):
                shared = component.flags & _native.SHARED
                others.append((component, component._bytes(value, None if shared else count)))
            else:
                filled.append((component.number, component._bytes(value, count)))
        named = [components] if isinstance(components, Component) else list(components)
        later = {component.number for component, _ in others}
        numbers = numbers_of(self, [*named, *dict(values or {})])
        sparse = [c.number for c in named if c.flags & _native.SPARSE and c.number not in later]
        later.update(sparse)
        made = numpy.frombuffer(self._native.create([n for n in numbers if n not in later], filled, count), entity)
        try:
            if sparse:
                self._native.change(made, sparse, [])
            for component, data in others:
                if component.flags & _native.SHARED:
                    self._native.set_shared(made, component.number, data)
                    continue
                for i, one in enumerate(made):
                    if component.flags & _native.BUFFER:
                        self._native.set_buffer(int(one), component.number, data, False)
                    else:
                        self._native.set(int(one), component.number, data[i:i + 1])
        except BaseException:
            self._native.destroy(made)
            raise
        return made

    def destroy(self, entities):
        """Destroys an entity, or an array of them."""
        self._native.destroy(as_entities(entities))

    def is_alive(self, entity):
        return self._native.is_alive(Entity(entity))

    def has(self, entity, component):
        return self._native.has(Entity(entity), self._own(component).number)

    def get(self, entity, component):
        """The value (a copy), or None; of a buffer an array of its elements."""
        _refuse_kind(self._own(component))
        value = self._native.read(Entity(entity), component.number)
        return None if value is None else component._value(value)

    def look_up(self, entities, component):
        """(values, found) of an array of entities: the values of a component (a copy), zero where an entity has none
        or is dead, and a boolean each: whether it has one. Also while views live."""
        entities = as_entities(entities)
        _refuse_kind(self._own(component))
        many = numpy.atleast_1d(numpy.asarray(entities, "u8"))
        values, found = self._native.look_up(many, component.number)
        return numpy.frombuffer(values, component.dtype), numpy.frombuffer(found, bool)

    def set(self, entity, component, value):
        """Writes a value; adds the component where it is absent. Fields that a dict leaves out keep their value;
        of a buffer all elements are replaced. Of an array of entities each gets the value, or its own of an array; a dict has every
        field then."""
        _refuse_kind(self._own(component))
        entity = as_entities(entity)
        if not isinstance(entity, Entity):
            self._set_many(entity, component, value)
            return
        if component.flags & _native.BUFFER:
            self._native.set_buffer(entity, component.number, component._elements(value), False)
            return
        old = None
        if isinstance(value, dict) and component.dtype is not None and self.is_alive(entity):
            old = self.get(entity, component)
        data = component._bytes(value, old=old)
        if component.flags & _native.SHARED:
            self._native.set_shared(entity, component.number, data)
        else:
            self._native.set(entity, component.number, data)

    def _set_many(self, entities, component, value):
        if component.flags & _native.BUFFER:
            raise TypeMismatchError(f"{component.name} is a buffer: set one entity after the other", component=component.name)
        if component.flags & _native.SHARED:
            self._native.set_shared(entities, component.number, component._bytes(value))
        else:
            self._native.set_many(entities, component.number, component._bytes(value, entities.size))

    def append(self, entity, component, values):
        """Appends elements to a buffer, which is added where it is absent."""
        _refuse_kind(self._own(component))
        if not component.flags & _native.BUFFER:
            raise TypeMismatchError(f"{component.name} is no buffer: set gives it a value", component=component.name)
        self._native.set_buffer(Entity(entity), component.number, component._elements(values), True)

    def add(self, entities, *components):
        """Adds components, zero where they are new, to an entity, or an array of them."""
        self._native.change(as_entities(entities), numbers_of(self, components), [])

    def remove(self, entities, *components):
        """Removes components from an entity, or an array of them."""
        self._native.change(as_entities(entities), [], numbers_of(self, components))

    def enable(self, entities, component, enabled=True):
        """Switches a component that is enableable on or off, of an entity, or of an array of them. Query.enable does so for all
        rows."""
        entities, number = as_entities(entities), enableable_of(self, component)
        if isinstance(entities, Entity):
            self._native.enable(entities, number, enabled)
            return
        many = numpy.atleast_1d(entities).tolist()
        for one in many:  # all or none
            if not self._native.has(one, number):
                self._native.enable(one, number, enabled)  # raises
        for one in many:
            self._native.enable(one, number, enabled)

    def is_enabled(self, entity, component):
        """Whether it has the component, and it is not switched off."""
        return self._native.is_enabled(Entity(entity), self._own(component).number)

    def set_name(self, entity, name, *, unique=False):
        """Names an entity; "" takes the name away. unique=True: weft.AlreadyExistsError where another entity has it."""
        self._native.set_name(Entity(entity), name, bool(unique))

    def name(self, entity):
        """The name; "" when it has none."""
        return self._native.name(Entity(entity))

    def find(self, name):
        """The entity with this name, or None."""
        found = self._native.find(name)
        return None if found is None else Entity(found)
