# SPDX-License-Identifier: MIT
"""python.py TEST_PROGRAMS PROGRAMS [NAME ...]: the programs in Python (perf/programs/*.py) compute what those in C do, and their
worlds have the same hash."""
import re
import subprocess
import sys

sys.path.insert(0, sys.argv[2])
import program  # noqa: E402 (it is there)

SMALL = {"defence": 20000, "epidemic": 20000, "flock": 1000, "traffic": 4000}
STEPS = 40


def main():
    failed = 0
    for name in sys.argv[3:] or program.NAMES:
        size = SMALL[name]
        said = subprocess.run([sys.argv[1], name, str(size), str(STEPS)], capture_output=True, text=True, check=True).stdout
        content, world = (int(number, 16) for number in re.search(r"content (\w+), world (\w+)", said).groups())
        for which, side in program.sides(name).items():
            found = program.run(side, size, STEPS)
            is_same = found[0] == content and found[1] in (None, world)
            print(f"{name} {size} {which}: content {found[0]:016x}, world {found[1] or 0:016x}"
                  + ("" if is_same else f"; FAILED: C has {content:016x}, {world:016x}"))
            failed += not is_same
    return failed


if __name__ == "__main__":
    sys.exit(main())
