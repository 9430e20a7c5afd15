# SPDX-License-Identifier: MIT
"""_systems: the part of World about systems and steps.

Systems of Python run one after the other on the thread that steps, before or after those in C. They follow the
rules of systems in C: orders by name, groups, fixed rates, timers, conditions."""
import functools
import gc
import inspect
import math

import numpy

from . import _native
from ._commands import Commands
from ._errors import AlreadyExistsError, CycleError, InvalidArgumentError, NotFoundError, WrongPhaseError
from ._query import Query, forget_views
from ._random import Random
from ._values import Component

_TICKS = 8  # the most runs of a fixed rate in one step; the rest of the time is dropped


class Context:
    """What a system without rows gets."""

    __slots__ = ("world", "dt", "frame", "time", "_commands")

    def __init__(self, world, dt, frame, time):
        self.world, self.dt, self.frame, self.time = world, dt, frame, time
        self._commands = None

    @property
    def commands(self):
        """Changes that are made after the system."""
        if self._commands is None:
            self._commands = Commands(self.world)
        return self._commands

    def _play(self):
        if self._commands is not None:
            self._commands.play()

    def random(self, seed=0, stream=0, id=0):
        """The random numbers of this step: weft_random_of(seed, id, number of the step, stream)."""
        return Random(seed, id, self.frame, stream)


class _Rate:
    """The ticks of a period."""

    def __init__(self, period):
        self.period, self.kept = _seconds(period, "period"), 0.0

    def ticks(self, dt):
        """How often it is due in a step of dt."""
        if self.period == 0:
            return 1
        self.kept += dt
        count = int((self.kept + 1e-9) / self.period)
        self.kept = max(self.kept - count * self.period, 0.0)
        return min(count, _TICKS)


class _Group:
    def __init__(self, before=(), after=(), period=0.0, enabled=True):
        self.before, self.after, self.rate, self.is_enabled = before, after, _Rate(period), enabled
        self.due = 1


class _System:
    def __init__(self, name, function, query):
        self.name, self.function, self.query = name, function, query
        self.is_early, self.before, self.after, self.group = False, (), (), "default"
        self.rate, self.run_if, self.timer, self.is_timer, self.is_whole = None, None, None, False, False
        self.watched, self.since, self.is_enabled, self.due = (), 0, True, 0
        self.runs, self.levels = 0, None

    def touched(self):
        """(names of what it reads, of what it writes)."""
        terms = [] if self.query is None else [(c.name, access) for c, (_, access, _) in
                                               ((c, self.query._terms[place]) for c, place in self.query._places.items())]
        return tuple([name for name, access in terms if access == how] for how in (_native.READ, _native.WRITE))


class _Levels:
    """The rows of a system by depth: those of depth 0, or without the relation, then depth 1, and so on."""

    def __init__(self, world, relation, terms):
        self.world, self.depth = world, world._depth_of(relation)
        absent, present = (list(_listed(terms.get(word, ()))) for word in ("absent", "present"))
        self.roots = Query(world, **{**terms, "absent": [*absent, self.depth]})
        self.others = Query(world, **{**terms, "present": [*present, self.depth]})

    def run(self, function, context, is_whole):
        def run(query):
            if is_whole:
                query._run_whole(function, context)
            else:
                query._run(function, context.dt, context)

        self.world.settle()
        run(self.roots)
        for depth in range(int(self.world.shared_values(self.depth).max()) + 1):
            self.others.again()
            self.others.where(self.depth, depth)
            run(self.others)


def _seconds(value, word):
    if isinstance(value, (bool, str, bytes)) or not isinstance(value, (int, float, numpy.number)):
        raise TypeError(f"{word}: seconds are needed, not {value!r}")
    if not math.isfinite(value) or value < 0 or value > 3.4e38:
        raise InvalidArgumentError(f"{word} is {value}: seconds are finite, and not negative")
    return float(value)


def _listed(components):
    return [components] if isinstance(components, Component) else components


def _names(names, word):
    names = (names,) if isinstance(names, str) else tuple(names)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{word}: names of systems or groups are needed, not {name!r}")
    return names


class Systems:
    """Systems and steps of a World."""

    def system(self, function=None, *, name=None, before=False, after=(), group="default", period=0.0, run_if=None,
               timer=False, skips_unchanged=False, whole=False, by_depth=None, **terms):
        """Decorator: function(slice) runs in each step, for every slice of the terms (those of query()), or, with
        whole=True, once, with all rows in copies that are written back; without terms once, with a Context. Python's systems run in the order in which they were made, after those in C.

        before: True: before those in C; or names of systems or groups of Python that run later. after: names of
        those that run earlier. group: see World.group. period: a fixed rate in seconds. run_if(world): whether it
        runs. timer: it runs once for each World.set_timer. skips_unchanged: only slices in which a component of
        `read` changed since its last run. by_depth: a relation by depth (world.parent): slices of depth 0 first, then those of
        depth 1, so that parents are done before their children."""
        if function is None:
            return functools.partial(self.system, name=name, before=before, after=after, group=group, period=period,
                                     run_if=run_if, timer=timer, skips_unchanged=skips_unchanged, whole=whole,
                                     by_depth=by_depth, **terms)
        if not callable(function) or run_if is not None and not callable(run_if):
            raise TypeError("a system is a function")
        if (inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function)
                or inspect.isasyncgenfunction(function)):
            raise TypeError("a system is a plain function: `async` functions and generators do not run in a call")
        if timer and period:
            raise InvalidArgumentError("a system with a timer has no period")
        made = _System(self._system_name(function, name), function, Query(self, **terms) if terms else None)
        made.is_early, made.before = before is True, () if isinstance(before, bool) else _names(before, "before")
        made.after, made.group = _names(after, "after"), _names(group, "group")[0]
        made.rate = _Rate(period) if period else None
        made.run_if, made.is_timer, made.is_whole = run_if, bool(timer), bool(whole)
        if whole and (skips_unchanged or not terms):
            raise InvalidArgumentError("whole=True needs rows, and all of them: not with skips_unchanged")
        if skips_unchanged:
            read = terms.get("read", ())
            made.watched = tuple([read] if isinstance(read, Component) else read)
            if not made.watched:
                raise InvalidArgumentError("skips_unchanged needs a component in `read`")
        if by_depth is not None:
            if made.query is None or skips_unchanged:
                raise InvalidArgumentError("by_depth needs rows, and does not go with skips_unchanged")
            made.levels = _Levels(self, by_depth, terms)
        self._systems.append(made)
        self._order = None
        return function

    def _system_name(self, function, name):
        known = {system.name for system in self._systems}
        if name is not None:
            if not isinstance(name, str) or not name:
                raise TypeError(f"a name is needed, not {name!r}")
            if name in known:
                raise AlreadyExistsError(f"there is a system {name!r}: take another name, or remove_system({name!r})")
            return name
        name = stem = getattr(function, "__name__", type(function).__name__)
        number = 2
        while name in known:
            name, number = f"{stem} {number}", number + 1
        return name

    def _system(self, name):
        for system in self._systems:
            if system.name == name:
                return system
        raise NotFoundError(f"there is no system {name!r}")

    def remove_system(self, name):
        """Takes a system away."""
        if not self._is_in_python(name) and self._native.system_remove(name):
            return
        self._systems.remove(self._system(name))
        self._order = None

    def enable_system(self, name, enabled=True):
        """Switches a system on or off."""
        if not self._is_in_python(name) and self._native.system_enable(name, bool(enabled)):
            return
        self._system(name).is_enabled = bool(enabled)

    def _is_in_python(self, name):
        return any(system.name == name for system in self._systems)

    def group(self, name, *, before=(), after=(), period=0.0, enabled=True):
        """Sets what holds for the systems of a group: their order to other groups and systems, a rate, and whether
        they run."""
        self._groups[_names(name, "name")[0]] = _Group(_names(before, "before"), _names(after, "after"), period,
                                                       bool(enabled))
        self._order = None

    def alpha(self, name):
        """Where the time is between two ticks of a fixed rate of a system or group of Python, in [0, 1): for interpolation. 0 without
        a rate."""
        group = self._groups.get(name)
        if self._is_in_python(name):
            system = self._system(name)
            rate = system.rate or (self._groups[system.group].rate if system.group in self._groups else None)
        elif group is not None:
            rate = group.rate
        else:
            raise NotFoundError(f"there is no system and no group {name!r}")
        return min(rate.kept / rate.period, 1.0) if rate is not None and rate.period else 0.0

    def set_timer(self, name, seconds):
        """The system runs once, in the first step at which that many seconds have passed."""
        if not self._system(name).is_timer:
            raise InvalidArgumentError(f"{name} is no system with timer=True")
        self._system(name).timer = _seconds(seconds, "seconds")

    def stop_timer(self, name):
        self._system(name).timer = None

    def timer_left(self, name):
        """Seconds that are left; None: the timer is not set."""
        return self._system(name).timer

    def system_in_c(self, name, library, symbol=None, *, flags=0, commands=False, **terms):
        """`void symbol(weft_slice *, void *)` of a shared library becomes a system that runs on all
        workers. Its terms are in the order write, read, optional, having, without, any; `commands`:
        it records commands (weft_slice_recorder)."""
        terms = Query(self, **terms)._terms
        self._native.system_load(name, library, symbol or name, terms, flags, commands)

    # Steps

    def _ordered(self):
        """The systems in their order: that of registration, where names do not say another."""
        if self._order is not None:
            return self._order
        waiting, done = list(self._systems), []
        behind = {system: set() for system in waiting}

        def called(name):
            return [s for s in waiting if s.name == name] or [s for s in waiting if s.group == name]

        for system in waiting:
            group = self._groups.get(system.group, _Group())
            for name in (*system.before, *group.before):
                for later in called(name):
                    behind[later].add(system)
            for name in (*system.after, *group.after):
                behind[system].update(called(name))
        while waiting:
            ready = next((s for s in waiting if not (behind[s] - {s}) & set(waiting)), None)
            if ready is None or ready in behind[ready]:
                raise CycleError("orders contradict each other: " + ", ".join(s.name for s in waiting))
            waiting.remove(ready)
            done.append(ready)
        self._order = done
        return done

    def _set_due(self, dt):
        """How often each system runs in this step."""
        for group in self._groups.values():
            group.due = group.rate.ticks(dt) if group.is_enabled else 0
        for system in self._systems:
            group = self._groups.get(system.group)
            is_on = system.is_enabled and (group is None or group.is_enabled)
            system.due = 0
            if not is_on:
                continue
            if system.is_timer:
                if system.timer is not None:
                    system.timer = max(system.timer - dt, 0.0)
                    system.due = int(system.timer <= 1e-9 and (group is None or group.due > 0))
            elif system.rate is not None:
                system.due = system.rate.ticks(dt)
            else:
                system.due = group.due if group is not None else 1

    def _period(self, system, dt):
        group = self._groups.get(system.group)
        if system.rate is not None:
            return system.rate.period
        return group.rate.period if group is not None and group.rate.period and not system.is_timer else dt

    def _run_systems(self, systems, dt, frame, time):
        for system in systems:
            if not system.due or system.run_if is not None and not system.run_if(self):
                continue
            if system.is_timer:
                system.timer = None
            for _ in range(system.due):
                self._run_system(system, Context(self, float(numpy.float32(self._period(system, dt))), frame, time))

    def _run_system(self, system, context):
        """One run: its commands are made after it; they are dropped if it fails."""
        try:
            system.runs += 1
            if system.query is None:
                system.function(context)
            elif system.levels is not None:
                system.levels.run(system.function, context, system.is_whole)
            elif system.is_whole:
                system.query._run_whole(system.function, context)
            else:
                for component in system.watched:
                    system.query.changed(component, system.since)
                if system.watched:
                    system.since = self._native.advance_version()
                system.query._run(system.function, context.dt, context)
            context._play()
        except BaseException as error:
            forget_views(error)
            gc.collect()
            if self._native.views():
                error.add_note("the exception holds a view of a column: until it is gone, steps are refused")
            raise

    def step(self, dt):
        """Runs all systems once; `dt`: seconds since the last step. When a system of Python raises, so does the
        step: its commands are dropped, those of the systems before it stay, and the systems after it do not run."""
        dt = _seconds(dt, "dt")
        if self._is_stepping:
            raise WrongPhaseError("the world steps: a system does not step it")
        self._native.step_check(dt)
        systems = self._ordered()
        number, time, _ = self.frame
        seconds = float(numpy.float32(dt))
        self._is_stepping = True
        try:
            self._set_due(seconds)
            early = [s for s in systems if s.is_early]
            self._run_systems(early, dt, number + 1, time + seconds)
            self._native.step(dt)
            self._run_systems([s for s in systems if not s.is_early], dt, *self.frame[:2])
        finally:
            self._is_stepping = False
        if self._observers:
            self.run_observers()

    @property
    def frame(self):
        """(number of the last step, time in seconds, dt)."""
        return self._native.frame()

    @property
    def change_version(self):
        """The version of now, for Query.changed and Query.moved: what is written after this call has changed since it."""
        return self._native.advance_version()
