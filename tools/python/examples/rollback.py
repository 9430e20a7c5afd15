# SPDX-License-Identifier: MIT
"""rollback.py: go back, play again with other keys, save and load: snapshots, hashes, files.

A game over a network guesses what the other player presses. When the true keys come, two steps later, it goes
back to the first wrong step and plays the rest again."""
import os
import tempfile

import weft

KEYS = [0, 0, 1, 1, 1, 0, -1, -1, 0, 0]
LATE = 2


class Game:
    def __init__(self) -> None:
        self.world = weft.World()
        self.Place = self.world.component("Place", "f8")
        self.Speed = self.world.component("Speed", "f8")
        self.Key = self.world.resource("Key", "i4")
        self.world.system(self.move, write=[self.Place, self.Speed])

    def move(self, s: weft.Slice) -> None:
        s[self.Speed] += int(s.world.get_resource(self.Key)) * s.dt
        s[self.Place] += s[self.Speed] * s.dt

    def step(self, key: int) -> None:
        self.world.set_resource(self.Key, key)
        self.world.step(0.5)


there, here = Game(), Game()  # there the keys are known at once
for game in (there, here):
    game.world.create_many(3, {game.Place: [0, 1, 2], game.Speed: 0})

guesses: list[int] = []
snapshots: list[weft.Snapshot] = []
for now, key in enumerate(KEYS + [0] * LATE):
    there.step(key)
    if now >= LATE and guesses[now - LATE] != KEYS[now - LATE]:
        wrong = now - LATE
        here.world.restore(snapshots[wrong])
        del snapshots[wrong:], guesses[wrong:]
        guesses += [KEYS[wrong]] * LATE  # what came now is the best guess for the steps since
        print(f"step {now}: back to step {wrong}, where the key was {KEYS[wrong]}")
        for guess in guesses[wrong:]:
            snapshots.append(here.world.snapshot())
            here.step(guess)
    guesses.append(guesses[-1] if guesses else 0)
    snapshots.append(here.world.snapshot())
    here.step(guesses[-1])
print("the same as there, to the bit:", here.world.hash() == there.world.hash())

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "game.weft")
    here.world.save(path)
    later = Game()
    later.world.load(path)  # its components are registered
for game in (here, later):
    game.step(1)
places = later.world.query(read=[later.Place]).read(later.Place)
print("loaded and stepped:", places.tolist(), here.world.hash() == later.world.hash())

# prints:
# step 4: back to step 2, where the key was 1
# step 7: back to step 5, where the key was 0
# step 8: back to step 6, where the key was -1
# step 10: back to step 8, where the key was 0
# the same as there, to the bit: True
# loaded and stepped: [4.5, 5.5, 6.5] True
