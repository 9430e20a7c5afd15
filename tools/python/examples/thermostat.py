# SPDX-License-Identifier: MIT
"""thermostat.py [IMAGE]: a time series from a resource: one system sums up, one at a fixed rate writes it down."""
import sys

import weft

HOUR = 3600.0

world = weft.World()
Room = world.component("Room", [("celsius", "f8"), ("leak", "f8")])
House = world.resource("House", [("mean", "f8"), ("outside", "f8"), ("heats", "i4"), ("hours_on", "f8")])
rooms = world.query(read=[Room])
world.create_many(50, {Room: [(18.0, (5 + number % 7) / (100 * HOUR)) for number in range(50)]})
world.set_resource(House, {"outside": 4.0})


@world.system(write=[Room])
def warm(s: weft.Slice) -> None:
    house, room = s.world.get_resource(House), s[Room]
    room["celsius"] += ((house["outside"] - room["celsius"]) * room["leak"] + 3 / HOUR * house["heats"]) * s.dt


@world.system
def thermostat(c: weft.Context) -> None:
    """On below 19 degrees, off above 21."""
    house, mean = c.world.get_resource(House), float(rooms.read(Room)["celsius"].mean())
    heats = 1 if mean < 19 else 0 if mean > 21 else int(house["heats"])
    on = float(house["hours_on"]) + heats * c.dt / HOUR
    c.world.set_resource(House, {"mean": mean, "heats": heats, "hours_on": on})


@world.system(timer=True)
def cold_front(c: weft.Context) -> None:
    c.world.set_resource(House, {"outside": -6.0})


series: list[tuple[float, float, int]] = []


@world.system(period=HOUR / 4, after="thermostat")
def write_down(c: weft.Context) -> None:
    house = c.world.get_resource(House)
    series.append((c.time / HOUR, float(house["mean"]), int(house["heats"])))


world.set_timer("cold_front", 12 * HOUR)
for _ in range(24 * 60):
    world.step(60)
hours, means, heats = zip(*series)
print(f"{len(series)} rows, the mean between {min(means[8:]):.1f} and {max(means[8:]):.1f} degrees")
for first in (0, 12):
    print(f"hours {first} to {first + 12}: on in {sum(heats[4 * first:4 * first + 48])} of 48 rows")
print(f"the heating was on for {world.get_resource(House)['hours_on']:.1f} hours")

if len(sys.argv) > 1:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        sys.exit("The picture needs matplotlib: pip install matplotlib")
    figure = Figure()
    figure.subplots().plot(hours, means)
    figure.savefig(sys.argv[1])

# prints:
# 96 rows, the mean between 19.0 and 21.0 degrees
# hours 0 to 12: on in 22 of 48 rows
# hours 12 to 24: on in 32 of 48 rows
# the heating was on for 13.4 hours
