# SPDX-License-Identifier: MIT
"""_files: the part of World about snapshots and files."""


class Files:
    """Snapshots and files of a World."""

    def snapshot(self, previous=None):
        return self._native.snapshot(previous)

    def restore(self, snapshot):
        self._native.restore(snapshot)

    def save(self, path=None):
        """Writes a world file; without a path returns its bytes."""
        return self._native.save_bytes() if path is None else self._native.save(path)

    def load(self, source):
        """Fills a new world from a path, or from bytes. Register its components first."""
        if isinstance(source, (bytes, bytearray, memoryview)):
            self._native.load_bytes(source)
        else:
            self._native.load(source)

    def hash(self, content=False):
        return self._native.hash(content)
