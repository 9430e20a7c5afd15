# SPDX-License-Identifier: MIT
"""_all: changes of all rows that a query selects: now, by the query, or recorded, by commands.all(query)."""
from . import _native
from ._entities import _refuse_kind
from ._errors import TypeMismatchError
from ._values import component_of, enableable_of


class AllRows:
    """Changes of all rows of a Query, made at once: tags and shared values change by the chunk, not by the row."""

    def add(self, *components):
        """Adds components to all rows, zero where they are new."""
        for number in _numbers(self.world, components):
            self._native.change(number, True)

    def remove(self, *components):
        """Removes components from all rows."""
        for number in _numbers(self.world, components):
            self._native.change(number, False)

    def set(self, component, value):
        """Gives all rows one value, plain, sparse or shared; adds the component where it is absent. A dict has every
        field. Query.write gives each row its own."""
        _refuse_buffer(component_of(self.world, component))
        if component.flags & _native.SPARSE:  # has no column: row by row
            data = component._bytes(value)
            for one in self.entities:
                self.world._native.set(int(one), component.number, data)
            return
        self._native.set(component.number, component._bytes(value))

    def enable(self, component, enabled=True):
        """Switches a component that is enableable on or off in the rows that the query selects now."""
        self._native.enable(enableable_of(self.world, component), enabled)

    def destroy(self):
        """Destroys the entities of all rows."""
        self._native.destroy()


class AllCommands:
    """Changes of all rows that a query selects when they are made: made by Commands.all."""

    __slots__ = ("_world", "_native", "_query")

    def __init__(self, world, native, query):
        self._world, self._native, self._query = world, native, query._native

    def add(self, *components):
        for number in _numbers(self._world, components):
            self._native.query_change(self._query, number, True)

    def remove(self, *components):
        for number in _numbers(self._world, components):
            self._native.query_change(self._query, number, False)

    def set(self, component, value):
        """Gives all rows a shared value."""
        if not component_of(self._world, component).flags & _native.SHARED:
            raise TypeMismatchError(f"{component.name} is not shared: a system writes its column, Query.set sets it between steps, "
                                    "and commands.set sets it for entities", component=component.name)
        self._native.query_set(self._query, component.number, component._bytes(value))

    def enable(self, component, enabled=True):
        self._native.query_enable(self._query, enableable_of(self._world, component), enabled)

    def destroy(self):
        self._native.query_destroy(self._query)


def _numbers(world, components):
    """The numbers of components of entities: all, or an exception before the first changes."""
    for component in components:
        if component_of(world, component).flags & _native.RESOURCE:
            _refuse_kind(component)
    return [component.number for component in components]


def _refuse_buffer(component):
    _refuse_kind(component)
    if component.flags & _native.BUFFER:
        raise TypeMismatchError(f"{component.name} is a buffer: World.set gives an entity its elements", component=component.name)
