# SPDX-License-Identifier: MIT
"""_relations: the part of World about relations, prefabs and observers."""
import inspect
import weakref

import numpy

from . import _native
from ._entities import _count_of
from ._entity import Entity, as_entities, entity
from ._errors import WrongPhaseError
from ._values import Component, describe

_DEATHS = {"clear": 0, "destroy": 1, "keep": 2}
_EVENTS = {"added": 1, "removed": 2, "changed": 3, "created": 4, "destroyed": 5}


class Observation:
    """What an observer is told: copies, made when it happened. `entities`: an array; `values`: what the component
    was (removed, changed, destroyed), else None."""

    __slots__ = ("entities", "values")

    def __init__(self, entities, values):
        self.entities, self.values = entities, values

    def __len__(self):
        return len(self.entities)


class Relations:
    """Relations, prefabs and observers of a World."""

    def _builtin(self, name, dtype):
        if name in self._builtins:
            return self._builtins[name]
        try:
            number, flags = self._native.builtin(name)
        except (BufferError, WrongPhaseError) as error:
            raise WrongPhaseError(f"{name} is registered when it is first named, which is not possible inside a loop over rows: "
                                  "name it before (Parent = world.parent)") from error
        if number not in self._components:
            fields = []
            if dtype is not None:
                dtype, fields = describe(name, dtype, None, None, None)
            self._components[number] = Component(self, number, name, dtype, flags, fields)
        self._builtins[name] = self._components[number]
        return self._builtins[name]

    @property
    def parent(self):
        """The component Parent: children are destroyed with their parent, cycles are refused."""
        return self._builtin("Parent", entity)

    @property
    def instance_of(self):
        """The component InstanceOf: once it was asked for, copies of a prefab have it."""
        return self._builtin("InstanceOf", entity)

    @property
    def prefab_tag(self):
        """The tag Prefab: queries that do not name it leave these entities out."""
        return self._builtin("Prefab", None)

    @property
    def inactive_tag(self):
        """The tag Inactive: queries that do not name it leave these entities out."""
        return self._builtin("Inactive", None)

    def _depth_of(self, relation):
        """The shared component with the depth of the sources of a relation."""
        number, flags, name = self._native.depth_component(self._own(relation).number)
        if number not in self._components:
            dtype, fields = describe(name, "u4")
            self._components[number] = Component(self, number, name, dtype, flags, fields)
        return self._components[number]

    def relation(self, name, dtype=entity, *, on_target_death="clear", acyclic=False, by_depth=False):
        """A component whose value is another entity, or a struct with one field that is, looked up in both directions. When the target dies, its sources
        keep the component without a target, 0 ("clear"), are destroyed ("destroy"), or keep a dead entity ("keep")."""
        if on_target_death not in _DEATHS:
            raise ValueError(f"on_target_death is 'clear', 'destroy' or 'keep', not {on_target_death!r}")
        component = self.component(name, dtype)
        self._native.relation_declare(component.number, _DEATHS[on_target_death], acyclic, by_depth)
        return component

    def relate(self, sources, relation, target):
        """Gives one source, or an array of them, a target; None: none."""
        many = numpy.atleast_1d(numpy.asarray(as_entities(sources), "u8"))
        self._native.relation_set(many, self._own(relation).number, Entity(0 if target is None else target))

    def settle(self):
        """Brings relations up to date; a step does so by itself."""
        self._native.relation_settle()

    def sources(self, relation, target):
        """The entities that have this target, as of the last step or settle()."""
        return numpy.frombuffer(self._native.relation_sources(self._own(relation).number, Entity(target)), entity)

    def children(self, parent):
        """The sources of the relation Parent, as of the last step or settle()."""
        return self.sources(self.parent, parent)

    def target(self, source, relation):
        """The target of a source, or None."""
        found = self._native.relation_target(Entity(source), self._own(relation).number)[0]
        return Entity(found) if found else None

    def depth(self, entity, relation=None):
        """How many targets are above an entity, in a relation by depth (Parent)."""
        relation = self.parent if relation is None else relation
        return self._native.relation_target(Entity(entity), self._own(relation).number)[1]

    # Prefabs

    def prefab(self, root, *members):
        """Makes a prefab of an entity, and of members that are copied with it."""
        group = self._builtin("LinkedGroup", entity)
        if members:
            self._native.set_buffer(Entity(root), group.number, numpy.array([root, *members], "u8"), False)
        self._native.change(Entity(root), [self.prefab_tag.number], [])
        return Entity(root)

    def instantiate(self, source, count=None):
        """A copy of an entity, of a prefab with its members; or an array of `count`."""
        made = numpy.frombuffer(self._native.instantiate(Entity(source), 1 if count is None else _count_of(count)), entity)
        return Entity(made[0]) if count is None else made

    # Observers

    def observe(self, event, component=None, function=None):
        """Decorator: function(observation) is called after each step, and by run_observers(), for entities that got or
        lost a component, or whose value changed: event is "added", "removed", "changed", "created" or "destroyed"
        (the last two also without a component). Returns the function."""
        if not isinstance(event, str) or event not in _EVENTS:
            raise ValueError(f"event is one of {', '.join(_EVENTS)}, not {event!r}")
        if function is None:
            return lambda given: self.observe(event, component, given)
        if not callable(function) or inspect.iscoroutinefunction(function):
            raise TypeError("an observer is a function")
        number = len(self._observers)
        self._native.observer_create(f"python {number}", _EVENTS[event],
                                     None if component is None else self._own(component).number, number)
        self._observers.append((function, component))
        return function

    def run_observers(self):
        """Tells observers now what changed since they were told."""
        self._native.observers_run()
        self._tell()

    def _tell(self):
        """Calls observers with what the step told them; what a function changes is told the next time. Where one fails, the
        others are called, too; then its exception is raised."""
        if not self._observers:
            return
        failed = None
        for number, entities, values in self._native.observed():
            function, component = self._observers[number]
            old = numpy.frombuffer(values, component.dtype) if values and component.dtype is not None else None
            try:
                function(Observation(numpy.frombuffer(entities, entity), old))
            except Exception as error:
                failed = failed or error
        if failed is not None:
            raise failed
