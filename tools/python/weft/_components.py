# SPDX-License-Identifier: MIT
"""_components: the part of World about component types and resources."""
from . import _native
from ._errors import AlreadyExistsError, TypeMismatchError
from ._values import Component, alignment_of, component_of, describe

_KINDS = {None: 0, "sparse": _native.SPARSE, "shared": _native.SHARED, "chunk": _native.CHUNK,
          "buffer": _native.BUFFER}


def _flags(kind, enableable=False, cleanup=False, hashed=True, copied=True):
    if kind not in _KINDS:
        raise ValueError(f"kind is None, 'sparse', 'shared', 'chunk' or 'buffer', not {kind!r}")
    return (_KINDS[kind] | (_native.ENABLEABLE if enableable else 0) | (_native.CLEANUP if cleanup else 0)
            | (0 if hashed else _native.NOT_HASHED) | (0 if copied else _native.NOT_COPIED))


class Components:
    """Component types and resources of a World."""

    def _own(self, component):
        """`component`, which has to be of this world."""
        return component_of(self, component)

    def _register(self, name, dtype, flags, units=None, texts=None, ranges=None):
        if not isinstance(name, str):
            raise TypeError(f"a name is needed, not {type(name).__name__}")
        size, alignment, fields = 0, 1, []
        if dtype is not None:
            dtype, fields = describe(name, dtype, units, texts, ranges)
            size, alignment = dtype.itemsize, alignment_of(dtype.base)
        rows = tuple(field.native() for field in fields)
        for known in self._components.values():
            if known.name == name and not _is_same(known, dtype, flags, rows):
                raise AlreadyExistsError(f"{name} is known as {_shape(known.dtype)}: ask for that, or take another name "
                                         f"for {_shape(dtype)}", component=name)
        number = self._native.component(name, size, alignment, flags, rows)
        component = self._components.get(number)
        if component is None:
            component = self._components[number] = Component(self, number, name, dtype, flags, fields)
        return component

    def component(self, name, dtype, enableable=False, *, kind=None, cleanup=False, hashed=True, copied=True, units=None,
                  texts=None, ranges=None):
        """A component with values of a dtype: "f4", "3f4", "S16" (a text), an IntEnum, weft.entity, or a struct
        of these: [("x", "f4"), ("y", "f4")].

        kind: None, each entity has a value in a column; "sparse": cheap to add and remove; "shared": entities
        with equal values share one; "chunk": one for the entities of a chunk; "buffer": each has an array that
        grows, of elements of the dtype. enableable: can be switched off; cleanup: stays when its entity is
        destroyed, until it is removed; hashed=False: world.hash leaves it out; copied=False: copies of an entity
        do not get it. units, texts, ranges: what tools show, by field: {"x": "m"}, {"x": (0, 10)}."""
        return self._register(name, _given(name, dtype), _flags(kind, enableable, cleanup, hashed, copied), units, texts, ranges)

    def tag(self, name, *, sparse=False, cleanup=False):
        """A component without a value."""
        return self._register(name, None, _flags("sparse" if sparse else None, cleanup=cleanup))

    def resource(self, name, dtype, *, kind=None, hashed=True, units=None, texts=None, ranges=None):
        """A component with one value for the world: get_resource, set_resource. kind="buffer": an array that grows, of
        elements of the dtype."""
        if kind not in (None, "buffer"):
            raise ValueError(f"kind of a resource is None or 'buffer', not {kind!r}")
        return self._register(name, _given(name, dtype), _native.RESOURCE | _KINDS[kind] | (0 if hashed else _native.NOT_HASHED),
                              units, texts, ranges)

    def get_resource(self, component):
        """The value of a resource (a copy); of a buffer an array of its elements."""
        return self._own(component)._value(self._native.resource_read(component.number))

    def append_resource(self, component, values):
        """Appends elements to a resource that is a buffer, also while systems run and views live."""
        if not self._own(component).flags & _native.BUFFER:
            raise TypeMismatchError(f"{component.name} is no buffer: set_resource gives it a value", component=component.name)
        self._native.resource_write_buffer(component.number, component._elements(values), True)

    def set_resource(self, component, value):
        """Sets a resource, also while systems run and views live. Fields that a dict leaves out stay; of a buffer all elements are
        replaced."""
        if self._own(component).flags & _native.BUFFER:
            self._native.resource_write_buffer(component.number, component._elements(value), False)
            return
        old = self.get_resource(component)
        self._native.resource_write(component.number, component._bytes(value, old=old))


def _given(name, dtype):
    if dtype is None:
        raise TypeError(f"{name}: None is no dtype: world.tag makes a component without a value")
    return dtype


def _shape(dtype):
    return "a tag" if dtype is None else str(dtype)


def _is_same(known, dtype, flags, rows):
    if known.flags != flags or (known.dtype is None) != (dtype is None):
        return False
    return dtype is None or (known.dtype == dtype and tuple(field.native() for field in known.fields) == rows)
