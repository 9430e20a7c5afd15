# SPDX-License-Identifier: MIT
"""_sum: exact sums, which do not depend on the order of what is added: <weft/sum.h>."""
import numpy

from . import _native


class Sum:
    """An exact sum of numbers: add in any order, merge partial sums in any order, round once at the end."""

    __slots__ = ("_native",)

    def __init__(self, values=()):
        self._native = _native.Sum()
        self.add(values)

    def add(self, values):
        """Adds a number, or all numbers of an array, exactly."""
        array = numpy.asarray(values)
        if array.dtype.kind == "f" and not isinstance(values, (numpy.ndarray, numpy.generic, float)):
            large = [one for one in numpy.array(values, dtype=object).flat if isinstance(one, int) and abs(one) > 2 ** 53]
            if large:
                raise OverflowError(f"{large[0]} beside floats would be rounded: add it by itself")
        if array.size == 0 and array.dtype.kind in "fiub":
            return
        if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
            self.add((array >> 32).astype("f8") * 2.0 ** 32)  # each half is a double, exactly
            array = (array & 0xFFFFFFFF).astype("f8")
        elif array.dtype.kind in "iub" or array.dtype == "f2":
            array = array.astype("f8")
        if array.dtype.kind != "f" or array.dtype.itemsize > 8:
            raise TypeError(f"numbers of up to 64 bits are needed, not {array.dtype}")
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        is_narrow = array.ndim == 2 and array.shape[1] <= 16 and not array.flags.c_contiguous
        for part in array.T if is_narrow else [array.reshape(-1)]:  # in any order: without a copy of columns
            self._native.add(part)

    def merge(self, other):
        """Adds another sum."""
        if not isinstance(other, Sum):
            raise TypeError(f"a weft.Sum is needed, not {type(other).__name__}")
        self._native.merge(other._native)

    @property
    def value(self):
        """The float next to the sum; +-infinity beyond the range, not-a-number where one, or both infinities, were added."""
        return self._native.value()

    @property
    def words(self):
        """The sum as 70 integers of 64 bits: those of several sums may be added, by MPI.SUM for example, and be given back:
        `total.words = all_words`."""
        return numpy.frombuffer(self._native.words(), "i8")

    @words.setter
    def words(self, words):
        words = numpy.asarray(words)
        if words.dtype != "i8" or words.shape != (70,):
            raise TypeError("words are an array of 70 integers of 64 bits")
        self._native.set_words(numpy.ascontiguousarray(words))

    def __float__(self):
        return self.value

    def __repr__(self):
        return f"weft.Sum({self.value!r})"


def exact_sum(values):
    """The float next to the true sum of an array of numbers, in whatever order they are."""
    return Sum(values).value
