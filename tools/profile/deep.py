# SPDX-License-Identifier: MIT
"""Samples whose copy of the stack ended before the marker of their system: functions with kilobytes of local
variables. A few samples copy whole stacks (recording.events). Those whose marker lies beyond the small copy say which
systems the functions at its top belong to, and how often; the others are shared out in these proportions."""
import collections

STACK_BYTES = 65528  # as much as perf copies
EVENT = "whole-stacks"


class Stacks:
    """What whole stacks say of the innermost functions: learn first, then complete."""

    def __init__(self):
        self.seen = collections.defaultdict(collections.Counter)  # last frames -> (system, frames above) -> count
        self.given = collections.defaultdict(collections.Counter)

    def learn(self, system, frames):
        """`system` None: there is none on the whole stack."""
        self.seen[()][system, ()] += 1
        for count in (1, 2):
            if len(frames) >= count:
                above = tuple(frames[:-count]) if system else ()
                self.seen[tuple(frames[-count:])][system, above] += 1

    def complete(self, sample):
        """Changes of a sample's fields: system and frames, where its stack is broken and others tell more."""
        if not sample.is_broken or not sample.system.startswith("("):
            return {}
        for count in (2, 1, 0):
            last = tuple(sample.frames[len(sample.frames) - count:])
            if len(last) == count and last in self.seen:
                system, above = self.share_out(last)
                frames = [*above, *(last or sample.frames[1:])]
                return {"system": system, "frames": frames, "is_broken": False} if system else {}
        return {}

    def share_out(self, last):
        """The next of those seen, so that each gets its part of the whole at any time."""
        seen, given = self.seen[last], self.given[last]
        one = min(seen, key=lambda one: ((given[one] + 1) / seen[one], str(one)))
        given[one] += 1
        return one
