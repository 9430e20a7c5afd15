# SPDX-License-Identifier: MIT
"""hello.py: first steps: a world, components, entities, a system, a query."""
import weft

world = weft.World()
Height = world.component("Height", "f4", units={"value": "m"})  # a name and a NumPy dtype
Speed = world.component("Speed", "f4", units={"value": "m/s"})
Hanging = world.tag("Hanging")  # a component without a value

apple = world.create(values={Height: 3, Speed: 0}, name="apple")
pear = world.create(Hanging, values={Height: 2, Speed: 0}, name="pear")
world.create_many(10, {Height: range(4, 14), Speed: 0})  # one value for all, or one each


@world.system(write=[Height, Speed], without=[Hanging])
def fall(s: weft.Slice) -> None:
    """Called in each step with the columns of many entities."""
    s[Speed] -= 10 * s.dt
    s[Height] += s[Speed] * s.dt


@world.system(read=[Height])
def land(s: weft.Slice) -> None:
    for entity, height in zip(s.entities, s[Height]):
        if height <= 0:
            s.commands.destroy(entity)  # done after the system


heights = world.query(read=[Height])
for second in range(3):
    print(f"after {second} s: {len(heights)} in the air, the highest at {heights.read(Height).max():.2f} m")
    for _ in range(8):
        world.step(1 / 8)

print(f"{world.name(pear)} is alive: {world.is_alive(pear)}, apple: {world.is_alive(apple)}")
world.remove(pear, Hanging)
world.step(1 / 8)
print(f"the pear falls: {world.get(pear, Speed):.2f} m/s")

# prints:
# after 0 s: 12 in the air, the highest at 13.00 m
# after 1 s: 9 in the air, the highest at 7.38 m
# after 2 s: 1 in the air, the highest at 2.00 m
# pear is alive: True, apple: False
# the pear falls: -1.25 m/s
