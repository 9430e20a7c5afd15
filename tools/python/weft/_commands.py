# SPDX-License-Identifier: MIT
"""_commands: changes that are recorded now and made later."""
from ._values import _component, _numbers


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
