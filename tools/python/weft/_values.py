# SPDX-License-Identifier: MIT
"""_values: components, and what becomes a value of them."""
import numpy

from . import _native

#: The dtype of entities: in arrays, and for fields that refer to one.
entity = numpy.dtype("u8", metadata={"weft": "entity"})


def _kind(dtype):
    """The weft_field_kind of one number, or None."""
    if dtype.metadata and dtype.metadata.get("weft") == "entity":
        return _native.ENTITY
    return _native.NUMPY.get(dtype.str[1:]) if dtype.isnative else None


def _fields(name, dtype):
    """(name, kind, offset, count) of the fields of a dtype."""
    if dtype.names is None:
        dtype = numpy.dtype([("value", dtype)])
    fields = []
    for field in dtype.names:
        inner, offset = dtype.fields[field][:2]
        base, shape = inner.base, inner.shape
        kind = _kind(base)
        if kind is None:
            raise TypeError(f"{name}.{field}: numbers and booleans of this machine's byte order only, not {base}")
        fields.append((field, kind, offset, int(numpy.prod(shape, dtype=int)) if shape else 1))
    return fields


def _numbers(components):
    """The numbers of components, which have to be Component objects."""
    if isinstance(components, Component):
        components = [components]
    return [_component(c).number for c in components]


def _component(value):
    if not isinstance(value, Component):
        raise TypeError(f"a component of weft is needed, not {type(value).__name__}")
    return value


class Component:
    """A component type of one world: made by World.component, World.tag, World.resource."""

    __slots__ = ("number", "name", "dtype", "_world")

    def __init__(self, world, number, name, dtype):
        self._world, self.number, self.name, self.dtype = world, number, name, dtype

    def __repr__(self):
        return f"<weft.Component {self.name}: {self.dtype if self.dtype is not None else 'tag'}>"

    def _bytes(self, value, count=None):
        """`value` as an array with the bytes of one value, or of `count`."""
        if self.dtype is None:
            raise TypeError(f"{self.name} is a tag: it has no value")
        if value is None:
            raise TypeError(f"{self.name}: None is no value")
        shape = () if count is None else (count,)
        base, inner = self.dtype.base, self.dtype.shape
        if isinstance(value, dict):
            out = numpy.zeros(shape + inner, base)
            for field, values in value.items():
                out[field] = values
            return out
        if count is not None and base.names and isinstance(value, tuple):
            value = numpy.array(value, base)
        value = numpy.asarray(value, base) if base.names is None else numpy.asarray(value, dtype=base)
        if count is not None and inner == () and value.shape == (count, 1):
            value = value[:, 0]
        return numpy.ascontiguousarray(numpy.broadcast_to(value, shape + inner))

    def _value(self, memory):
        """One value of its bytes."""
        return numpy.frombuffer(memory, self.dtype)[0]


def _entities(entities):
    """One entity as a number, or many as an array."""
    if isinstance(entities, (int, numpy.integer)):
        return int(entities)
    return numpy.ascontiguousarray(entities, "u8")
