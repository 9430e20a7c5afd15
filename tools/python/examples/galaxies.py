# SPDX-License-Identifier: MIT
# %% [markdown]
# # Two galaxies pass each other
#
# Toomre and Toomre (1972) found that the tails and bridges of real galaxies are tides: two heavy cores
# pass, and the light stars around them are drawn out. Stars do not attract each other, so 60,000 of
# them are 60,000 independent rows: an Entity Component System's favourite work.
#
# Run it as a script, `python galaxies.py [IMAGE] [STARS]`, or cell by cell.

# %%
import sys

import matplotlib
import numpy as np
from numpy.typing import NDArray

import weft

image = sys.argv[1] if len(sys.argv) > 1 else "galaxies.png"
stars = int(sys.argv[2]) if len(sys.argv) > 2 else 60_000
if __name__ == "__main__":
    matplotlib.use("Agg")
import matplotlib.pyplot as plt

# %% [markdown]
# A component is a name and a NumPy dtype. Both kinds of bodies have a position and a velocity; a tag
# tells the stars of the two discs apart.

# %%
world = weft.World()
Position = world.component("Position", "2f8")
Velocity = world.component("Velocity", "2f8")
Mass = world.component("Mass", "f8")
Star, First = world.tag("Star"), world.tag("First")


# %% [markdown]
# A disc: stars on circular orbits around a core of mass 1 (G = 1).

# %%
def disc(
    random: np.random.Generator,
    count: int,
    centre: NDArray[np.float64],
    drift: NDArray[np.float64],
    spin: int,
    *tags: weft.Component,
) -> None:
    world.create(values={Position: centre, Velocity: drift, Mass: 1.0})
    radius = np.sqrt(random.uniform(0.04, 1.0, count))
    angle = random.uniform(0, 2 * np.pi, count)
    along = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    across = spin * np.stack([-along[:, 1], along[:, 0]], axis=1)
    speed = radius / (radius**2 + SOFT**2) ** 0.75
    world.create_many(count, {Position: centre + along * radius[:, None],
                              Velocity: drift + across * speed[:, None]}, [Star, *tags])


SOFT = 0.1
random = np.random.default_rng(1972)
disc(random, stars // 2, np.array([-2.2, -0.9]), np.array([0.42, 0.10]), 1, First)
disc(random, stars - stars // 2, np.array([2.2, 0.9]), np.array([-0.42, -0.10]), -1)
cores = world.query(read=[Position, Mass])


# %% [markdown]
# Gravity, for all bodies: `s[Velocity]` is the memory of the world, so `+=` is the whole update.

# %%
centres, masses = cores.read(Position), cores.read(Mass)


@world.system(write=[Velocity], read=[Position])
def gravity(s: weft.Slice) -> None:
    position, pull = s[Position], np.zeros(2)
    for at, mass in zip(centres, masses):
        away = at - position
        pull = pull + mass * away / ((away**2).sum(axis=1, keepdims=True) + SOFT**2) ** 1.5
    s[Velocity] += pull * s.dt


@world.system(write=[Position], read=[Velocity])
def drift(s: weft.Slice) -> None:
    s[Position] += s[Velocity] * s.dt


@world.system(before=True)
def look_at_cores(_: weft.Context) -> None:
    global centres, masses
    centres, masses = cores.read(Position), cores.read(Mass)


# %% [markdown]
# Six moments. A snapshot before the encounter lets us come back to it.

# %%
first = world.query(read=[Position], having=[Star, First])
second = world.query(read=[Position], having=[Star], without=[First])
before = world.snapshot()
figure, axes = plt.subplots(2, 3, figsize=(12, 8), facecolor="black")
for panel in axes.flat:
    for query, colour in ((first, "#7fd4ff"), (second, "#ffb37f")):
        x, y = query.read(Position).T
        panel.plot(x, y, ",", color=colour, alpha=0.5)
    panel.plot(*cores.read(Position).T, "o", color="white", markersize=3)
    panel.set(xlim=(-4.5, 4.5), ylim=(-4.5, 4.5), aspect="equal")
    panel.text(-4.2, 3.9, f"t = {world.frame[1]:.1f}", color="white")
    panel.axis("off")
    for _ in range(80):
        world.step(0.02)
figure.tight_layout()
figure.savefig(image, dpi=120)
print(f"{world.stats['entities']} bodies, {world.frame[0]} steps: {image}")

# %% [markdown]
# The same future again, to the bit: from the snapshot, with the same steps.

# %%
once = world.hash()
world.restore(before)
for _ in range(480):
    world.step(0.02)
print("the same hash after going back" if world.hash() == once else "the hashes differ")
