# SPDX-License-Identifier: MIT
"""traffic_weft.py: traffic (traffic.h) in Python."""
import numpy as np
import weft

from program import FLAGS, stir, total

LANES, ROAD_LANES, FASTEST, CELLS_PER_CAR = 32, 4, 5, 6
CAR, LANE = (np.dtype(fields, align=True) for fields in ([("cell", "u4"), ("speed", "u4")], [("number", "u4")]))


# The rules. `busy`: a map of cells; of one lane, or of all, flat, where `first` is the first cell of each car's lane.

def gap(busy, cells, cell, first=0):
    """Free cells in front, at most FASTEST."""
    free, found = np.ones(len(cell), bool), np.zeros(len(cell), "u4")
    for k in range(1, FASTEST + 1):
        ahead = cell + np.uint32(k)
        ahead = np.where(ahead < cells, ahead, ahead - np.uint32(cells))
        free &= busy[ahead + first] == 0
        found += free
    return found


def is_clear(busy, cells, cell, first=0):
    """Whether the cell and those behind it, from where a car could come, are free."""
    free = np.ones(len(cell), bool)
    for k in range(FASTEST + 1):
        behind = np.where(cell >= k, cell - np.uint32(k), cell + np.uint32(cells - k))
        free &= busy[behind + first] == 0
    return free


def changing(busy, other, cells, cell, speed, numbers, tick, first=0, first_other=0):
    """Which cars change to the lane beside them, whose map is `other`."""
    free = gap(busy, cells, cell, first)
    some = np.flatnonzero((free <= speed) & (free != FASTEST))
    at = first_other if np.isscalar(first_other) else first_other[some]
    some_cell = cell[some]
    good = is_clear(other, cells, some_cell, at)
    good &= gap(other, cells, some_cell, at) > free[some]
    some = some[good]
    return some[weft.Random(3, numbers[some], tick, 0).float() < np.float32(0.3)]


def drive(busy, cells, cell, speed, numbers, tick, first=0):
    """The new (cells, speeds) of cars."""
    speed = np.minimum(speed + (speed < FASTEST).astype("u4"), gap(busy, cells, cell, first))
    brakes = weft.Random(3, numbers, tick, 1).float() < np.float32(0.2)
    speed -= (speed > 0) & brakes
    cell = cell + speed
    return np.where(cell >= cells, cell - np.uint32(cells), cell), speed


def cells_of(size):
    return (size // LANES + 1) * CELLS_PER_CAR


def beside(tick):
    """(the lane of a road that has none beside it, the way to the one beside) in this step."""
    return (0, -1) if tick % 2 == 0 else (ROAD_LANES - 1, 1)


def start(size):
    """Where cars are at first, and their lanes."""
    numbers = np.arange(size, dtype="u4")
    cars = np.zeros(size, CAR)
    cars["cell"], cars["speed"] = numbers // LANES * CELLS_PER_CAR, numbers % (FASTEST + 1)
    return cars, numbers % LANES


def content(numbers, cell, speed, lane):
    return total(stir(stir(stir(numbers.astype("u8") + np.uint64(1), cell), speed), lane))


def numbers_of(entities):
    return entities.view("u4")[::2] & np.uint32(0x0FFFFFFF)  # the index is in the lower half


class World:
    """The cars in a world."""

    def __init__(self, size):
        self.world, self.cells = weft.World(workers=1), cells_of(size)
        self.car, self.lane = self.world.component("Car", CAR), self.world.component("Lane", LANE, kind="shared")
        self.before, self.now = (np.zeros(LANES * self.cells, "u1") for _ in range(2))
        cars, lanes = start(size)
        entities = self.world.create_many(size, {self.car: cars})
        commands = self.world.commands()
        commands.set(entities, self.lane, {"number": lanes})
        commands.play()
        self.before[lanes * self.cells + cars["cell"]] = 1
        self.cars = self.world.query(read=[self.car, self.lane])
        self.add_systems()

    def step(self):
        self.world.step(1)

    def content(self):
        sums = []
        with self.cars.slices() as slices:
            for s in slices:
                sums.append(content(numbers_of(s.entities), s[self.car]["cell"], s[self.car]["speed"],
                                    s[self.lane]["number"]))
        return total(*map(np.uint64, sums))


class Columns(World):
    """One system of Python over all rows, as NumPy has it: the map `before` has the cars where they are."""

    def add_systems(self):
        self.world.system(self.drive, write=[self.car], read=[self.lane], whole=True)

    def drive(self, s):
        (edge, way), entities, car, lanes = beside(s.frame), s.entities, s[self.car], s[self.lane]
        lane = lanes["number"]
        numbers, cell, speed, busy = numbers_of(entities), car["cell"].copy(), car["speed"].copy(), self.before
        can = np.flatnonzero(lane % ROAD_LANES != edge)
        first = lane[can] * np.uint32(self.cells)
        some = can[changing(busy, busy, self.cells, cell[can], speed[can], numbers[can], s.frame, first,
                            first + np.uint32(way * self.cells & 0xFFFFFFFF))]
        busy[lane[some] * self.cells + cell[some]] = 0
        lane[some] += np.uint32(way & 0xFFFFFFFF)
        busy[lane[some] * self.cells + cell[some]] = 1
        s.commands.set(entities[some], self.lane, lanes[some])
        first = lane * np.uint32(self.cells)
        car["cell"], car["speed"] = cell, speed = drive(busy, self.cells, cell, speed, numbers, s.frame, first)
        self.now[:] = 0
        self.now[cell + first] = 1
        self.before, self.now = self.now, self.before


class Compiled(World):
    """Systems in C."""

    def add_systems(self):
        world = self.world
        words = {"head": '#include "traffic.h"\ntypedef road_map Before, Now;', "structs": False, "flags": FLAGS}
        dtype = [("busy", "u8"), ("cells", "u8")]
        before, now = (world.resource(name, dtype, hashed=False) for name in ("Before", "Now"))
        world.set_resource(before, (self.before.ctypes.data, self.cells))
        world.set_resource(now, (self.now.ctypes.data, self.cells))
        world.c("""
            uint32_t tick = (uint32_t)weft_slice_frame(slice).number;
            for (uint32_t i = 0; i < count; i++) {
                Lane to = {traffic_choose(before, &car[i], lane->number, weft_entity_index(entities[i]), tick)};
                if (to.number != lane->number) weft_recorder_set_shared(commands, entities[i], handle_lane, &to);
            }""", name="change", read=[self.car, self.lane], resources=[before], handles=[self.lane], commands=True, **words)
        world.c("""
            memset(before->busy, 0, (size_t)before->cells * LANES);
            memset(now->busy, 0, (size_t)now->cells * LANES);""", name="clear", write_resources=[before, now], **words)
        world.c("""
            uint8_t *busy = traffic_lane(now, lane->number);
            for (uint32_t i = 0; i < count; i++) busy[car[i].cell] = 1;""",
                name="mark", read=[self.car, self.lane], write_resources=[now], **words)
        world.c("""
            uint8_t *busy = traffic_lane(before, lane->number);
            uint32_t tick = (uint32_t)weft_slice_frame(slice).number;
            for (uint32_t i = 0; i < count; i++) {
                traffic_drive(now, &car[i], lane->number, weft_entity_index(entities[i]), tick);
                busy[car[i].cell] = 1;
            }""", name="drive", write=[self.car], read=[self.lane], resources=[now], write_resources=[before], **words)


class Plain:
    """NumPy."""

    world = None

    def __init__(self, size):
        self.tick, self.cells, (cars, self.lane) = 0, cells_of(size), start(size)
        self.cell, self.speed, self.numbers = cars["cell"].copy(), cars["speed"].copy(), np.arange(size, dtype="u4")
        self.now, self.next = (np.zeros(LANES * self.cells, "u1") for _ in range(2))
        self.now[self.lane * self.cells + self.cell] = 1

    def step(self):
        self.tick += 1
        edge, way = beside(self.tick)
        can = np.flatnonzero(self.lane % ROAD_LANES != edge)
        first = self.lane[can] * np.uint32(self.cells)
        some = can[changing(self.now, self.now, self.cells, self.cell[can], self.speed[can], self.numbers[can], self.tick,
                            first, first + np.uint32(way * self.cells & 0xFFFFFFFF))]
        self.now[self.lane[some] * self.cells + self.cell[some]] = 0
        self.lane[some] += np.uint32(way & 0xFFFFFFFF)
        self.now[self.lane[some] * self.cells + self.cell[some]] = 1
        first = self.lane * np.uint32(self.cells)
        self.cell, self.speed = drive(self.now, self.cells, self.cell, self.speed, self.numbers, self.tick, first)
        self.next[:] = 0
        self.next[self.cell + first] = 1
        self.now, self.next = self.next, self.now

    def content(self):
        return content(self.numbers, self.cell, self.speed, self.lane)
