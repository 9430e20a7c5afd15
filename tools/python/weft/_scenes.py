# SPDX-License-Identifier: MIT
"""_scenes: documents of text that become entities."""
import os

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


class Scenes:
    """Scenes and windows of a World."""

    def scene(self, *paths):
        """The scene of documents: their objects may have the components that the world has now. Bakes them."""
        made = Scene(self, [os.fspath(path) for path in paths])
        made.bake()
        return made

    def inspect(self):
        """The address of a window on the world. The inspector is a library of its own, with a server of HTTP, which the
        package does not have: weft.UnsupportedError says what to do."""
        raise CLASSES["UNSUPPORTED"]("the inspector is not built into this package: save the world with world.save(\"name.weft\"), and look "
                                     "at it with `weft dump name.weft`, or run it from C with libweft-inspect")
