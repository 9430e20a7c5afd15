# SPDX-License-Identifier: MIT
"""_values: components, and what becomes a value of them.

A value is never changed in silence: integers fit or are an OverflowError, floats become integers only if they
are whole, entities are no floats and no bools, and each field is given, or keeps its value. The bytes between
fields are zero."""
import enum

import numpy

from . import _native
from ._entity import is_entity_dtype
from ._errors import CLASSES

BadHandleError, TypeMismatchError = CLASSES["BAD_HANDLE"], CLASSES["TYPE_MISMATCH"]

_PLAIN = (_native.SHARED | _native.BUFFER | _native.CHUNK | _native.SPARSE)


def _objects(value):
    """Lists of Python, element by element: no number was rounded on its way."""
    try:
        return numpy.array(value, dtype=object)
    except ValueError as error:
        raise ValueError(f"rows of different lengths: {error}") from None


def _integers(value, array, dtype, where):
    """An array of integers or whole floats, each of which fits the dtype."""
    if array.dtype.kind == "f":
        if not numpy.isfinite(array).all():
            raise ValueError(f"{where}: not-a-number and infinities are no integers")
        if (array != numpy.trunc(array)).any():
            raise ValueError(f"{where}: {array[array != numpy.trunc(array)].flat[0]} is not a whole number")
    elif array.dtype.kind == "O":
        for one in array.flat:
            if isinstance(one, (float, numpy.floating)):
                if one != one or one in (float("inf"), float("-inf")):
                    raise ValueError(f"{where}: not-a-number and infinities are no integers")
                if one != int(one):
                    raise ValueError(f"{where}: {one} is not a whole number")
            elif not isinstance(one, (int, numpy.integer, numpy.bool_)):
                raise TypeError(f"{where}: a number is needed, not {type(one).__name__}")
        array = numpy.array([int(one) for one in array.flat], dtype=object).reshape(array.shape)
    elif array.dtype.kind not in "iub":
        raise TypeError(f"{where}: a number is needed, not {array.dtype}")
    if array.size and array.dtype.kind != "b":
        limits = numpy.iinfo(dtype)
        low, high = int(array.min()), int(array.max())
        if low < limits.min or high > limits.max:
            raise OverflowError(f"{where}: {low if low < limits.min else high} does not fit {dtype.name} "
                                f"({limits.min} to {limits.max})")
    return array.astype(dtype)


def _reals(array, dtype, where):
    if array.dtype.kind == "O":
        for one in array.flat:
            if not isinstance(one, (int, float, numpy.number, numpy.bool_)) or isinstance(one, complex):
                raise TypeError(f"{where}: a number is needed, not {type(one).__name__}")
    elif array.dtype.kind not in "iubf":
        raise TypeError(f"{where}: a number is needed, not {array.dtype}")
    with numpy.errstate(over="ignore"):
        out = array.astype(dtype)
    if array.dtype.itemsize > dtype.itemsize or array.dtype.kind == "O":
        lost = numpy.isinf(out)
        if lost.any() and not numpy.isinf(array[lost].astype("f8")).all():
            raise OverflowError(f"{where}: {array[lost].flat[0]} does not fit {dtype.name}")
    return out


def _texts(value, array, dtype, where):
    flat = [value] if isinstance(value, (str, bytes)) else list(array.flat)
    out = []
    for one in flat:
        if not isinstance(one, (str, bytes)):
            raise TypeError(f"{where}: a text is needed, not {type(one).__name__}")
        one = one.encode() if isinstance(one, str) else bytes(one)
        if len(one) > dtype.itemsize:
            raise OverflowError(f"{where}: the text has {len(one)} bytes, {dtype.itemsize} fit")
        out.append(one)
    return numpy.array(out, dtype).reshape(() if isinstance(value, (str, bytes)) else array.shape)


def cast(value, dtype, where, kind=None):
    """`value` as an array of a dtype of numbers, or an exception that names `where`. `kind`: an enum."""
    if value is None:
        raise TypeError(f"{where}: None is no value")
    if isinstance(value, (str, bytes)) and dtype.kind != "S":
        if is_entity_dtype(dtype):
            raise TypeError(f"{where}: an entity is needed, not {type(value).__name__}: World.find gives that of a name")
        raise TypeError(f"{where}: a number is needed, not {type(value).__name__}")
    array = value if isinstance(value, numpy.ndarray) else numpy.asarray(value) if _is_regular(value) else None
    is_array = isinstance(value, (numpy.ndarray, numpy.generic))
    if array is None or (not is_array and (dtype.kind == "S" or array.dtype.kind in "fO" and dtype.kind in "iu")):
        array = _objects(value)
    if dtype.kind == "S":
        return _texts(value, array, dtype, where)
    if array.dtype.names is not None:
        raise TypeError(f"{where}: a number is needed, not a struct")
    if is_entity_dtype(dtype):
        if array.dtype == dtype and is_array:
            return array
        is_wrong = array.dtype.kind in "fb" and array.size or any(
            isinstance(one, (bool, float, numpy.floating, numpy.bool_))
            for one in (array.flat if array.dtype.kind == "O" else ()))
        if is_wrong or isinstance(value, (list, tuple)) and _has_bool(value):
            raise TypeError(f"{where}: an entity is needed, not a {'bool' if array.dtype.kind == 'b' else 'float'}")
    elif dtype.kind == "b":
        if array.dtype.kind != "b":
            array = _integers(value, array, numpy.dtype("u1"), where)
            if array.size and array.max() > 1:
                raise ValueError(f"{where}: a bool is needed, not {array.max()}")
        return array.astype(bool)
    elif array.dtype == dtype and kind is None:
        return array
    if dtype.kind == "f":
        return _reals(array, dtype, where)
    array = _integers(value, array, dtype, where)
    if kind is not None:
        known = numpy.array([int(one) for one in kind], dtype)
        wrong = array[~numpy.isin(array, known)]
        if wrong.size:
            raise ValueError(f"{where}: {wrong.flat[0]} is no {kind.__name__}: "
                             + ", ".join(f"{one.name} = {int(one)}" for one in kind))
    return array


def _has_bool(value):
    return any(isinstance(one, (bool, numpy.bool_)) or isinstance(one, (list, tuple)) and _has_bool(one)
               for one in value)


def _is_regular(value):
    """Whether NumPy makes an array of it without an error."""
    try:
        numpy.asarray(value)
        return True
    except (ValueError, OverflowError):
        return False


class Field:
    """A field of a component: what its values are, for people and files."""

    __slots__ = ("name", "dtype", "offset", "shape", "kind", "enum", "unit", "text", "range", "fields")

    def __init__(self, name, dtype, offset, shape, kind, members, unit, text, limits, fields=()):
        self.name, self.dtype, self.offset, self.shape, self.kind = name, dtype, offset, shape, kind
        self.enum, self.unit, self.text, self.range = members, unit, text, limits
        self.fields = fields  # of a struct

    def native(self):
        """As the extension takes it."""
        count = int(numpy.prod(self.shape, dtype=int)) if self.shape else 1
        size = self.dtype.itemsize
        if self.kind == _native.TEXT:
            count, size = count * size, 1
        least, most = self.range or (0.0, 0.0)
        constants = None if self.enum is None else tuple((one.name, int(one)) for one in self.enum)
        if self.fields:
            constants = self.name, size, alignment_of(self.dtype), tuple(field.native() for field in self.fields)
        return self.name, self.kind, self.offset, count, size, self.unit, self.text, float(least), float(most), constants


def alignment_of(dtype):
    """That of the type in C: an entity is two numbers of 32 bits."""
    if dtype.names is not None:
        return max(alignment_of(dtype.fields[name][0].base) for name in dtype.names) if dtype.isalignedstruct else 1
    return 4 if is_entity_dtype(dtype) else max(dtype.alignment, 1)


def _kind(name, dtype):
    """The weft_field_kind of a dtype."""
    if dtype.names is not None:
        return _native.STRUCT
    if is_entity_dtype(dtype):
        return _native.ENTITY
    kind = _native.TEXT if dtype.kind == "S" else _native.NUMPY.get(dtype.str[1:]) if dtype.isnative else None
    if kind is None or dtype.itemsize == 0:
        raise TypeError(f"{name}: numbers, booleans, texts (\"S16\"), enums and weft.entity in this machine's byte order "
                        f"only, not {dtype}")
    return kind


def _is_enum(value):
    return isinstance(value, type) and issubclass(value, enum.IntEnum)


def _without_enums(name, rows, at, enums):
    """A list of fields with integers in place of enums, which go into `enums` by their path."""
    if not rows:
        raise TypeError(f"{name}: a struct without fields: make it a tag, or give it a field")
    out = []
    for row in rows:
        row = tuple(row)
        if len(row) > 1 and row[1] is None:
            raise TypeError(f"{name}.{row[0]}: None is no dtype (NumPy takes it for float64)")
        if len(row) > 1 and _is_enum(row[1]):
            enums[(*at, row[0])] = row[1]
            row = (row[0], "i4", *row[2:])
        elif len(row) > 1 and isinstance(row[1], list):
            row = (row[0], _without_enums(name, row[1], (*at, row[0]), enums), *row[2:])
        out.append(row)
    return out


def _fields(name, dtype, at, enums, words):
    """The fields of a dtype with names; `words`: units, texts and ranges, of the outermost."""
    if len(at) > 8:
        raise TypeError(f"{name}: structs in structs more than 8 deep")
    fields = []
    for field in dtype.names:
        inner, offset = dtype.fields[field][:2]
        path = (*at, field)
        where = ".".join((name, *path))
        for title in enums.get(path, ()):
            if not -2 ** 31 <= int(title) < 2 ** 31:
                raise OverflowError(f"{where}: {title.name} does not fit 32 bits")
        nested = ()
        if inner.base.names is not None:
            if inner.base.itemsize == 0:
                raise TypeError(f"{where}: a struct without fields")
            nested = _fields(name, inner.base, path, enums, ({}, {}, {}))
        kind = _native.ENUM if path in enums else _kind(where, inner.base)
        fields.append(Field(field, inner.base, offset, inner.shape, kind, enums.get(path), *(w.get(field) for w in words), nested))
    return fields


def describe(name, dtype, units=None, texts=None, ranges=None):
    """(dtype, fields) of a component of this dtype, whose fields may be of an IntEnum."""
    enums = {}
    if _is_enum(dtype):
        enums[("value",)], dtype = dtype, "i4"
    elif isinstance(dtype, list):
        dtype = _without_enums(name, dtype, (), enums)
    dtype = numpy.dtype(dtype)
    if dtype.itemsize == 0 or (dtype.names is not None and len(dtype.names) == 0):
        raise TypeError(f"{name}: {dtype} has no bytes: make it a tag, or give it a field")
    if dtype.base.names is not None and dtype.names is None:
        raise TypeError(f"{name}: an array of structs: put it into a field, or make it a buffer")
    whole = dtype if dtype.names is not None else numpy.dtype([("value", dtype)])
    words = units or {}, texts or {}, ranges or {}
    for given, what in zip(words, ("unit", "text", "range")):
        for field in given:
            if field not in whole.names:
                raise KeyError(f"{name} has no field {field!r}, which has a {what}")
    return dtype, _fields(name, whole, (), enums, words)


def _is_dense(dtype, fields):
    """Whether every array of this struct is a value: numbers and entities without bytes between them."""
    return (dtype.names is not None and all(field.dtype.kind in "iuf" and field.enum is None for field in fields)
            and sum(field.dtype.itemsize * int(numpy.prod(field.shape)) for field in fields) == dtype.itemsize)


class Component:
    """A component type of one world: made by World.component, World.tag, World.resource."""

    __slots__ = ("number", "name", "dtype", "flags", "fields", "_world", "_is_dense")

    def __init__(self, world, number, name, dtype, flags, fields):
        self._world, self.number, self.name, self.dtype, self.flags, self.fields = (
            world, number, name, dtype, flags, fields)
        self._is_dense = dtype is not None and _is_dense(dtype, fields)

    def __repr__(self):
        return f"<weft.Component {self.name}: {self.dtype if self.dtype is not None else 'tag'}>"

    @property
    def is_plain(self):
        """Whether each row has a value in a column."""
        return not self.flags & _PLAIN

    def _bytes(self, value, count=None, old=None):
        """`value` as an array with the bytes of one value, or of `count`. `old`: what fields keep that a
        dict leaves out; None: it has to have all."""
        if self.dtype is None:
            raise TypeError(f"{self.name} is a tag: it has no value")
        if value is None:
            raise TypeError(f"{self.name}: None is no value")
        shape = () if count is None else (count,)
        if self.dtype.names is None:
            field = self.fields[0]
            if isinstance(value, dict):
                raise TypeError(f"{self.name} has no fields: give a value of {self.dtype}, not a dict")
            inner = self.dtype.shape
            array = cast(value, field.dtype, self.name, field.enum)
            return numpy.ascontiguousarray(self._spread(array, shape, inner, self.name), field.dtype)
        if self._is_dense and isinstance(value, numpy.ndarray) and value.dtype == self.dtype and value.shape == shape:
            return numpy.ascontiguousarray(value).reshape(shape)
        out = numpy.zeros(shape, self.dtype)
        self._fill(out, self.fields, value, count, old, self.name)
        return out

    def _fill(self, out, fields, value, count, old, where):
        """Writes a value, or `count` of them, into an array of structs."""
        names = out.dtype.names
        values = self._by_field(value, names, count, where)
        unknown = [name for name in values if name not in names]
        if unknown:
            raise KeyError(f"{where} has no field {unknown[0]!r}: its fields are {', '.join(map(str, names))}")
        missing = [name for name in names if name not in values]
        if missing and old is None:
            raise ValueError(f"{where}: no value for {', '.join(missing)}: give every field")
        for field in fields:
            here = f"{where}.{field.name}"
            if field.name not in values:
                out[field.name] = old[field.name]
            elif field.fields:
                self._fill_nested(out[field.name], field, values[field.name], None if old is None else old[field.name], here)
            else:
                array = cast(values[field.name], field.dtype, here, field.enum)
                out[field.name] = self._spread(array, out.shape, field.shape, here)

    def _fill_nested(self, out, field, value, old, where):
        """Structs in structs: a list has one for each, anything else is one for all."""
        if isinstance(value, list):
            if out.ndim == 0 or len(value) != len(out):
                raise ValueError(f"{where}: a list of {len(value)} does not fit the shape {out.shape}")
            for i, one in enumerate(value):
                self._fill_nested(out[i, ...], field, one, None if old is None or old.shape != out.shape else old[i, ...], where)
            return
        self._fill(out, field.fields, value, None, old, where)

    def _spread(self, array, shape, inner, where):
        if shape and inner == () and array.shape == (*shape, 1):
            array = array[:, 0]
        try:
            return numpy.broadcast_to(array, shape + inner)
        except ValueError:
            wanted = f"{shape + inner}" if shape + inner else "one number"
            raise ValueError(f"{where}: the shape {array.shape} does not fit {wanted}") from None

    def _by_field(self, value, names, count, where):
        """field: value, or values."""
        if isinstance(value, dict):
            return value
        if isinstance(value, (numpy.ndarray, numpy.void)) and value.dtype.names is not None:
            if set(value.dtype.names) != set(names):
                raise TypeError(f"{where}: fields {', '.join(names)} are needed, not {', '.join(value.dtype.names)}")
            return {name: value[name] for name in names}
        if isinstance(value, tuple):
            if len(value) != len(names):
                raise ValueError(f"{where}: {len(names)} values are needed ({', '.join(names)}), not {len(value)}")
            return dict(zip(names, value))
        if isinstance(value, list) and count is not None:
            rows = [self._by_field(row, names, None, where) for row in value]
            if any(set(row) != set(names) for row in rows):
                raise ValueError(f"{where}: each row needs every field: {', '.join(names)}")
            return {name: [row[name] for row in rows] for name in names}
        if isinstance(value, (int, float, numpy.number)):
            return dict.fromkeys(names, value)
        raise TypeError(f"{where}: a dict, a tuple or an array of its fields is needed, not {type(value).__name__}")

    def _elements(self, values):
        """The elements of a buffer."""
        if self.dtype.names is None:
            inner = self.dtype.shape
            array = cast(values, self.fields[0].dtype, self.name, self.fields[0].enum)
            count = len(array) if array.ndim > len(inner) else None
        else:
            count = len(values)
        if count is None:
            raise ValueError(f"{self.name}: a sequence of elements is needed")
        return self._bytes(values, count)

    def _value(self, memory):
        """One value of its bytes; of a buffer all elements."""
        array = numpy.frombuffer(memory, self.dtype)
        return array if self.flags & _native.BUFFER else array[0]


def component_of(world, value):
    """`value`, a component of this world."""
    if not isinstance(value, Component):
        raise TypeError(f"a component of weft is needed, not {type(value).__name__}")
    if value._world is not world:
        raise BadHandleError(f"{value.name} is a component of another world: register it in this one, too, and use that one")
    return value


def enableable_of(world, component):
    """The number of a component that can be switched off."""
    if not component_of(world, component).flags & _native.ENABLEABLE:
        raise TypeMismatchError(f"{component.name} cannot be switched off: register it with enableable=True", component=component.name)
    return component.number


def numbers_of(world, components):
    """The numbers of components of this world."""
    if isinstance(components, Component):
        components = [components]
    return [component_of(world, c).number for c in components]
