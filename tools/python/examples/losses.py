# SPDX-License-Identifier: MIT
"""losses.py: what died in this step, what was hurt, who came: observers are called after the step, with copies."""
import weft

world = weft.World()
Side = world.component("Side", "S4")
Health = world.component("Health", "i4")
Shield = world.component("Shield", "i4")

for side, count in (("red", 6), ("blue", 5)):
    for number in range(1, count + 1):
        soldier = world.create(values={Side: side, Health: 10}, name=f"{side} {number}")
        if number % 2 == 0:
            world.set(soldier, Shield, 4)


@world.system(write=[Health], optional=[Shield])
def fight(s: weft.Slice) -> None:
    """Each loses up to 7 points; a shield takes a part."""
    hurt = (s.random(seed=11) * 8).astype("i4")
    shield = s[Shield]
    s[Health] -= hurt if shield is None else (hurt - shield).clip(0)
    for soldier in s.entities[s[Health] <= 0]:
        s.commands.destroy(soldier)
    if s.frame == 3 and shield is not None:
        s.commands.create(values={Side: "red", Health: 10}, name="red 7")
        for soldier in s.entities:
            s.commands.remove(soldier, Shield)


@world.observe("destroyed", Side)
def died(o: weft.Observation) -> None:
    """The entities are dead now: what they had is in `values`."""
    assert o.values is not None
    print(f"step {world.frame[0]}: {len(o)} died: " + ", ".join(sorted(side.decode() for side in o.values)))


@world.observe("removed", Shield)
def unprotected(o: weft.Observation) -> None:
    print(f"step {world.frame[0]}: {len(o)} without shield now")


@world.observe("created", Side)
def came(o: weft.Observation) -> None:
    print(f"step {world.frame[0]}: {len(o)} came: " + ", ".join(world.name(soldier) for soldier in o.entities))


for _ in range(4):
    world.step(1)
print(len(world.query(read=[Health])), "are left")

# prints:
# step 2: 4 died: blue, blue, blue, red
# step 3: 1 died: red
# step 3: 5 without shield now
# step 3: 1 came: red 7
# step 4: 2 died: blue, red
# 5 are left
