# SPDX-License-Identifier: MIT
"""ctypes_weft.py API_JSON LIBRARY: a binding of libweft for Python's ctypes, made from api.json while the
program runs; it makes a world, steps it and reads an error. A generator for Rust, C# or Zig does the same
with text: docs/guide/bindings.md."""
import ctypes
import json
import re
import sys
import types

PLAIN = {"bool": ctypes.c_bool, "char": ctypes.c_char, "int": ctypes.c_int, "float": ctypes.c_float,
         "double": ctypes.c_double, "size_t": ctypes.c_size_t, "void": None,
         **{f"{sign}int{bits}_t": getattr(ctypes, f"c_{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)}}


class Binding(types.SimpleNamespace):
    """Structs, enumerators, constants and functions by their names in C."""

    def __init__(self, api, library):
        super().__init__()
        self.enums = {enum["name"] for enum in api["enums"]}
        for enum in api["enums"]:
            for value in enum["values"]:
                setattr(self, value["name"], value["value"])
        for constant in api["constants"]:
            setattr(self, constant["name"], constant["value"])
        for struct in api["structs"]:  # each stands behind those that it contains
            setattr(self, struct["name"], self.struct(struct["name"], struct["fields"], ctypes.Structure))
            assert ctypes.sizeof(getattr(self, struct["name"])) == struct["size"]
        for function in api["functions"]:
            if function["library"] != "weft" or function["is_inline"]:
                continue  # inline functions are few lines of C: write those again that are needed
            bound = getattr(library, function["name"])
            bound.restype = self.type(function["returns"])
            bound.argtypes = [self.type(p["type"]) for p in function["parameters"] if p["type"] != "..."]
            setattr(self, function["name"], bound)

    def struct(self, name, fields, base):
        """The class of a struct, or of a union."""
        listed, anonymous = [], []
        for i, field in enumerate(fields):
            kind = self.type(field["type"]) if "fields" not in field else self.struct(
                f"{name}_{field['name'] or i}", field["fields"],
                ctypes.Union if field["type"] == "union" else ctypes.Structure)
            for length in reversed(field.get("lengths", [])):
                kind = kind * length
            if not field["name"]:
                anonymous.append(f"_{i}")
            listed.append((field["name"] or f"_{i}", kind))
        return type(name, (base,), {"_anonymous_": anonymous, "_fields_": listed})

    def type(self, text):
        """The type of ctypes for one of C."""
        plain = re.sub(r"\b(const|struct)\b ?", "", text).strip()
        if plain == "char *":
            return ctypes.c_char_p
        if plain.endswith("*") or "(*)" in plain or plain.endswith("_fn"):
            return ctypes.c_void_p
        if plain in self.enums:
            return ctypes.c_int
        return PLAIN[plain] if plain in PLAIN else getattr(self, plain)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        api = json.load(file)
    weft = Binding(api, ctypes.CDLL(sys.argv[2]))
    world = ctypes.c_void_p()
    result = weft.weft_world_create(ctypes.byref(weft.weft_world_desc(workers=1)), ctypes.byref(world))
    assert result == weft.WEFT_OK, result

    described = weft.weft_component_desc(name=b"Position", size=12, alignment=4)
    position = weft.weft_component_create(world, ctypes.byref(described))
    archetype = weft.weft_archetype_create(world, ctypes.byref(position), 1)
    entity = weft.weft_entity_create(world, archetype)
    print("step:", weft.weft_world_step(world, 1 / 60), "frame:", weft.weft_world_frame(world).number)
    print("has:", weft.weft_entity_has(world, entity, position))

    weft.weft_entity_destroy(world, entity)
    result = weft.weft_entity_destroy(world, entity)  # a second time
    error = ctypes.cast(weft.weft_world_error(world), ctypes.POINTER(weft.weft_error))[0]
    print("error:", next(e["name"] for e in api["errors"] if e["value"] == result), "|", error.text.decode())
    weft.weft_world_destroy(world)


if __name__ == "__main__":
    main()
