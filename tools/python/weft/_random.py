# SPDX-License-Identifier: MIT
"""_random: the random numbers of <weft/random.h>, which depend on what they are for, not on when they are taken."""
import operator

import numpy

from . import _native

_U32, _U64, _FLOAT, _DOUBLE, _BELOW, _NORMAL = range(6)  # as the extension has them
_DTYPES = ("u4", "u8", "f4", "f8", "u4", "f8")


class Random:
    """The numbers of (seed, id, tick, stream): those of weft_random_of in C. `id`: an entity, a number, or an array of
    them: a generator for each, whose calls give an array with a number of each. With `count` a call gives an array of the next
    `count` numbers, of an array of ids a row for each."""

    __slots__ = ("_states", "_shape")

    def __init__(self, seed, id=0, tick=0, stream=0):
        ids = _ids(id)
        self._shape = ids.shape
        self._states = _native.random_of(_whole(seed, 64, "seed"), ids, _whole(tick, 64, "tick") & 0xFFFFFFFF,
                                         _whole(stream, 16, "stream"))

    def _draw(self, kind, count, limit=0):
        if count is not None and not 0 <= operator.index(count) <= 2 ** 18:
            raise ValueError(f"{count} numbers: a generator has 262,144")
        made = numpy.frombuffer(_native.random_draw(self._states, kind, limit, 1 if count is None else count), _DTYPES[kind])
        if count is not None:
            return made.reshape(*self._shape, count)
        return made if self._shape else made[0].item()

    def u32(self, count=None):
        """The next 32 bits."""
        return self._draw(_U32, count)

    def u64(self, count=None):
        """The next 64 bits: two numbers, the lower half first."""
        return self._draw(_U64, count)

    def float(self, count=None):
        """Uniform in [0, 1): one of 2^24 values."""
        return self._draw(_FLOAT, count)

    def double(self, count=None):
        """Uniform in [0, 1): one of 2^53 values."""
        return self._draw(_DOUBLE, count)

    def below(self, limit, count=None):
        """Uniform in 0..limit-1, without bias; 0 for a limit of 0 or 1."""
        return self._draw(_BELOW, count, _whole(limit, 32, "limit"))

    def normal(self, count=None):
        """Normal with mean 0 and variance 1."""
        return self._draw(_NORMAL, count)


def _whole(number, bits, word):
    if isinstance(number, (bool, numpy.bool_)):
        raise TypeError(f"{word}: a whole number is needed, not {number!r}")
    try:
        number = operator.index(number)
    except TypeError:
        raise TypeError(f"{word}: a whole number is needed, not {number!r}") from None
    if not 0 <= number < 2 ** bits:
        raise OverflowError(f"{word} is {number}, which does not fit {bits} bits")
    return number


def _ids(id):
    """The ids as an array: of no dimension for one."""
    if not isinstance(id, (list, tuple, range, numpy.ndarray)):
        return numpy.array(_whole(id, 64, "id"), "u8")
    if not isinstance(id, numpy.ndarray):
        id = numpy.array([_whole(one, 64, "id") for one in id], "u8")
    if id.ndim > 1 or id.dtype.kind not in "ui":
        raise TypeError(f"ids are an array of whole numbers, not of {id.dtype} with the shape {id.shape}")
    if id.dtype.kind == "i" and id.size and id.min() < 0:
        raise OverflowError(f"id is {id.min()}, which does not fit 64 bits")
    return numpy.ascontiguousarray(id, "u8").reshape(id.shape)


def each(seed, entities, tick, stream):
    """Generators of entities, by their index."""
    return Random(seed, entities & numpy.uint64(0x0FFFFFFF), tick, stream)
