# SPDX-License-Identifier: MIT
"""_entities: the part of World about entities: create, read, change, destroy, names."""
import numpy

from ._values import _component, _entities, _numbers, entity


class Entities:
    """Entities of a World."""

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
