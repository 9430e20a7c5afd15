# SPDX-License-Identifier: MIT
"""flock_weft.py: the flock (flock.h) in Python."""
import numpy as np
import weft

from program import FLAGS, end_grid, stir_float, total

PAIR = np.dtype([("x", "f4"), ("y", "f4")], align=True)
PARTS = 64


# The rules. Places and headings are arrays of (n, 2).

def side_of(birds):
    side = 8
    while side * side * 2 < birds:
        side *= 2
    return side


def hatch(birds, side):
    random = weft.Random(7, np.arange(birds), 0, 1)
    at = np.stack([random.float() * np.float32(side), random.float() * np.float32(side)], axis=1)
    way = np.stack([np.where(random.float() < 0.5, length, -length) for length in np.float32([0.6, 0.8])], axis=1)
    return at, way


class Neighbours:
    """Birds by cells of 1 x 1."""

    def __init__(self, at, way, side):
        cell = np.minimum(at.astype("u4"), side - 1)
        self.side, self.cell, where = side, cell.astype("i4"), cell[:, 1] * np.uint32(side) + cell[:, 0]
        order = np.argsort(where, kind="stable")
        self.begin = np.zeros(side * side + 1, "i4")
        np.cumsum(np.bincount(where, minlength=side * side), out=self.begin[1:])
        self.at, self.way = at[order], way[order]

    def strips(self):
        """(begin, end, (n, 2) of shifts) of the neighbours of each bird: three rows, each of up to two parts."""
        side, (x, y) = self.side, self.cell.T
        left, right = np.maximum(x - 1, 0), np.minimum(x + 1, side - 1)
        for dy in (-1, 0, 1):
            row = (y + dy) % side
            shift_y = np.float32(side) * (y + dy - row).astype("f4") / np.float32(side)
            row = row * side
            for part, (first, last, shift_x) in enumerate((
                    (side - 1, side - 1, -side), (left, right, 0), (0, 0, side))):
                begin, end = self.begin[row + first], self.begin[row + last + 1]
                if part != 1:  # beyond the edge, of birds at the edge
                    end = np.where(x == (0 if part == 0 else side - 1), end, begin)
                yield begin, end, np.stack([np.full(len(x), shift_x, "f4"), shift_y], axis=1)

    def see(self, at):
        """(sum of headings, middle, those too near) of the birds, in their order: a pass over all for each neighbour."""
        sums = np.zeros((3, *at.shape), "f4")
        for begin, end, shift in self.strips():
            begin, length = begin.copy(), end - begin
            some = np.flatnonzero(length > 0)
            from_here = (shift - at)[some]
            while some.size:
                k = begin[some]
                d = self.at[k] + from_here
                square = d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1]
                near = np.flatnonzero(square < 1)
                birds = some[near]
                sums[0, birds] += self.way[k[near]]
                sums[1, birds] += d[near]
                near = np.flatnonzero(square < 0.25)
                sums[2, some[near]] += d[near]
                begin[some] += 1
                length[some] -= 1
                rest = length[some] > 0
                some, from_here = some[rest], from_here[rest]
        return sums


def turn(sums, birds, tick, way):
    """The new headings."""
    random = weft.Random(7, birds, tick, 0)
    noise = np.stack([random.float() - np.float32(0.5), random.float() - np.float32(0.5)], axis=1)
    new = way + sums[0] * np.float32(0.1) + sums[1] * np.float32(0.02) - sums[2] * np.float32(0.6)
    new += noise * np.float32(0.2)
    length = np.sqrt(new[:, 0] * new[:, 0] + new[:, 1] * new[:, 1])[:, None]
    return np.where(length > 0, new / np.where(length > 0, length, 1), way)


def fly(at, way, side):
    """The new places."""
    at = at + way * np.float32(0.1)
    at += (at < 0) * np.float32(side)
    return np.where(at >= side, at - np.float32(side), at)


def content(birds, at, way):
    sums = birds.astype("u8") + np.uint64(1)
    for values in (at[:, 0], at[:, 1], way[:, 0], way[:, 1]):
        sums = stir_float(sums, values)
    return total(sums)


def flat(column):
    """A column of PAIR as an array of (n, 2), over the same memory."""
    return column.view("f4").reshape(-1, 2)


class World:
    """The birds in a world."""

    def __init__(self, size):
        self.world, self.size, self.side = weft.World(workers=1), size, side_of(size)
        self.position, self.heading = (self.world.component(name, PAIR) for name in ("Position", "Heading"))
        at, way = hatch(size, self.side)
        self.world.create_many(size, {self.position: at.view(PAIR)[:, 0], self.heading: way.view(PAIR)[:, 0]})
        self.birds = self.world.query(read=[self.position, self.heading])
        self.add_systems()

    def step(self):
        self.world.step(0.1)

    def content(self):
        return content(np.arange(self.size), flat(self.birds.read(self.position)), flat(self.birds.read(self.heading)))


class Columns(World):
    """A system of Python over all rows. Birds are rows: none is born or dies."""

    def add_systems(self):
        self.world.system(self.steer, write=[self.position, self.heading], whole=True)

    def steer(self, s):
        at, way = flat(s[self.position]), flat(s[self.heading])
        sums = Neighbours(at, way, self.side).see(at)
        way[:] = turn(sums, np.arange(len(at)), s.frame, way)
        at[:] = fly(at, way, self.side)


class Compiled(World):
    """Systems in C."""

    HEAD = """#include "flock.h"
enum { PARTS = 64 };
typedef struct Flock {
    Position *at, *sorted;
    Heading *going, *sorted_going;
    weft_grid *grid;
    uint64_t count;
    float side;
} Flock;
"""

    def __del__(self):
        end_grid(self.world, self.resource)

    def add_systems(self):
        world, both = self.world, [self.position, self.heading]
        self.memory = np.zeros((4, self.size), PAIR)
        flock = world.resource("Flock", np.dtype([("at", "4u8"), ("grid", "u8"), ("count", "u8"), ("side", "f4")], align=True), hashed=False)
        self.resource = flock
        world.set_resource(flock, ([row.ctypes.data for row in self.memory], 0, self.size, self.side))
        words = {"head": self.HEAD, "structs": False, "flags": FLAGS}
        world.c("""
            for (uint32_t i = 0; i < count; i++) {
                flock->at[slice->first + i] = position[i];
                flock->going[slice->first + i] = heading[i];
            }""", name="collect", read=both, resources=[flock], **words)
        world.c("""
            if (flock->grid == NULL) {
                weft_grid_desc box = {.dimensions = 2, .most = {flock->side, flock->side}, .reach = 0.999, .is_periodic = {true, true}};
                weft_grid_create(&box, &flock->grid);
            }
            weft_grid_points points = {.positions = flock->at, .stride = sizeof(Position), .count = flock->count,
                                       .sorted = flock->sorted};
            weft_grid_build(flock->grid, weft_slice_job(slice), &points);""",
                name="sort", write_resources=[flock], jobs=True, after="collect", **words)
        world.c("""
            uint64_t begin = flock->count * slice->index / PARTS, end = flock->count * (slice->index + 1) / PARTS;
            weft_grid_view view;
            weft_grid_view_get(flock->grid, &view, sizeof view);
            for (uint64_t k = begin; k < end; k++) flock->sorted_going[k] = flock->going[view.points[k]];""",
                name="gather", count=PARTS, resources=[flock], after="sort", **words)
        world.c("""
            uint32_t tick = (uint32_t)weft_slice_frame(slice).number;
            weft_grid_view grid;
            weft_grid_view_get(flock->grid, &grid, sizeof grid);
            for (uint32_t i = 0; i < count; i++) {
                uint32_t bird = (uint32_t)slice->first + i;
                flock_view view = {{0, 0}, {0, 0}, {0, 0}};
                weft_grid_run runs[WEFT_GRID_MAX_RUNS];
                uint32_t run_count = weft_grid_runs(flock->grid, grid.cell_of[bird], runs);
                for (uint32_t r = 0; r < run_count; r++) {
                    float x = (float)runs[r].shift[0] * flock->side - position[i].x;
                    float y = (float)runs[r].shift[1] * flock->side - position[i].y;
                    for (uint32_t k = runs[r].begin; k < runs[r].end; k++)
                        flock_see(&view, flock->sorted[k].x + x, flock->sorted[k].y + y, flock->sorted_going[k]);
                }
                flock_turn(&view, bird, tick, &heading[i]);
                flock_fly(&position[i], heading[i], flock->side);
            }""", name="steer", write=both, resources=[flock], after="gather", **words)


class Plain:
    """NumPy."""

    world = None

    def __init__(self, size):
        self.tick, self.birds, self.side = 0, np.arange(size), side_of(size)
        self.at, self.way = hatch(size, self.side)

    def step(self):
        self.tick += 1
        sums = Neighbours(self.at, self.way, self.side).see(self.at)
        self.way = turn(sums, self.birds, self.tick, self.way)
        self.at = fly(self.at, self.way, self.side)

    def content(self):
        return content(self.birds, self.at, self.way)
