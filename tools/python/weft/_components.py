# SPDX-License-Identifier: MIT
"""_components: the part of World about component types and resources."""
import numpy

from . import _native
from ._values import Component, _component, _fields


class Components:
    """Component types and resources of a World."""

    def _register(self, name, dtype, flags):
        size, alignment, fields = 0, 1, []
        if dtype is not None:
            dtype = numpy.dtype(dtype)
            fields, size, alignment = _fields(name, dtype), dtype.itemsize, dtype.base.alignment
            if dtype.names is None or not dtype.isalignedstruct:
                alignment = max((dtype.base.alignment if dtype.names is None else 1), 1)
        number = self._native.component(name, size, alignment, flags, fields)
        component = self._components.get(number)
        if component is None:
            component = self._components[number] = Component(self, number, name, dtype)
        return component

    def component(self, name, dtype, enableable=False):
        """A component with values of a dtype: "f4", "3f4", [("x", "f4"), ("y", "f4")], weft.entity."""
        return self._register(name, numpy.dtype(dtype), _native.ENABLEABLE if enableable else 0)

    def tag(self, name):
        """A component without a value."""
        return self._register(name, None, 0)

    def resource(self, name, dtype):
        """A component with one value for the world: get_resource, set_resource."""
        return self._register(name, numpy.dtype(dtype), _native.RESOURCE)

    def get_resource(self, component):
        return _component(component)._value(self._native.resource_read(component.number))

    def set_resource(self, component, value):
        self._native.resource_write(_component(component).number, component._bytes(value))
