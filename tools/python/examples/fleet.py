# SPDX-License-Identifier: MIT
"""fleet.py: ships from a pattern: prefabs, their members, instances, instances by commands."""
import weft

world = weft.World()
Hull = world.component("Hull", "i4")
Range = world.component("Range", "i4")
Target = world.component("Target", weft.entity)
Dock = world.component("Dock", [("left", "i4")])

# The pattern: a ship with two turrets. Copies of a prefab say what they were made from: InstanceOf.
instance_of = world.instance_of
ship = world.create(values={Hull: 100}, name="ship")
turrets = [world.create(values={Range: reach, Target: ship}) for reach in (300, 500)]
world.relate(turrets, world.parent, ship)
world.prefab(ship, *turrets)

ships, guns = world.query(write=[Hull]), world.query(read=[Range, Target])
print(f"queries leave the pattern out: {len(ships)} ships, {len(guns)} turrets")

fleet = world.instantiate(ship, 3)
world.set(fleet[1], Hull, 60)
world.settle()
print(f"three copies: {len(ships)} ships, {len(guns)} turrets")
for one in fleet:
    reach = [int(world.get(turret, Range)) for turret in world.children(one)]
    own = all(world.get(turret, Target) == one for turret in world.children(one))
    print(f"hull {world.get(one, Hull)}, turrets reach {reach}, they refer to their own ship: {own}")

# A copy has values of its own: a change of the pattern is for later ones.
world.set(ship, Hull, 120)
world.create(values={Dock: {"left": 2}})


@world.system(write=[Dock])
def build(s: weft.Slice) -> None:
    for dock in s[Dock]:
        if dock["left"] > 0:
            dock["left"] -= 1
            made = s.commands.instantiate(ship)
            s.commands.set_name(made, f"built in step {s.frame}")


for _ in range(4):
    world.step(1)
print("hulls:", ships.read(Hull).tolist())
second = world.find("built in step 2")
print("the second is an instance of the pattern:", second is not None and world.target(second, instance_of) == ship)

# prints:
# queries leave the pattern out: 0 ships, 0 turrets
# three copies: 3 ships, 6 turrets
# hull 100, turrets reach [300, 500], they refer to their own ship: True
# hull 60, turrets reach [300, 500], they refer to their own ship: True
# hull 100, turrets reach [300, 500], they refer to their own ship: True
# hulls: [100, 60, 100, 120, 120]
# the second is an instance of the pattern: True
