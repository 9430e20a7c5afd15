# SPDX-License-Identifier: MIT
"""epidemic.py [IMAGE]: people are well, ill, then immune: states, random numbers, a resource that counts."""
import enum
import sys

import numpy as np

import weft

PEOPLE, DAYS = 20_000, 120


class State(enum.IntEnum):
    WELL = 0
    ILL = 1
    IMMUNE = 2


world = weft.World()
Health = world.component("Health", [("state", State), ("days", "i4")])
Census = world.resource("Census", [("well", "i8"), ("ill", "i8"), ("immune", "i8")])
people = world.query(read=[Health])
world.create_many(PEOPLE - 20, {Health: (State.WELL, 0)})
world.create_many(20, {Health: (State.ILL, 0)})


@world.system
def count(c: weft.Context) -> None:
    c.world.set_resource(Census, tuple(np.bincount(people.read(Health)["state"], minlength=3)))


@world.system(write=[Health])
def live_a_day(s: weft.Slice) -> None:
    """A number in [0, 1) for each person and day: the same in every run."""
    state, days = s[Health]["state"], s[Health]["days"]
    is_ill = state == State.ILL
    days[is_ill] += 1
    state[is_ill & (days > 10)] = State.IMMUNE
    risk = 0.25 * int(s.world.get_resource(Census)["ill"]) / PEOPLE
    state[(state == State.WELL) & (s.random(seed=7) < risk)] = State.ILL


history = []
for day in range(1, DAYS + 1):
    world.step(1)
    census = world.get_resource(Census)
    history.append((census["well"], census["ill"], census["immune"]))
    if day % 20 == 0:
        print(f"day {day:3}: {census['well']:5} well, {census['ill']:5} ill, {census['immune']:5} immune")

if len(sys.argv) > 1:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        sys.exit("The picture needs matplotlib: pip install matplotlib")
    figure = Figure()
    figure.subplots().stackplot(range(DAYS), np.array(history).T, labels=["well", "ill", "immune"])
    figure.legend()
    figure.savefig(sys.argv[1])

# prints:
# day  20: 18980 well,   913 ill,   107 immune
# day  40:  4658 well, 10128 ill,  5214 immune
# day  60:  1339 well,   413 ill, 18248 immune
# day  80:  1310 well,     2 ill, 18688 immune
# day 100:  1310 well,     0 ill, 18690 immune
# day 120:  1310 well,     0 ill, 18690 immune
