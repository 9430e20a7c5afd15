# SPDX-License-Identifier: MIT
"""fountain.py [IMAGE]: drops are born and die: commands, which are done after the system that recorded them."""
import sys

import weft

world = weft.World()
Position = world.component("Position", "2f8")
Velocity = world.component("Velocity", "2f8")
Total = world.resource("Total", [("born", "i8"), ("died", "i8")])


@world.system
def spout(c: weft.Context) -> None:
    """Twenty drops a step, each with random numbers of its own."""
    numbers = c.random(seed=3).float(40).reshape(20, 2)
    for across, up in numbers:
        c.commands.create(values={Position: (0, 0), Velocity: (2 * across - 1, 8 + 2 * up)})
    c.world.set_resource(Total, {"born": c.world.get_resource(Total)["born"] + 20})


@world.system(write=[Position, Velocity])
def fly(s: weft.Slice) -> None:
    s[Velocity][:, 1] -= 9.81 * s.dt
    s[Position] += s[Velocity] * s.dt


@world.system(read=[Position])
def splash(s: weft.Slice) -> None:
    fallen = s.entities[s[Position][:, 1] < 0]
    for drop in fallen:
        s.commands.destroy(drop)
    s.world.set_resource(Total, {"died": s.world.get_resource(Total)["died"] + len(fallen)})


drops = world.query(read=[Position])
for second in range(1, 5):
    for _ in range(32):
        world.step(1 / 32)
    total, height = world.get_resource(Total), drops.read(Position)[:, 1].max()
    print(f"after {second} s: {total['born']} born, {total['died']} died, "
          f"{len(drops)} in the air, up to {height:.2f} m")

if len(sys.argv) > 1:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        sys.exit("The picture needs matplotlib: pip install matplotlib")
    figure = Figure()
    figure.subplots().plot(*drops.read(Position).T, ".")
    figure.savefig(sys.argv[1])

# prints:
# after 1 s: 640 born, 0 died, 640 in the air, up to 4.91 m
# after 2 s: 1280 born, 142 died, 1138 in the air, up to 4.88 m
# after 3 s: 1920 born, 779 died, 1141 in the air, up to 4.93 m
# after 4 s: 2560 born, 1416 died, 1144 in the air, up to 4.90 m
