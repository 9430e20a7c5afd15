# SPDX-License-Identifier: MIT
"""_errors: a class of exceptions for each code of the library, and its texts in words of Python."""
import re

from . import _native
from ._entity import Entity


class Error(RuntimeError):
    """A refused call. str(error) says what is wrong and what to do; `code` is the name of the code in C
    ("STALE_ENTITY"); `entity` and `component` (a name) say what it is about, or are None."""

    code = "ERROR"

    def __init__(self, text, entity=None, component=None):
        super().__init__(text)
        self.entity, self.component = entity, component

    def __str__(self):
        return self.args[0] if self.args else ""

    def __reduce__(self):
        return type(self), (str(self), self.entity, self.component)


def _class(code, builtin=None, name=None):
    name = name or "".join(word.capitalize() for word in code.split("_")) + "Error"
    bases = (Error,) if builtin is None else (Error, builtin)
    return type(name, bases, {"code": code, "__module__": "weft", "__doc__": f"weft.Error with the code {code}."})


CLASSES = {code: _class(code, builtin) for code, builtin in {
    "INVALID_ARGUMENT": ValueError, "OUT_OF_MEMORY": MemoryError, "LIMIT": None, "NOT_FOUND": KeyError,
    "STALE_ENTITY": LookupError, "BAD_HANDLE": ValueError, "ALREADY_EXISTS": ValueError, "TYPE_MISMATCH": TypeError,
    "WRONG_THREAD": None, "WRONG_PHASE": None, "UNDECLARED_ACCESS": None, "CYCLE": ValueError, "CORRUPT": ValueError,
    "IO": OSError, "UNSUPPORTED": NotImplementedError, "POOL_FULL": None, "WOULD_NEST": None, "FORKED": None,
    "CANCELLED": None, "THREAD_FAILED": None, "BUSY": None, "JOB_FAILED": None}.items()}
NAMES = [kind.__name__ for kind in CLASSES.values()]
globals().update({kind.__name__: kind for kind in CLASSES.values()})

#: Calls of C, as Python has them; what is not here loses its prefix.
_CALLS = {
    "weft_entity_create_filled": "World.create_many", "weft_entity_create_many": "World.create_many",
    "weft_entity_create": "World.create", "weft_entity_destroy_many": "World.destroy",
    "weft_entity_destroy": "World.destroy", "weft_entity_change_many": "World.add or World.remove",
    "weft_entity_set_shared_many": "World.set", "weft_entity_set_shared": "World.set",
    "weft_entity_write_buffer": "World.set", "weft_entity_read_buffer": "World.get",
    "weft_entity_read_shared": "World.get", "weft_entity_read": "World.get", "weft_entity_write": "World.set",
    "weft_resource_read": "World.get_resource", "weft_resource_write": "World.set_resource",
    "weft_component_create": "World.component", "weft_component_info": "World.component",
    "weft_archetype_create": "World.create", "weft_query_create": "World.query", "weft_query_begin": "Query.slices",
    "weft_query_read_values": "Query.read", "weft_query_write_values": "Query.write",
    "weft_query_destroy_entities": "Query.destroy", "weft_query_filter_shared": "Query.where", "weft_query_set_shared": "Query.set",
    "weft_query_filter_changed": "Query.changed", "weft_query_filter_order": "Query.moved",
    "weft_recorder_query_add": "commands.all(query).add", "weft_recorder_query_remove": "commands.all(query).remove",
    "weft_recorder_query_set_shared": "commands.all(query).set", "weft_recorder_query_enable": "commands.all(query).enable",
    "weft_recorder_query_destroy_entities": "commands.all(query).destroy", "weft_entity_set_name_unique": "World.set_name(unique=True)",
    "weft_entity_set_many": "World.set", "weft_observer_create": "World.observe", "weft_relation_set": "World.relate",
    "weft_relation_set_many": "World.relate", "weft_relation_declare": "World.relation", "weft_entity_instantiate": "World.instantiate",
    "weft_schedule_set": "World.measure", "weft_resource_write_buffer": "World.set_resource", "weft_scene_bake": "Scene.bake",
    "weft_scene_fill": "Scene.fill", "weft_live_start": "World.live", "weft_inspect_start": "World.inspect",
    "weft_query_end": "the end of its `with` block", "weft_recorder_create": "World.commands",
    "weft_recorder_create_entity": "Commands.create", "weft_recorder_destroy_entity": "Commands.destroy",
    "weft_recorder_set_shared": "Commands.set", "weft_recorder_set_buffer": "Commands.set",
    "weft_recorder_append": "Commands.append", "weft_slice_read_chunk": "a slice of a query",
    "weft_slice_write_chunk": "a slice of a query", "weft_slice_read_shared": "a slice of a query",
    "weft_system_create": "World.system_in_c", "weft_snapshot_take": "World.snapshot",
    "weft_snapshot_restore": "World.restore", "weft_world_error": "the exception",
    "weft_world_save_memory": "World.save", "weft_world_load_memory": "World.load"}
_PARTS = {"entity": "World", "world": "World", "component": "World", "resource": "World", "query": "Query",
          "recorder": "Commands", "snapshot": "World", "slice": "Slice", "system": "World", "live": "Live", "scene": "Scene"}


def _call(match):
    name = match[0]
    if name in _CALLS:
        return _CALLS[name]
    _, part, *rest = name.split("_")
    return f"{_PARTS[part]}.{'_'.join(rest)}" if part in _PARTS and rest else "_".join([part, *rest])


def _text(text):
    text = re.sub(r"[:;,] raise it in weft_world_desc.*", "", text)  # the package has those of the library
    text = re.sub(r"\bweft_[a-z0-9_]+", _call, text)
    text = text.replace("register it with ENABLEABLE", "register it with enableable=True")
    return re.sub(r"\bWEFT_([A-Z0-9_]+)", r"\1", text)


def make(code, text, entity, component):
    """The exception of an error of the library; `entity`: a number, 0: none."""
    return CLASSES.get(code, Error)(_text(text), Entity(entity) if entity else None, component)


_native.set_raiser(make)
