# SPDX-License-Identifier: MIT
"""garden.py: entities from a document of text: bake, mistakes, fill, and again after an edit."""
import os
import tempfile

import weft

DOCUMENT = """
{ "weft": 1,
  "prefabs": {
    "tree": {"Plant": {"height": "6 m", "kind": "oak"}}},
  "objects": {
    "gate": {},
    "north": {"prefab": "#tree"},
    "south": {"prefab": "#tree", "Plant": {"height": "850 cm"},  // its kind is the prefab's
      "children": {"nest": {"Nest": {"eggs": 3}}}}}}
"""

world = weft.World()
Plant = world.component("Plant", [("height", "f8"), ("kind", "S8")], units={"height": "m"})
Nest = world.component("Nest", [("eggs", "i4")])


def show(title: str) -> None:
    print(title)
    for path in ("north", "south"):
        plant = scene.entity(path)
        if plant is not None:
            value = world.get(plant, Plant)
            print(f"  {path}: {value['kind'].decode()}, {value['height']:.2f} m")
    nest = scene.entity("south/nest")
    print("  nest:", "none" if nest is None else f"{world.get(nest, Nest)['eggs']} eggs")


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "garden.weft")

    def write(text: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    write(DOCUMENT)
    scene = world.scene(path)  # reads it
    scene.fill()  # makes the entities
    show("as written:")

    write(DOCUMENT.replace('"eggs"', '"egs"'))
    try:
        scene.bake()
    except weft.InvalidArgumentError as error:
        print("refused:", str(error).replace(folder + os.sep, ""))

    write(DOCUMENT.replace("6 m", "7 m").replace('"eggs": 3', '"eggs": 4'))
    print("the file changed:", scene.is_stale)
    scene.bake()
    scene.fill()
    show("after an edit:")
    del scene

# prints:
# as written:
#   north: oak, 6.00 m
#   south: oak, 8.50 m
#   nest: 3 eggs
# refused: garden.weft:9:38: south/nest.Nest: no field "egs" in Nest: is "eggs" meant?
#           "children": {"nest": {"Nest": {"egs": 3}}}}}}
#                                          ^
# the file changed: True
# after an edit:
#   north: oak, 7.00 m
#   south: oak, 8.50 m
#   nest: 4 eggs
