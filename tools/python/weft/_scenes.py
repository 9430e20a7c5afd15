# SPDX-License-Identifier: MIT
"""_scenes: documents of text that become entities, once or followed while they are edited; and the inspector."""
import json
import os

import numpy

from ._entity import Entity
from ._errors import CLASSES

InvalidArgumentError = CLASSES["INVALID_ARGUMENT"]


class Scene:
    """Documents (docs/guide/scenes.md): made by World.scene."""

    def __init__(self, world, paths):
        self._native, self._paths = world._native.scene(), paths

    def bake(self):
        """Reads the documents; the second time only what changed. Raises weft.InvalidArgumentError with each mistake."""
        mistakes = self._native.bake(self._paths)
        if mistakes:
            raise InvalidArgumentError("\n".join(text for _, text in mistakes))

    def fill(self):
        """Makes the entities."""
        self._native.fill()

    def entity(self, path):
        """The entity of an object ("ship/dock") that fill() made, or None."""
        found = self._native.entity(path)
        return Entity(found) if found else None

    @property
    def is_stale(self):
        """Whether a file changed since the last bake."""
        return self._native.is_stale()


class Live:
    """Documents that the world follows while they are edited (docs/guide/live.md): made by World.live."""

    def __init__(self, world, paths, is_taken, thread):
        self._native = world._native.live(paths, is_taken, not thread)

    def apply(self, seconds=0.0):
        """Brings what has changed in the files into the world, for about so long (0: all of it). Returns what it did: counts by
        name, `pending` objects that wait for the next call, `errors`: mistakes."""
        if not isinstance(seconds, (int, float)) or not 0 <= seconds < 2 ** 31:
            raise ValueError(f"seconds is {seconds!r}: a number that is not negative is needed")
        return self._native.apply(int(seconds * 1e9))

    def refresh(self):
        """Looks at the files now; with thread=False only."""
        self._native.refresh()

    @property
    def mistakes(self):
        """What is wrong with the documents, as sentences. What they are about comes when they are mended."""
        return self._native.mistakes()

    @property
    def conflicts(self):
        """The last things that both the world and the files have changed, as sentences, the newest first."""
        return self._native.conflicts()

    def entity(self, path):
        """The entity of an object ("ship/dock"), or None."""
        found = self._native.entity(path)
        return Entity(found) if found else None

    def path(self, entity):
        """The path of the object that an entity was made from, or None."""
        return self._native.path(Entity(entity))

    def explain(self, path):
        """Why an object is what it is, as a text; "": there is none."""
        return self._native.explain(path)

    def edit(self, path, field, value):
        """Writes a value into the document of an object: live.edit("ship", "Speed.value", 3). All else of the file stays as it
        is; the world follows by apply()."""
        if isinstance(value, (numpy.generic, numpy.ndarray)):
            value = value.tolist()
        self._native.edit(path, field, json.dumps(value, allow_nan=False))

    def undo(self):
        """Takes the last edit back that was not taken back."""
        self._native.undo()


class Scenes:
    """Scenes and windows of a World."""

    def live(self, *paths, take=False, thread=True):
        """Makes the entities of documents, and follows the files from then on: Live.apply(), before each step, brings in
        what was edited. take=True: of what both the world and the file changed the file's value comes, else the world's stays.
        thread=False: no thread watches; Live.refresh() looks."""
        return Live(self, [os.fspath(path) for path in paths], bool(take), bool(thread))

    def scene(self, *paths):
        """The scene of documents: their objects may have the components that the world has now. Bakes them."""
        made = Scene(self, [os.fspath(path) for path in paths])
        made.bake()
        return made

    def inspect(self, port=0, *, writable=False):
        """The address of a page that shows the world while it steps, on this machine; `port`: 0, one from 27760 on; writable=True: the
        page may change values. The inspector is a library of its own, with a server of HTTP: where it is not built in,
        weft.UnsupportedError says what to do."""
        if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 65536:
            raise ValueError(f"port is {port!r}: a number from 0 to 65535 is needed")
        url = self._native.inspect(port, bool(writable))
        if url is None:
            raise CLASSES["UNSUPPORTED"]("the inspector is not built into this package: save the world with world.save(\"name.weft\"), and "
                                         "look at it with `weft dump name.weft`, or run it from C with libweft-inspect")
        return url
