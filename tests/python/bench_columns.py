# SPDX-License-Identifier: MIT
"""bench_columns.py [ROWS]: `position += velocity` on columns of weft beside NumPy's own arrays, by turns;
prints both medians and their ratio. Exits with 1 when weft takes more than 1.1 times as long."""
import statistics
import sys
import time

import numpy

import weft

ROUNDS = 41


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    world = weft.World(workers=1)
    position, velocity = world.component("Position", "3f4"), world.component("Velocity", "3f4")
    world.create_many(rows, {position: 0, velocity: 1})
    query = world.query(write=[position], read=[velocity])
    p, v = numpy.zeros((rows, 3), "f4"), numpy.ones((rows, 3), "f4")

    def by_weft(s):
        s[position] += s[velocity]

    def by_numpy():
        nonlocal p
        p += v

    times = {"weft": [], "numpy": []}
    for _ in range(ROUNDS):
        for name, run in (("numpy", by_numpy), ("weft", lambda: query.each(by_weft))):
            begin = time.perf_counter_ns()
            run()
            times[name].append((time.perf_counter_ns() - begin) / rows)
    assert (query.read(position) == p).all()
    medians = {name: statistics.median(values) for name, values in times.items()}
    ratio = medians["weft"] / medians["numpy"]
    print(f"{rows} rows: weft {medians['weft']:.3f} ns, numpy {medians['numpy']:.3f} ns a row, ratio {ratio:.3f}")
    return ratio > 1.1


if __name__ == "__main__":
    sys.exit(main())
