# SPDX-License-Identifier: MIT
"""messages.py: events are entities that live for one step: one system makes them, others read them, the last one
takes them away."""
import numpy as np

import weft

world = weft.World()
Place = world.component("Place", "f8")
Speed = world.component("Speed", "f8")
Bump = world.component("Bump", [("who", weft.entity), ("force", "f8")])  # the event
Bumps = world.resource("Bumps", [("count", "i8"), ("hardest", "f8")])

balls = world.create_many(4, {Place: [1, 4, 6, 9], Speed: [2, -3, 1.5, 4]})
NAMES = dict(zip(balls.tolist(), "abcd"))


@world.system(write=[Place, Speed])
def roll(s: weft.Slice) -> None:
    """Between walls at 0 and 10; a bump is an event."""
    s[Place] += s[Speed] * s.dt
    is_out = (s[Place] < 0) | (s[Place] > 10)
    for ball, speed in zip(s.entities[is_out], s[Speed][is_out]):
        s.commands.create(values={Bump: (ball, abs(speed))})
    s[Speed][is_out] *= -1
    s[Place] = s[Place].clip(0, 10)


@world.system(read=[Bump])
def report(s: weft.Slice) -> None:
    """The events of this step are there: commands are done after each system."""
    for bump in s[Bump]:
        print(f"t = {s.time:.1f}: {NAMES[int(bump['who'])]} bumps with {bump['force']:.1f}")


@world.system(read=[Bump], after="report")
def tally(s: weft.Slice) -> None:
    """Any number of systems may read the same events."""
    old = s.world.get_resource(Bumps)
    hardest = max(float(old["hardest"]), float(np.max(s[Bump]["force"])))
    s.world.set_resource(Bumps, (old["count"] + len(s), hardest))


@world.system(read=[Bump], after=["report", "tally"])
def forget(s: weft.Slice) -> None:
    for event in s.entities:
        s.commands.destroy(event)


events = world.query(read=[Bump])
for _ in range(10):
    world.step(0.5)
    assert len(events) == 0
total = world.get_resource(Bumps)
print(f"{total['count']} bumps, the hardest with {total['hardest']:.1f}")

# prints:
# t = 0.5: d bumps with 4.0
# t = 1.5: b bumps with 3.0
# t = 3.0: c bumps with 1.5
# t = 3.5: d bumps with 4.0
# t = 5.0: a bumps with 2.0
# t = 5.0: b bumps with 3.0
# 6 bumps, the hardest with 4.0
