# SPDX-License-Identifier: MIT
"""typed.py PACKAGE_DIR: `mypy --strict` finds nothing in the examples and in this file. Skipped without mypy."""
import importlib.util
import os
import subprocess
import sys

import numpy as np

import weft


def once(c: weft.Context) -> None:
    c.commands.create(name="one")
    number: int = c.random(5).u32()
    part: float = c.random(5).float()
    c.world.destroy(np.array([number], "u8"))
    c.world.set_timer("once", part)


def rows(s: weft.Slice) -> None:
    s.commands.destroy(s.entities[0])


def use(world: weft.World) -> None:
    sparse = world.component("Sparse", "3f4", kind="sparse", units={"value": "m"})
    entity: weft.Entity = world.create(sparse, values={sparse: 0}, name="one")
    world.append(entity, sparse, [1])
    world.system(once, before=True, period=0.5, group="g")
    world.system(write=[sparse], after=["once"])(rows)
    try:
        world.step(1 / 60)
    except weft.StaleEntityError as error:
        print(error.code, error.entity)


def main() -> None:
    if importlib.util.find_spec("mypy") is None:
        print("skipped: mypy is not there (package mypy)")
        sys.exit(77)
    examples = os.path.join(sys.argv[1], "examples")
    files = [os.path.join(examples, name) for name in sorted(os.listdir(examples)) if name.endswith(".py")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "--config-file", os.devnull,
         "--disable-error-code", "import", *files, __file__],
        env={**os.environ, "MYPYPATH": sys.argv[1]}, capture_output=True, text=True)
    print(done.stdout + done.stderr)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
