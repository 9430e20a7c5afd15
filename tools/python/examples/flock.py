# SPDX-License-Identifier: MIT
"""flock.py [IMAGE]: birds turn as their neighbours do (Vicsek, 1995): NumPy on whole columns."""
import sys

import numpy as np
from numpy.typing import NDArray

import weft

BIRDS, SIDE, NEAR = 300, 10.0, 1.0

world = weft.World()
Position = world.component("Position", "2f8")
Heading = world.component("Heading", "2f8")  # of length 1


def unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums and square roots only: they are the same on every machine."""
    lengths: NDArray[np.float64] = np.sqrt(vectors[:, 0] ** 2 + vectors[:, 1] ** 2)
    return vectors / lengths[:, None]


def noise(seed: int) -> NDArray[np.float64]:
    numbers = weft.Random(seed).float(2 * BIRDS).astype("f8")
    return numbers.reshape(BIRDS, 2)


world.create_many(BIRDS, {Position: SIDE * noise(1), Heading: unit(noise(2) - 0.5)})
birds = world.query(write=[Position, Heading])


@world.system
def turn(c: weft.Context) -> None:
    """Each looks at all others: a system without rows, which reads and writes whole columns."""
    position, heading = birds.read(Position), birds.read(Heading)
    away = np.abs(position[:, None] - position)
    away = np.minimum(away, SIDE - away)  # the field has no border
    is_near = (away**2).sum(axis=2) < NEAR**2
    mean = unit((is_near[:, :, None] * heading).sum(axis=1))
    birds.write(Heading, unit(mean + 0.5 * (noise(100 + c.frame) - 0.5)))


@world.system(write=[Position], read=[Heading])
def fly(s: weft.Slice) -> None:
    s[Position] = (s[Position] + 0.5 * s.dt * s[Heading]) % SIDE


for _ in range(6):
    along, across = birds.read(Heading).mean(axis=0)
    print(f"after {world.frame[1]:2.0f} s the mean heading has length {np.hypot(along, across):.2f}")
    for _ in range(20):
        world.step(0.5)

if len(sys.argv) > 1:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        sys.exit("The picture needs matplotlib: pip install matplotlib")
    figure = Figure(figsize=(6, 6))
    figure.subplots().quiver(*birds.read(Position).T, *birds.read(Heading).T)
    figure.savefig(sys.argv[1])

# prints:
# after  0 s the mean heading has length 0.05
# after 10 s the mean heading has length 0.94
# after 20 s the mean heading has length 0.97
# after 30 s the mean heading has length 0.98
# after 40 s the mean heading has length 0.98
# after 50 s the mean heading has length 0.98
