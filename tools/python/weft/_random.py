# SPDX-License-Identifier: MIT
"""_random: the random numbers of <weft/random.h>, which depend on what they are for, not on when they are taken."""
import numpy

from . import _native


class Random:
    """The numbers of (seed, id, tick, stream): those of weft_random_of in C. `id`: an entity or a number."""

    __slots__ = ("_of", "_used")

    def __init__(self, seed, id=0, tick=0, stream=0):
        self._of, self._used = _four(seed, id, tick, stream), 0

    def u32(self, count=None):
        """The next 32 bits; `count`: an array of as many numbers."""
        if count is not None and not 0 <= count <= 2 ** 18:
            raise ValueError(f"{count} numbers: a generator has 262,144")
        numbers = numpy.frombuffer(_native.random_numbers(*self._of, self._used, 1 if count is None else count), "u4")
        self._used += len(numbers)
        return int(numbers[0]) if count is None else numbers

    def u64(self):
        """The next 64 bits."""
        low = self.u32()
        return low | self.u32() << 32

    def float(self, count=None):
        """Uniform in [0, 1): one of 2^24 values; `count`: an array of as many numbers."""
        numbers = (self.u32(1 if count is None else count) >> 8).astype("f4") * numpy.float32(2.0 ** -24)
        return float(numbers[0]) if count is None else numbers

    def double(self):
        """Uniform in [0, 1): one of 2^53 values."""
        return (self.u64() >> 11) * 2.0 ** -53


def _four(seed, id, tick, stream):
    for number, bits, word in ((seed, 64, "seed"), (id, 64, "id"), (tick, 64, "tick"), (stream, 16, "stream")):
        if not 0 <= number < 2 ** bits:
            raise OverflowError(f"{word} is {number}, which does not fit {bits} bits")
    return int(seed), int(id), int(tick) & 0xFFFFFFFF, int(stream)


def each(seed, entities, tick, stream):
    """A number in [0, 1) for each entity, by its index."""
    seed, _, tick, stream = _four(seed, 0, tick, stream)
    ids = numpy.ascontiguousarray(entities & numpy.uint64(0x0FFFFFFF))
    numbers = numpy.frombuffer(_native.random_each(seed, ids, tick, stream), "u4")
    return (numbers >> 8).astype("f4") * numpy.float32(2.0 ** -24)
