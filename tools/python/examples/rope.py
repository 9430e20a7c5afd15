# SPDX-License-Identifier: MIT
"""rope.py [IMAGE]: a wave runs around a ring of beads: systems in C from a string, run by all workers."""
import sys

import numpy as np

import weft

BEADS = 1000

world = weft.World()
Height = world.component("Height", "f8")
Speed = world.component("Speed", "f8")
Links = world.component("Links", [("left", weft.entity), ("right", weft.entity)])
Rope = world.resource("Rope", [("stiffness", "f8"), ("drag", "f8")])
world.set_resource(Rope, {"stiffness": 900.0, "drag": 0.1})

place = np.arange(BEADS)
bump = np.maximum(1 - ((place - 500) / 40.0) ** 2, 0)
beads = world.create_many(BEADS, {Height: bump, Speed: 0})
links = np.zeros(BEADS, Links.dtype)
links["left"], links["right"] = np.roll(beads, 1), np.roll(beads, -1)
world.add(beads, Links)
rope = world.query(read=[Height, Speed], write=[Links])
rope.write(Links, links)

# `look_up` reads the heights of other entities; `resources` are pointers: both are declared, so that the engine
# knows what may run at the same time.
weft.c("""
    for (uint32_t i = 0; i < count; i++) {
        const double *left = weft_finder_read(&find_height, links[i].left);
        const double *right = weft_finder_read(&find_height, links[i].right);
        double pull = rope->stiffness * (*left + *right - 2 * height[i]);
        speed[i] += (pull - rope->drag * speed[i]) * dt;
    }
""", name="pull", write=[Speed], read=[Height, Links], look_up=[Height], resources=[Rope])
weft.c("for (uint32_t i = 0; i < count; i++) height[i] += speed[i] * dt;", name="move", write=[Height], read=[Speed])

pictures = []
for second in range(5):
    height = rope.read(Height)
    pictures.append(height)
    print(f"after {second} s the rope is highest at bead {height[:501].argmax()} ({height[:501].max():.2f})")
    for _ in range(128):
        world.step(1 / 128)

if len(sys.argv) > 1:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        sys.exit("The picture needs matplotlib: pip install matplotlib")
    figure = Figure()
    figure.subplots().plot(np.array(pictures).T + np.arange(5))
    figure.savefig(sys.argv[1])

# prints:
# after 0 s the rope is highest at bead 500 (1.00)
# after 1 s the rope is highest at bead 471 (0.50)
# after 2 s the rope is highest at bead 441 (0.47)
# after 3 s the rope is highest at bead 411 (0.45)
# after 4 s the rope is highest at bead 381 (0.43)
