# SPDX-License-Identifier: MIT
"""_commands: changes that are recorded now and made later."""
from . import _native
from ._entities import _refuse_kind
from ._entity import Entity
from ._errors import TypeMismatchError
from ._values import component_of, numbers_of


class Commands:
    """Changes that are recorded now and made later: by play(), or, in a system, after it."""

    def __init__(self, world):
        self._world, self._native = world, world._native.recorder()

    def create(self, *components, values=None, name=None):
        """An entity-to-be, which later commands of this object may name."""
        values = dict(values or {})
        data = [(component, self._data(component, value)) for component, value in values.items()]
        made = Entity(self._native.create(numbers_of(self._world, [*components, *values])))
        for component, value in data:
            self._native.set(made, component.number, value, False)
        if name is not None:
            self.set_name(made, name)
        return made

    def _data(self, component, value):
        """The bytes of a value. What an entity has when the commands are played is not known now: a dict has
        to have every field."""
        _refuse_kind(component_of(self._world, component))
        return component._elements(value) if component.flags & _native.BUFFER else component._bytes(value)

    def instantiate(self, source):
        """A copy-to-be of an entity, of a prefab with its members."""
        return Entity(self._native.instantiate(Entity(source)))

    def destroy(self, entity):
        self._native.destroy(Entity(entity))

    def add(self, entity, component):
        self._native.change(Entity(entity), component_of(self._world, component).number, True)

    def remove(self, entity, component):
        self._native.change(Entity(entity), component_of(self._world, component).number, False)

    def set(self, entity, component, value):
        """Sets a value; of a buffer all elements. A dict has every field."""
        self._native.set(Entity(entity), component.number, self._data(component, value), False)

    def append(self, entity, component, values):
        """Appends elements to a buffer."""
        data = self._data(component, values)
        if not component.flags & _native.BUFFER:
            raise TypeMismatchError(f"{component.name} is no buffer: set gives it a value", component=component.name)
        self._native.set(Entity(entity), component.number, data, True)

    def enable(self, entity, component, enabled=True):
        self._native.enable(Entity(entity), component_of(self._world, component).number, enabled)

    def set_name(self, entity, name):
        self._native.set_name(Entity(entity), name)

    def play(self):
        """Makes the changes now."""
        self._native.play()
