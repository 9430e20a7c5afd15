# SPDX-License-Identifier: MIT
"""_systems: the part of World about systems and steps."""
import functools

from ._commands import Commands
from ._query import Query


class Systems:
    """Systems and steps of a World."""

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
