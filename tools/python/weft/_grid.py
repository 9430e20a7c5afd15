# SPDX-License-Identifier: MIT
"""_grid: which points are near each other, for arrays of positions: <weft/grid.h>."""
import math

import numpy

from . import _native
from ._errors import LimitError

_RUN = numpy.dtype({"names": ["begin", "end", "shift"], "formats": ["u4", "u4", ("i1", 3)], "offsets": [0, 4, 8], "itemsize": 12})


class Pairs:
    """Pairs of a Grid, by rows: `i, j = pairs` (with vectors=True: `i, j, vectors`)."""

    __slots__ = ("i", "j", "begin", "vectors")

    def __init__(self, begin, i, j, vectors=None):
        self.begin, self.i, self.j, self.vectors = begin, i, j, vectors

    def __len__(self):
        return len(self.i)

    def __iter__(self):
        return iter((self.i, self.j) if self.vectors is None else (self.i, self.j, self.vectors))

    @property
    def count(self):
        """How many pairs each row has."""
        return numpy.diff(self.begin)

    def sum(self, values):
        """For each row the sum of what its pairs have, one after the other, in the dtype of `values`: the same bits in
        each run. `values`: one for each pair."""
        values = numpy.asarray(values)
        if values.shape[:1] != self.i.shape:
            raise ValueError(f"one value for each of {len(self)} pairs is needed, not the shape {values.shape}")
        out = numpy.zeros((len(self.begin) - 1, *values.shape[1:]), values.dtype)
        for inner in numpy.ndindex(values.shape[1:]):
            numpy.add.at(out[(slice(None), *inner)], self.i, values[(slice(None), *inner)])
        return out


class Grid:
    """Points sorted into cells, to find those near each other. Built each step from positions as they are; needs no
    world. `least`, `most`: corners of the box, of two or three numbers. `reach`: points nearer than this are neighbours.
    `periodic`: what leaves the box on one side comes in on the other: True, False, or one for each axis."""

    def __init__(self, least, most, reach, *, periodic=False):
        least, most = _corner(least, "least"), _corner(most, "most")
        self._axes = len(least)
        if len(most) != self._axes:
            raise ValueError(f"least has {self._axes} numbers, and most {len(most)}")
        ring = numpy.asarray(periodic)
        if ring.dtype != bool or ring.shape not in ((), (self._axes,)):
            raise TypeError(f"periodic is True, False, or one for each axis, not {periodic!r}")
        more = (0.0,) * (3 - self._axes)
        self._reach = _number(reach, "reach")
        if not 0 < self._reach < math.inf or not all(0 < b - a < math.inf for a, b in zip(least, most)):
            raise ValueError(f"the box from {least} to {most} needs sides, and the reach {reach} has to be more than 0; all finite")
        if math.prod(max((b - a) / self._reach, 1) for a, b in zip(least, most)) > 2 ** 28:
            raise LimitError(f"a box from {least} to {most} has more than 2^28 cells of {reach}: make the reach larger, or the box smaller")
        self._native = _native.Grid(self._axes, (*least, *more), (*most, *more), self._reach,
                                    (*numpy.broadcast_to(ring, self._axes).tolist(), *(False for _ in more)))

    def build(self, positions):
        """Sorts points into cells; replaces those before. `positions`: an array of a row of numbers for each point, or of
        structs of numbers; float32 and float64 are read where they are. What is outside of the box belongs to the nearest
        cell; along a periodic axis it is wrapped."""
        self._native.build(self._rows(positions))

    def pairs(self, places=None, *, within=None, half=False, itself=False, vectors=False):
        """All pairs of points that are nearer than `within` (the reach; less, or math.inf: all of the cells
        beside): Pairs, `i, j = grid.pairs()`, rows of arrays, by i, in a fixed order. Each pair is there from both sides; half=True:
        once; itself=True: each point with itself, too. `places`: i are the rows of these positions instead, near the points j.
        vectors=True: the way from i to j, across periodic borders, too. Distances of float32 are float32."""
        begin, i, j, *more = self._search(places, within, half, itself, False, vectors)
        ways = None
        if more:
            size = len(more[0]) // max(len(j) // 8 * self._axes, 1)
            ways = numpy.frombuffer(more[0], "f8" if size == 8 else "f4").reshape(-1, self._axes)
        return Pairs(*(numpy.frombuffer(part, "i8") for part in (begin, i, j)), ways)

    def count(self, places=None, *, within=None, itself=False):
        """How many points are near each point, or each of `places`: without a list of them."""
        return numpy.frombuffer(self._search(places, within, False, itself, True, False)[0], "i8")[:-1]

    def _search(self, places, within, half, itself, is_counted, vectors):
        within = self._reach if within is None else _number(within, "within")
        if within <= 0 or self._reach < within < math.inf:
            raise ValueError(f"within is {within}: a distance up to the reach, {self._reach}, or math.inf")
        if half and places is not None:
            raise ValueError("half is for pairs of the points themselves, not for places")
        rows = None if places is None else self._rows(places)
        return self._native.pairs(rows, within, bool(half), bool(itself), is_counted, bool(vectors))

    def _rows(self, positions):
        """An array that the extension reads: a view, where that is possible."""
        array = numpy.asarray(positions)
        if array.dtype.names is not None:
            array = _columns(array)
        if array.dtype.kind not in "fiu":
            raise TypeError(f"positions are numbers, not {array.dtype}")
        if array.size == 0 and array.ndim < 2:
            array = array.reshape(0, self._axes)
        if array.ndim != 2 or array.shape[1] < self._axes:
            raise ValueError(f"positions have {self._axes} numbers a row, not the shape {array.shape}")
        if array.dtype not in ("f4", "f8") or not array.dtype.isnative:
            array = array.astype("f8")
        size = array.itemsize
        if array.strides[1] != size or array.strides[0] < 0 or array.strides[0] % size or not array.flags.aligned:
            array = numpy.ascontiguousarray(array)
        return array

    # As C has it

    def __len__(self):
        return self._native.view()[1]

    @property
    def cells(self):
        """How many cells there are along each axis."""
        return self._native.view()[2][:self._axes]

    @property
    def cell_size(self):
        return self._native.view()[3][:self._axes]

    @property
    def points(self):
        """Rows of positions, by cell: the memory of the grid, as it was built."""
        return numpy.frombuffer(self._native.array(0), "u4")

    @property
    def cell_begin(self):
        """Where the points of each cell begin in `points`, and the end of the last."""
        return numpy.frombuffer(self._native.array(1), "u4")

    @property
    def cell_of(self):
        """The cell of each point."""
        return numpy.frombuffer(self._native.array(2), "u4")

    def cell_at(self, positions):
        """The cells of positions."""
        return numpy.frombuffer(self._native.cells_at(self._rows(positions)), "u4")

    def runs(self, cell, half=False):
        """The points near a cell, as runs of `points`: an array of `begin`, `end`, and `shift`, by how many boxes they
        are to be moved. half=True: of half of the cells beside it, without its own."""
        return numpy.frombuffer(self._native.runs(cell, bool(half)), _RUN)


def _columns(array):
    """Structs whose first fields are numbers of one type behind each other, as rows of numbers."""
    kinds = [array.dtype.fields[name] for name in array.dtype.names]
    first, start = kinds[0][0], kinds[0][1]
    if array.ndim != 1 or first.subdtype is not None:
        if len(kinds) == 1 and array.ndim == 1:
            return array[array.dtype.names[0]]
        raise TypeError(f"positions are an array of numbers, or of structs of numbers, not of {array.dtype}")
    count = 0
    while count < len(kinds) and kinds[count][0] == first and kinds[count][1] == start + count * first.itemsize:
        count += 1
    numbers = array[array.dtype.names[0]]
    return numpy.lib.stride_tricks.as_strided(numbers, (len(array), count), (array.strides[0], first.itemsize), writeable=False)


def _number(value, word):
    if isinstance(value, (bool, str, bytes)) or not isinstance(value, (int, float, numpy.number)):
        raise TypeError(f"{word}: a number is needed, not {value!r}")
    if value != value:
        raise ValueError(f"{word} is not a number")
    return float(value)


def _corner(corner, word):
    try:
        numbers = tuple(_number(one, word) for one in corner)
    except TypeError as error:
        raise TypeError(f"{word} has two or three numbers: {error}") from None
    if len(numbers) not in (2, 3):
        raise ValueError(f"{word} has two or three numbers, not {len(numbers)}")
    return numbers
