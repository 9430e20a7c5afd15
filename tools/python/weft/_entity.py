# SPDX-License-Identifier: MIT
"""_entity: one entity, and arrays of them."""
import operator

import numpy

#: The dtype of entities: in arrays, and for fields that refer to one.
entity = numpy.dtype("u8", metadata={"weft": "entity"})


class Entity(int):
    """An entity, which prints as index:version: an int, so that it is hashable, and fits arrays and fields of
    weft.entity."""

    __slots__ = ()

    def __new__(cls, value=0):
        if type(value) is int and 0 <= value < 2 ** 64:
            return super().__new__(cls, value)
        try:
            made = super().__new__(cls, operator.index(value))
        except TypeError:
            made = None
        if made is None or isinstance(value, (bool, numpy.bool_)):
            raise TypeError(f"an entity is needed, not {value!r}")
        if not 0 <= made < 2 ** 64:
            raise OverflowError(f"{int(made)} is no entity: they have 64 bits")
        return made

    @property
    def index(self):
        """Its number among the entities of its world."""
        return int(self) & 0x0FFFFFFF

    @property
    def version(self):
        """How often its index was used."""
        return int(self) >> 32

    def __str__(self):
        return f"{self.index}:{self.version}" if self.version & 1 else f"{int(self) & 0xFFFFFFFF}:{self.version}"

    __repr__ = __str__


def is_entity_dtype(dtype):
    return bool(dtype.metadata) and dtype.metadata.get("weft") == "entity"


def as_entities(entities):
    """One entity as an Entity, or many as an array; TypeError for anything else."""
    if type(entities) is Entity:
        return entities
    if type(entities) is numpy.ndarray and entities.dtype == entity and entities.flags.c_contiguous and entities.flags.aligned:
        return entities  # as it comes from weft: asking further takes 30 us
    if isinstance(entities, (int, numpy.integer)):
        return Entity(entities)
    many = numpy.asarray(entities)
    if many.size == 0 and many.dtype.kind in "fuiO":
        return numpy.empty(0, "u8")
    if many.dtype.kind in "fO" and not isinstance(entities, (numpy.ndarray, numpy.generic)) and isinstance(
            entities, (list, tuple)):
        many = numpy.array([Entity(one) for one in entities if _is_one(one)], "u8")
    if isinstance(entities, str):
        raise TypeError(f"an entity is needed, not the text {entities!r}: World.find gives that of a name")
    if many.dtype.kind not in "ui":
        raise TypeError(f"entities are needed: one, or an array of dtype weft.entity, not {type(entities).__name__} "
                        f"of {many.dtype}")
    if many.dtype.kind == "i" and many.min() < 0:
        raise OverflowError("a negative number is no entity")
    return numpy.require(many, "u8", ["C", "A"])


def _is_one(one):
    if isinstance(one, (int, numpy.integer)) and not isinstance(one, bool):
        return True
    raise TypeError(f"an entity is needed, not {one!r}")
