# SPDX-License-Identifier: MIT
"""bench_compiled.py [ROWS]: a system by weft.c beside the same one written in C and compiled with -O3, by turns; prints
both least times of a step and their ratio. Exits with 1 when weft.c takes more than 1.05 times as long."""
import os
import subprocess
import sys
import tempfile
import time

import weft

ROUNDS = 61
BODY = """for (uint32_t i = 0; i < count; i++)
    for (int k = 0; k < 3; k++) {
        velocity[i][k] += (0.5f - position[i][k]) * dt;
        position[i][k] += velocity[i][k] * dt;
    }"""
IN_C = """#include "weft.h"
void move(weft_slice *s, void *user);
void move(weft_slice *s, void *user)
{
    (void)user;
    float(*position)[3] = weft_slice_write(s, 0), (*velocity)[3] = weft_slice_write(s, 1);
    float dt = weft_slice_dt(s);
    uint32_t count = weft_slice_count(s);
    BODY
}
"""


def world_of(rows):
    world = weft.World(workers=1)
    terms = [world.component("Position", "3f4"), world.component("Velocity", "3f4")]
    world.create_many(rows, {terms[0]: 0, terms[1]: 1})
    return world, terms


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    by_string, terms = world_of(rows)
    weft.c(BODY, name="move", write=terms)
    by_c, terms = world_of(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "move")
        with open(path + ".c", "w", encoding="utf-8") as file:
            file.write(IN_C.replace("BODY", BODY))
        subprocess.run(["cc", "-O3", "-ffp-contract=off", "-shared", "-fPIC", f"-I{weft.get_include()}", path + ".c", "-o", path + ".so"],
                       check=True)
        by_c.system_in_c("move", path + ".so", write=terms)
        least = {}
        for _ in range(ROUNDS):
            for name, world in (("C", by_c), ("weft.c", by_string)):
                begin = time.perf_counter_ns()
                world.step(0.01)
                least[name] = min(least.get(name, 1 << 62), time.perf_counter_ns() - begin)
    assert by_c.hash() == by_string.hash()
    ratio = least["weft.c"] / least["C"]
    print(f"{rows} rows: weft.c {least['weft.c'] / rows:.3f} ns, C {least['C'] / rows:.3f} ns a row, ratio {ratio:.3f}")
    return ratio > 1.05


if __name__ == "__main__":
    sys.exit(main())
