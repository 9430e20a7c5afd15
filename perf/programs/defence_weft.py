# SPDX-License-Identifier: MIT
"""defence_weft.py: the defence (defence.h) in Python. Plain has raiders in slots with versions, and turrets by ship."""
import numpy as np
import weft

from program import FLAGS, end_grid, stir, stir_float, total

TURRETS, RELOAD, SHELL_LIFE, HULL, DAMAGE, REACH = 4, 3, 30, 100, 10, np.float32(5)
PAIR, BADGE, POINTS, MOUNT, GUN, AIM, HIT = (np.dtype(fields, align=True) for fields in (
    [("x", "f4"), ("y", "f4")], [("number", "u8")], [("points", "u4")], [("x", "f4"), ("y", "f4"), ("slot", "u4")],
    [("target", weft.entity), ("reload", "u4"), ("shots", "u4")], [("target", weft.entity), ("life", "u4"), ("damage", "u4")],
    [("target", weft.entity), ("damage", "u4"), ("kind", "u4")]))


# The rules. Places and courses are arrays of PAIR.

def ships_of(size):
    return size // 20 + 1


def raiders_of(size):
    return size // 5 * 2 + 1


def side_of(size):
    return np.sqrt(np.float32(raiders_of(size) * 5))


def pairs(x, y):
    out = np.empty(len(x), PAIR)
    out["x"], out["y"] = x, y
    return out


def move(at, course):
    at["x"] += course["x"]
    at["y"] += course["y"]


def bounce(at, course, side):
    for axis in ("x", "y"):
        low, high = at[axis] < 0, at[axis] > side
        at[axis] = np.where(low, -at[axis], np.where(high, side + side - at[axis], at[axis]))
        course[axis] = np.where(low | high, -course[axis], course[axis])


def square(a, b):
    x, y = a["x"] - b["x"], a["y"] - b["y"]
    return x * x + y * y


def steer(at, target, is_alive, course):
    """The courses of shells to their targets."""
    x, y = target["x"] - at["x"], target["y"] - at["y"]
    length = np.sqrt(x * x + y * y)
    some = is_alive & (length > 0)
    course["x"][some] = x[some] / length[some] * np.float32(0.12)
    course["y"][some] = y[some] / length[some] * np.float32(0.12)


class Raiders:
    """Places of raiders by cells, each of REACH or more."""

    def __init__(self, at, number, side):
        self.at, self.number, self.cells = at, number, int(side / REACH * np.float32(0.999))
        self.per_cell = np.float32(self.cells) / side
        where = self.along(at["y"]) * self.cells + self.along(at["x"])
        self.order = np.argsort(where, kind="stable")
        self.begin = np.zeros(self.cells * self.cells + 1, "i8")
        np.cumsum(np.bincount(where, minlength=self.cells * self.cells), out=self.begin[1:])

    def along(self, at):
        return np.clip(at * self.per_cell, 0, self.cells - 1).astype("i4")

    def choose(self, muzzle):
        """The nearest one in reach of each, of two the one with the lower number; -1: none."""
        column, row = self.along(muzzle["x"]), self.along(muzzle["y"])
        left, right = np.maximum(column - 1, 0), np.minimum(column + 1, self.cells - 1)
        found = []
        for dy in (-1, 0, 1):
            near = np.flatnonzero((row + dy >= 0) & (row + dy < self.cells))
            first = (row[near] + dy) * self.cells
            begin, length = self.begin[first + left[near]], 0
            length = self.begin[first + right[near] + 1] - begin
            who = np.repeat(near, length)
            raider = self.order[np.arange(len(who)) + np.repeat(begin - (np.cumsum(length) - length), length)]
            distance = square(muzzle[who], self.at[raider])
            good = distance < REACH * REACH
            found.append((who[good], distance[good], raider[good]))
        who, distance, raider = (np.concatenate(parts) for parts in zip(*found))
        order = np.lexsort((self.number[raider], distance, who))
        who, raider = who[order], raider[order]
        first = np.ones(len(who), bool)
        first[1:] = who[1:] != who[:-1]
        best = np.full(len(muzzle), -1, "i8")
        best[who[first]] = raider[first]
        return best


def begin(numbers, side):
    """(places, courses) where ships and raiders of these numbers begin."""
    random = weft.Random(11, numbers, 0, 0)
    at = pairs(random.float() * side, random.float() * side)
    return at, pairs(*((random.float() - np.float32(0.5)) * np.float32(0.06) for _ in range(2)))


def is_lost(ships, tick):
    return weft.Random(11, ships, tick, 1).float() < np.float32(0.002)


def following(numbers, tick):
    return stir(stir(numbers, tick), 3)


def mounts():
    out = np.zeros(TURRETS, MOUNT)
    out["slot"] = np.arange(TURRETS)
    out["x"], out["y"] = np.where(out["slot"] & 1, 0.5, -0.5), np.where(out["slot"] & 2, 0.5, -0.5)
    return out


def raider_numbers(size):
    return np.arange(raiders_of(size), dtype="u8") | np.uint64(1 << 32)


def content(number, at, course, points):
    sums = stir_float(stir_float(number + np.uint64(1), at["x"]), at["y"])
    return total(stir(stir_float(stir_float(sums, course["x"]), course["y"]), points))


def content_of_turrets(ship, mount, muzzle, reload, target):
    sums = stir(stir(ship + np.uint64(1), mount["slot"]), reload)
    return total(stir(stir_float(stir_float(sums, muzzle["x"]), muzzle["y"]), target))


class World:
    """Ships and raiders are copies of prefabs, turrets children of their ships, hits entities of one step."""

    def __init__(self, size):
        self.world, self.side = weft.World(workers=1), side_of(size)
        self.spot, self.course, self.muzzle, self.badge, self.hull, self.mount, self.gun, self.aim, self.hit = (
            self.world.component(*each) for each in (
                ("Spot", PAIR), ("Course", PAIR), ("Muzzle", PAIR), ("Badge", BADGE), ("Hull", POINTS), ("Mount", MOUNT),
                ("Gun", GUN), ("Aim", AIM), ("Hit", HIT)))
        self.ship, self.raider, self.parent = self.world.tag("Ship"), self.world.tag("Raider"), self.world.parent
        query = self.world.query
        self.raiders = query(read=[self.badge, self.spot, self.course, self.hull], having=[self.raider])
        self.ships = query(read=[self.badge, self.spot, self.course], having=[self.ship])
        self.turrets = query(read=[self.gun, self.mount, self.muzzle, self.parent])
        self.shells, self.hits = query(read=[self.aim, self.spot, self.course]), query(read=[self.hit])
        self.make_prefabs()
        self.begin(size)
        self.add_systems(size)

    def make_prefabs(self):
        create, prefab = self.world.create, self.world.prefab_tag
        self.ship_prefab = create(self.spot, self.course, self.badge, self.ship, prefab)
        turrets = [create(self.muzzle, prefab, values={self.mount: mount, self.gun: (0, i % RELOAD, 0)})
                   for i, mount in enumerate(mounts())]
        self.world.relate(turrets, self.parent, self.ship_prefab)
        self.world.prefab(self.ship_prefab, *turrets)
        self.raider_prefab = create(self.spot, self.course, self.badge, self.raider, prefab, values={self.hull: HULL})
        self.world.settle()

    def begin(self, size):
        commands = self.world.commands()
        for number, made in ((np.arange(ships_of(size), dtype="u8"),
                              np.array([self.world.instantiate(self.ship_prefab) for _ in range(ships_of(size))], "u8")),
                             (raider_numbers(size), self.world.instantiate(self.raider_prefab, raiders_of(size)))):
            self.place(commands, made, number)
        commands.play()

    def place(self, commands, made, number):
        at, course = begin(number, self.side)
        for component, values in ((self.spot, at), (self.course, course), (self.badge, {"number": number})):
            commands.set(made, component, values)

    def step(self):
        self.world.step(1)
        self.world.settle()

    def number_of(self, entities):
        return self.world.look_up(entities, self.badge)[0]["number"]

    def content(self):
        r, s, t, a = (lambda component, query=query: query.read(component)
                      for query in (self.raiders, self.ships, self.turrets, self.shells))
        parents = t(self.parent)
        return total(*map(np.uint64, (
            content(r(self.badge)["number"], r(self.spot), r(self.course), r(self.hull)["points"]),
            content(s(self.badge)["number"], s(self.spot), s(self.course), 0),
            content_of_turrets(self.number_of(parents), t(self.mount), t(self.muzzle), t(self.gun)["reload"],
                               self.number_of(t(self.gun)["target"])),
            content(self.number_of(a(self.aim)["target"]), a(self.spot), a(self.course), a(self.aim)["life"]))))


class Columns(World):
    """Systems of Python over all rows, cut as NumPy's: what has the same rows is one."""

    def add_systems(self, _):
        system, spot, course, badge, aim = self.world.system, self.spot, self.course, self.badge, self.aim
        system(self.fly, write=[spot, course], read=[aim], whole=True)
        system(self.drift, write=[spot, course], having=[badge], whole=True)
        system(self.strike, write=[aim], read=[spot], whole=True)
        system(self.aim_and_fire, write=[self.gun, self.muzzle], read=[self.mount, self.parent], whole=True)
        system(self.damage)
        system(self.sink, read=[self.hull, badge], having=[self.raider], whole=True)
        system(self.lose, read=[badge], having=[self.ship], whole=True)

    def fly(self, s):
        at, course = s[self.spot], s[self.course]
        steer(at, *self.world.look_up(s[self.aim]["target"], self.spot), course)
        move(at, course)

    def drift(self, s):
        move(s[self.spot], s[self.course])
        bounce(s[self.spot], s[self.course], self.side)

    def strike(self, s):
        aim = s[self.aim]
        target, is_alive = self.world.look_up(aim["target"], self.spot)
        is_hit = is_alive & (square(s[self.spot], target) < np.float32(0.01))
        hits = np.zeros(int(is_hit.sum()), HIT)
        hits["target"], hits["damage"] = aim["target"][is_hit], aim["damage"][is_hit]
        aim["life"] -= 1
        s.commands.create_many(len(hits), {self.hit: hits})
        s.commands.destroy(s.entities[(aim["life"] == 0) | is_hit])

    def aim_and_fire(self, s):
        who, near = self.raiders.entities, Raiders(self.raiders.read(self.spot), self.raiders.read(self.badge)["number"], self.side)
        gun, muzzle, mount = s[self.gun], s[self.muzzle], s[self.mount]
        ship, is_alive = self.world.look_up(s[self.parent], self.spot)
        for axis in ("x", "y"):
            muzzle[axis] = np.where(is_alive, ship[axis] + mount[axis], muzzle[axis])
        at, is_alive = self.world.look_up(gun["target"], self.spot)
        some = np.flatnonzero(~is_alive | (square(muzzle, at) > REACH * REACH))
        best = near.choose(muzzle[some])
        gun["target"][some] = np.where(best >= 0, who[best], np.uint64(0))
        fires = (gun["reload"] == 0) & (gun["target"] != 0)
        gun["reload"] = np.where(fires, RELOAD, gun["reload"] - (gun["reload"] > 0))
        gun["shots"] += fires
        aims = np.zeros(int(fires.sum()), AIM)
        aims["target"], aims["life"], aims["damage"] = gun["target"][fires], SHELL_LIFE, DAMAGE
        s.commands.create_many(len(aims), {self.spot: muzzle[fires], self.aim: aims}, [self.course])

    def damage(self, c):
        hits = self.hits.read(self.hit)
        index = (hits["target"] & np.uint64(0x0FFFFFFF)).astype("i8")
        sum_of_hits = np.bincount(index, hits["damage"]).astype("u4")
        target = np.zeros(len(sum_of_hits), "u8")  # by index: the last of those who have been hit
        target[index] = hits["target"]
        target, sum_of_hits = target[sum_of_hits > 0], sum_of_hits[sum_of_hits > 0]
        hull, is_alive = self.world.look_up(target, self.hull)
        left = hull["points"] - np.minimum(hull["points"], sum_of_hits)
        c.commands.set(target[is_alive], self.hull, {"points": left[is_alive]})
        c.commands.destroy(self.hits.entities)

    def sink(self, s):
        gone = s[self.hull]["points"] == 0
        s.commands.destroy(s.entities[gone])
        number = following(s[self.badge]["number"][gone], s.frame)
        self.place(s.commands, s.commands.instantiate(self.raider_prefab, len(number)), number)

    def lose(self, s):
        gone = is_lost(s[self.badge]["number"], s.frame)
        made = []
        for old in s.entities[gone].tolist():  # by turns, as in C: new turrets have handles of those that go
            s.commands.destroy(old)
            made.append(s.commands.instantiate(self.ship_prefab))
        self.place(s.commands, np.array(made, "u8"), following(s[self.badge]["number"][gone], s.frame))


class Compiled(World):
    """Systems in C."""

    HEAD = """#include "defence.h"
typedef struct Gun {
    weft_entity target;
    uint32_t reload, shots;
} Gun;
typedef struct Aim {
    weft_entity target;
    uint32_t life, damage;
} Aim;
typedef struct Hit {
    weft_entity target;
    uint32_t damage, kind;
} Hit;
typedef struct Defence {
    Spot *at;
    uint64_t *number;
    weft_entity *who;
    weft_grid *grid;
    weft_entity ship, raider;
    uint32_t raider_count;
    float side;
} Defence;
static inline weft_entity choose(const Defence *d, Muzzle muzzle)
{
    weft_grid_view view;
    weft_grid_view_get(d->grid, &view, sizeof view);
    weft_grid_run runs[WEFT_GRID_MAX_RUNS];
    double at[2] = {(double)muzzle.x, (double)muzzle.y};
    uint32_t count = weft_grid_runs(d->grid, weft_grid_cell_at(d->grid, at), runs);
    defence_choice best = {REACH * REACH, 0, UINT32_MAX};
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t k = runs[r].begin; k < runs[r].end; k++) {
            uint32_t i = view.points[k];
            defence_consider(&best, muzzle, d->at[i], d->number[i], i);
        }
    return best.index == UINT32_MAX ? (weft_entity){0, 0} : d->who[best.index];
}
"""
    REPLACE = """
                Badge next = {defence_next(badge[i].number, (uint32_t)weft_slice_frame(slice).number)};
                Spot at;
                Course course;
                defence_begin(next.number, defence->side, &at, &course);
                weft_recorder_destroy_entity(commands, entities[i]);
                weft_entity new = weft_recorder_instantiate(commands, defence->PREFAB);
                weft_recorder_set(commands, new, handle_spot, &at, sizeof at);
                weft_recorder_set(commands, new, handle_course, &course, sizeof course);
                weft_recorder_set(commands, new, handle_badge, &next, sizeof next);"""

    def __del__(self):
        end_grid(self.world, self.resource)

    def add_systems(self, size):
        world, spot, course, badge, hull, aim, gun, hit = (
            self.world, self.spot, self.course, self.badge, self.hull, self.aim, self.gun, self.hit)
        self.memory = np.zeros((3, raiders_of(size)), "u8")
        defence = world.resource("Defence", np.dtype(
            [("arrays", "3u8"), ("grid", "u8"), ("ship", weft.entity), ("raider", weft.entity), ("raider_count", "u4"),
             ("side", "f4")], align=True), hashed=False)
        self.resource = defence
        world.set_resource(defence, ([row.ctypes.data for row in self.memory], 0, self.ship_prefab, self.raider_prefab,
                                     raiders_of(size), self.side))
        words = {"head": self.HEAD, "structs": False, "flags": FLAGS}
        world.c("""
            for (uint32_t i = 0; i < count; i++) {
                const Spot *target = weft_finder_read(&find_spot, aim[i].target);
                if (target != NULL) defence_steer(spot[i], *target, &course[i]);
            }""", name="steer", write=[course], read=[spot, aim], look_up=[spot], **words)
        world.c("for (uint32_t i = 0; i < count; i++) defence_move(&spot[i], course[i]);",
                name="move", write=[spot], read=[course], **words)
        world.c("""
            for (uint32_t i = 0; i < count; i++) {
                defence_bounce(&spot[i].x, &course[i].x, defence->side);
                defence_bounce(&spot[i].y, &course[i].y, defence->side);
            }""", name="bounce", write=[spot, course], having=[badge], resources=[defence], **words)
        world.c("""
            for (uint32_t i = 0; i < count; i++) {
                const Spot *target = weft_finder_read(&find_spot, aim[i].target);
                bool is_hit = target != NULL && defence_is_hit(spot[i], *target);
                if (is_hit) {
                    weft_entity hit = weft_recorder_create_entity(commands, archetype_hits);
                    weft_recorder_set(commands, hit, handle_hit, &(Hit){aim[i].target, aim[i].damage, 0}, sizeof(Hit));
                }
                if (--aim[i].life == 0 || is_hit) weft_recorder_destroy_entity(commands, entities[i]);
            }""", name="strike", write=[aim], read=[spot], look_up=[spot], handles=[hit], archetypes={"hits": [hit]},
                commands=True, **words)
        self.add_turrets(defence, words)
        world.c("""
            for (uint32_t i = 0; i < count; i++) {
                Hull *hull = weft_slice_write_entity(slice, hit[i].target, handle_hull);
                if (hull != NULL) hull->points -= hull->points < hit[i].damage ? hull->points : hit[i].damage;
            }""", name="damage", read=[hit], write_look_up=[hull], serial=True, **words)
        world.c("weft_recorder_query_destroy_entities(commands, query_hits);",
                name="forget", queries={"hits": self.hits}, commands=True, after="damage", **words)
        places = {"handles": [spot, course, badge], "resources": [defence], "commands": True, **words}
        world.c("for (uint32_t i = 0; i < count; i++)\n            if (hull[i].points == 0) {"
                + self.REPLACE.replace("PREFAB", "raider") + "}", name="sink", read=[hull, badge], having=[self.raider], **places)
        world.c("for (uint32_t i = 0; i < count; i++)\n            if (defence_is_lost(badge[i].number, "
                "(uint32_t)weft_slice_frame(slice).number)) {" + self.REPLACE.replace("PREFAB", "ship") + "}",
                name="lose", read=[badge], having=[self.ship], **places)

    def add_turrets(self, defence, words):
        world, spot, gun, muzzle, mount, parent = self.world, self.spot, self.gun, self.muzzle, self.mount, self.parent
        world.c("""
            for (uint32_t i = 0; i < count; i++) {
                const Spot *ship = weft_finder_read(&find_spot, parent[i]);
                if (ship != NULL) muzzle[i] = (Muzzle){ship->x + mount[i].x, ship->y + mount[i].y};
            }""", name="carry", write=[muzzle], read=[mount, parent], look_up=[spot], **words)
        world.c("""
            for (uint32_t i = 0; i < count; i++) {
                defence->at[slice->first + i] = spot[i];
                defence->number[slice->first + i] = badge[i].number;
                defence->who[slice->first + i] = entities[i];
            }""", name="collect", read=[spot, self.badge], having=[self.raider], resources=[defence], **words)
        world.c("""
            if (defence->grid == NULL) {
                weft_grid_desc box = {.dimensions = 2, .most = {defence->side, defence->side}, .reach = (double)REACH};
                weft_grid_create(&box, &defence->grid);
            }
            weft_grid_points points = {.positions = defence->at, .stride = sizeof(Spot), .count = defence->raider_count};
            weft_grid_build(defence->grid, weft_slice_job(slice), &points);""",
                name="sort", write_resources=[defence], jobs=True, after="collect", **words)
        world.c("""
            for (uint32_t i = 0; i < count; i++) {
                const Spot *at = weft_finder_read(&find_spot, gun[i].target);
                if (at == NULL || defence_square(muzzle[i].x, muzzle[i].y, at->x, at->y) > REACH * REACH)
                    gun[i].target = choose(defence, muzzle[i]);
            }""", name="aim", write=[gun], read=[muzzle], look_up=[spot], resources=[defence], after="sort", **words)
        world.c("""
            for (uint32_t i = 0; i < count; i++) {
                if (gun[i].reload > 0) {
                    gun[i].reload--;
                } else if (!weft_entity_is_null(gun[i].target)) {
                    Spot from = {muzzle[i].x, muzzle[i].y};
                    Aim aim = {gun[i].target, SHELL_LIFE, DAMAGE};
                    weft_entity shell = weft_recorder_create_entity(commands, archetype_shells);
                    weft_recorder_set(commands, shell, handle_spot, &from, sizeof from);
                    weft_recorder_set(commands, shell, handle_aim, &aim, sizeof aim);
                    gun[i].reload = RELOAD;
                    gun[i].shots++;
                }
            }""", name="fire", write=[gun], read=[muzzle], handles=[spot, self.aim],
                archetypes={"shells": [spot, self.course, self.aim]}, commands=True, **words)


class Plain:
    """NumPy. A target is a slot and a version: 0 of none."""

    world = None
    SHELL = np.dtype([("at", PAIR), ("course", PAIR), ("slot", "i4"), ("version", "u4"), ("life", "u4")])

    def __init__(self, size):
        self.tick, self.side = 0, side_of(size)
        self.ship, self.number = np.arange(ships_of(size), dtype="u8"), raider_numbers(size)
        self.ship_at, self.ship_course = begin(self.ship, self.side)
        self.at, self.course = begin(self.number, self.side)
        self.points, self.version = np.full(len(self.number), HULL, "u4"), np.ones(len(self.number), "u4")
        self.mount = np.tile(mounts(), len(self.ship))
        self.muzzle = np.zeros(len(self.mount), PAIR)
        self.slot, self.of_version = np.zeros(len(self.mount), "i4"), np.zeros(len(self.mount), "u4")
        self.reload = self.mount["slot"] % RELOAD
        self.shells = np.zeros(0, self.SHELL)

    def step(self):
        self.tick += 1
        shells = self.shells
        steer(shells["at"], self.at[shells["slot"]], self.version[shells["slot"]] == shells["version"], shells["course"])
        for at, course in ((shells["at"], shells["course"]), (self.ship_at, self.ship_course), (self.at, self.course)):
            move(at, course)
        bounce(self.ship_at, self.ship_course, self.side)
        bounce(self.at, self.course, self.side)
        self.strike()
        self.aim_and_fire()
        self.replace()

    def strike(self):
        shells = self.shells
        is_hit = (self.version[shells["slot"]] == shells["version"]) & (
            square(shells["at"], self.at[shells["slot"]]) < np.float32(0.01))
        shells["life"] -= 1
        self.hits = np.bincount(shells["slot"][is_hit], minlength=len(self.points)).astype("u4") * np.uint32(DAMAGE)
        self.shells = shells[(shells["life"] > 0) & ~is_hit]

    def aim_and_fire(self):
        near = Raiders(self.at, self.number, self.side)
        for axis in ("x", "y"):
            self.muzzle[axis] = np.repeat(self.ship_at[axis], TURRETS) + self.mount[axis]
        some = np.flatnonzero((self.version[self.slot] != self.of_version)
                              | (square(self.muzzle, self.at[self.slot]) > REACH * REACH))
        best = near.choose(self.muzzle[some])
        self.slot[some] = np.maximum(best, 0)
        self.of_version[some] = np.where(best >= 0, self.version[best], 0)
        fires = (self.reload == 0) & (self.of_version != 0)
        self.reload = np.where(fires, np.uint32(RELOAD), self.reload - (self.reload > 0).astype("u4"))
        new = np.zeros(int(fires.sum()), self.SHELL)
        new["at"], new["slot"], new["version"] = self.muzzle[fires], self.slot[fires], self.of_version[fires]
        new["life"] = SHELL_LIFE
        self.shells = np.concatenate([self.shells, new])

    def replace(self):
        self.points -= np.minimum(self.points, self.hits)
        gone = np.flatnonzero(self.points == 0)
        self.number[gone] = following(self.number[gone], self.tick)
        self.at[gone], self.course[gone] = begin(self.number[gone], self.side)
        self.points[gone] = HULL
        self.version[gone] += 1
        gone = np.flatnonzero(is_lost(self.ship, self.tick))
        self.ship[gone] = following(self.ship[gone], self.tick)
        self.ship_at[gone], self.ship_course[gone] = begin(self.ship[gone], self.side)
        turrets = (gone[:, None] * TURRETS + np.arange(TURRETS)).reshape(-1)
        self.of_version[turrets], self.reload[turrets] = 0, self.mount["slot"][turrets] % RELOAD
        for axis in ("x", "y"):
            self.muzzle[axis][turrets] = 0

    def number_of(self, slot, version):
        return np.where(self.version[slot] == version, self.number[slot], np.uint64(0))

    def content(self):
        shells = self.shells
        return total(*map(np.uint64, (
            content(self.number, self.at, self.course, self.points), content(self.ship, self.ship_at, self.ship_course, 0),
            content_of_turrets(np.repeat(self.ship, TURRETS), self.mount, self.muzzle, self.reload,
                               self.number_of(self.slot, self.of_version)),
            content(self.number_of(shells["slot"], shells["version"]), shells["at"], shells["course"], shells["life"]))))
