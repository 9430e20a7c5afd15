# SPDX-License-Identifier: MIT
"""epidemic_weft.py: the epidemic (epidemic.h) in Python. Columns and Plain make the same things in the same order; Plain has
people in arrays, from which the dead are taken out, and houses in slots with versions."""
import numpy as np
import weft

from program import FLAGS, end_grid, stir, stir_float, total

HOUSEHOLD, SICK_DAYS, IMMUNE_DAYS = 3, 14, 60
PLACE, PERSON, SICK, HOUSE, HOME = (np.dtype(fields, align=True) for fields in (
    [("x", "f4"), ("y", "f4")], [("number", "u8"), ("age", "u4"), ("immune", "u4")], [("days", "u4")],
    [("number", "u8"), ("sick", "u4"), ("built", "u4")], [("house", weft.entity)]))


# The rules.

def side_of(people):
    return np.sqrt(np.float32(people))


def bounce(at, side):
    return np.where(at < 0, -at, np.where(at > side, side + side - at, at))


def walk(x, y, numbers, day, side):
    random = weft.Random(5, numbers, day, 0)
    x = bounce(x + (random.float() - np.float32(0.5)), side)
    return x, bounce(y + (random.float() - np.float32(0.5)), side)


class Sick:
    """Places of the sick by cells of 1 x 1."""

    def __init__(self, x, y, side):
        self.cells = int(side)
        where = self.along(y) * self.cells + self.along(x)
        order = np.argsort(where, kind="stable")
        self.x, self.y = x[order], y[order]
        self.begin = np.zeros(self.cells * self.cells + 1, "i8")
        np.cumsum(np.bincount(where, minlength=self.cells * self.cells), out=self.begin[1:])

    def along(self, at):
        return np.minimum(at.astype("i4"), self.cells - 1)

    def meet(self, x, y):
        """How many are nearer than 1 to each of these places."""
        column, row = self.along(x), self.along(y)
        left, right = np.maximum(column - 1, 0), np.minimum(column + 1, self.cells - 1)
        met = np.zeros(len(x), "u4")
        for dy in (-1, 0, 1):
            near = np.flatnonzero((row + dy >= 0) & (row + dy < self.cells))
            first = (row[near] + dy) * self.cells
            begin, end = self.begin[first + left[near]], self.begin[first + right[near] + 1]
            length = end - begin
            who = np.repeat(near, length)
            k = np.arange(len(who)) + np.repeat(begin - (np.cumsum(length) - length), length)
            dx, dy = self.x[k] - x[who], self.y[k] - y[who]
            met += np.bincount(who[dx * dx + dy * dy < 1], minlength=len(x)).astype("u4")
        return met


def catches(numbers, met, home, day):
    """Which are infected."""
    some = np.flatnonzero(met + home > 0)
    chance = np.float32(0.04) * met[some].astype("f4") + np.float32(0.06) * home[some].astype("f4")
    return some[weft.Random(5, numbers[some], day, 1).float() < chance]


def dies_of_it(numbers, day):
    return weft.Random(5, numbers, day, 2).float() < np.float32(0.02)


def live(numbers, has_home, day):
    """(who dies, who moves, who gives birth) in this day."""
    random = weft.Random(5, numbers, day, 3)
    dies = random.float() < np.float32(0.01)
    moves = (random.float() < np.where(has_home, np.float32(0.005), np.float32(0.5))) & ~dies
    return dies, moves, random.float() < np.float32(0.01)


def child(mothers, day):
    return stir(stir(mothers, day), 1)


def house(founders, day):
    return stir(stir(founders, day), 2)


def burns(numbers, day):
    return weft.Random(5, numbers, day, 4).float() < np.float32(0.0005)


def begin(people, side):
    """(places, persons, days of sickness) of the first ones."""
    random = weft.Random(5, np.arange(people), 0, 5)
    at, person = np.zeros(people, PLACE), np.zeros(people, PERSON)
    at["x"], at["y"] = random.float() * side, random.float() * side
    person["number"], person["age"], person["immune"] = np.arange(people), random.below(100), random.below(IMMUNE_DAYS)
    is_sick = random.float() < np.float32(0.05)
    return at, person, np.where(is_sick, 1 + random.below(SICK_DAYS), 0).astype("u4")


def content(x, y, person, days, home):
    """`home`: the number of the house of each, or 0."""
    sums = stir_float(stir_float(person["number"] + np.uint64(1), x), y)
    return total(stir(stir(stir(stir(sums, person["age"]), person["immune"]), days), home))


def content_of_houses(numbers, sick, people):
    return total(stir(stir(numbers + np.uint64(1), sick), people))


def content_of_counts(counts):
    return int(stir(stir(stir(1, counts["born"]), counts["infected"]), counts["dead"]))


def index(entities):
    """Their places in arrays by entity: from 1; 0 is that of the null entity."""
    places = entities & np.uint64(0x0FFFFFFF)
    places += entities != 0
    return places.view("i8")


class World:
    """People and houses in a world."""

    def __init__(self, size):
        self.world, self.side = weft.World(workers=1), side_of(size)
        self.place, self.person, self.sick, self.house = (self.world.component(*each) for each in (
            ("Place", PLACE), ("Person", PERSON), ("Sick", SICK), ("House", HOUSE)))
        self.home = self.world.relation("Home", HOME)
        self.world.create_many(0, components=[self.place, self.person, self.home])  # the order of their rows is that in C
        self.world.create_many(0, components=[self.house])
        self.settle(size)
        self.people = self.world.query(read=[self.place, self.person, self.home], optional=[self.sick])
        self.houses = self.world.query(read=[self.house])
        self.ill = self.world.query(read=[self.home, self.place, self.sick])
        self.counts = {"born": 0, "infected": 0, "dead": 0}
        self.add_systems(size)

    def settle(self, size):
        """A house before each three people: one by one, so that rows lie as they do in C."""
        at, person, days = begin(size, self.side)
        numbers = house(np.arange(0, size, HOUSEHOLD).astype("u8"), 0)
        for i in range(size):
            if i % HOUSEHOLD == 0:
                home = self.world.create(values={self.house: (int(numbers[i // HOUSEHOLD]), 0, 0)})
            one = self.world.create(values={self.place: at[i], self.person: person[i], self.home: (home,)})
            if days[i] > 0:
                self.world.set(one, self.sick, (int(days[i]),))

    def step(self):
        self.world.step(1)
        self.world.settle()

    def content(self):
        sums, homes = [content_of_counts(self.counts)], []
        with self.people.slices() as slices:
            for s in slices:
                days = np.zeros(len(s), "u4") if s[self.sick] is None else s[self.sick]["days"].copy()
                home = self.world.look_up(s[self.home]["house"], self.house)[0]["number"]
                sums.append(content(s[self.place]["x"], s[self.place]["y"], s[self.person], days, home))
                homes.append(index(s[self.home]["house"]))
        houses, entities = self.houses.read(self.house), index(self.houses.entities)
        people = np.bincount(np.concatenate(homes), minlength=entities.max() + 1)[entities]
        sums.append(content_of_houses(houses["number"], houses["sick"], people))
        return total(*map(np.uint64, sums))


class Columns(World):
    """Systems of Python over all rows. People are born and houses built in the order of the rows, as in C, and counted where NumPy
    counts them."""

    def add_systems(self, _):
        system, place, person, sick, house, home = (self.world.system, self.place, self.person, self.sick, self.house, self.home)
        system(self.tell_houses, write=[house], whole=True)
        system(self.walk_and_infect, write=[place], read=[person, home], optional=[sick], whole=True)
        system(self.recover, write=[sick, person], whole=True)
        system(self.live, write=[person], read=[place, home], whole=True)
        system(self.end_houses, read=[house], whole=True)

    def tell_houses(self, s):
        places = index(s.entities)
        self.sick_at_home = np.bincount(index(self.ill.read(self.home)["house"]), minlength=places.max() + 1).astype("u4")
        self.sick_at_home[0] = 0
        s[self.house]["sick"] = self.sick_at_home[places]

    def walk_and_infect(self, s):
        at, person, days, home = s[self.place], s[self.person], s[self.sick]["days"], s[self.home]["house"]
        x, y = at["x"], at["y"] = walk(at["x"], at["y"], person["number"], s.frame, self.side)
        ill, some = np.flatnonzero(days > 0), np.flatnonzero((days == 0) & (person["immune"] == 0))
        met = Sick(x[ill], y[ill], self.side).meet(x[some], y[some])
        some = some[catches(person["number"][some], met, self.sick_at_home[index(home[some])], s.frame)]
        s.commands.set(s.entities[some], self.sick, {"days": SICK_DAYS})
        self.counts["infected"] += len(some)

    def recover(self, s):
        days, person = s[self.sick]["days"], s[self.person]
        days -= 1
        some = np.flatnonzero(days == 0)
        dies = dies_of_it(person["number"][some], s.frame)
        person["immune"][some[~dies]] = IMMUNE_DAYS
        done, begin = s.entities[some], 0
        for end in np.flatnonzero(dies).tolist():  # by turns, as in C: so rows lie as they do there
            s.commands.remove(done[begin:end], self.sick)
            s.commands.destroy(done[end])
            begin = end + 1
        s.commands.remove(done[begin:], self.sick)
        self.counts["dead"] += int(dies.sum())

    def live(self, s):
        person, home, day, entities = s[self.person], s[self.home]["house"], s.frame, s.entities
        person["age"] += 1
        person["immune"] -= person["immune"] > 0
        dies, moves, births = live(person["number"], home != 0, day)
        made = s.commands.create_many(int(moves.sum() + births.sum()))  # new ones have no handles of those that die with them
        s.commands.destroy(entities[dies])
        place = np.cumsum(births.astype("i8") + moves) - 1  # of the last one that a row makes: its house
        born, built = made[place[births] - moves[births]], made[place[moves]]
        mothers = np.zeros(len(born), PERSON)
        mothers["number"] = child(person["number"][births], day)
        s.commands.set(born, self.place, s[self.place][births])
        s.commands.set(born, self.person, mothers)
        s.commands.set(born, self.home, s[self.home][births])
        s.commands.set(built, self.house, {"number": house(person["number"][moves], day), "sick": 0, "built": day})
        s.commands.set(entities[moves], self.home, {"house": built})
        self.counts["born"] += len(born)
        self.counts["dead"] += int(dies.sum())

    def end_houses(self, s):
        places = index(s.entities)
        people = np.bincount(index(self.people.read(self.home)["house"]), minlength=places.max() + 1)[places]
        s.commands.destroy(s.entities[(people == 0) | burns(s[self.house]["number"], s.frame)])


class Compiled(World):
    """Systems in C."""

    HEAD = """#include "epidemic.h"
typedef struct Home {
    weft_entity house;
} Home;
typedef struct Epidemic {
    Place *at, *sorted;
    weft_grid *grid;
    uint32_t capacity;
    float side;
} Epidemic;
static inline uint32_t meet(const Epidemic *e, Place at)
{
    weft_grid_run runs[WEFT_GRID_MAX_RUNS];
    uint32_t cell = weft_grid_cell_at(e->grid, (double[]){(double)at.x, (double)at.y});
    uint32_t met = 0, count = weft_grid_runs(e->grid, cell, runs);
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t k = runs[r].begin; k < runs[r].end; k++)
            met += epidemic_is_near(e->sorted[k], at);
    return met;
}
"""

    def __del__(self):
        end_grid(self.world, self.resource)

    def counting(self, word):
        def count(observation):
            self.counts[word] += len(observation)
        return count

    def add_systems(self, size):
        world, place, person, sick, house, home = (self.world, self.place, self.person, self.sick, self.house, self.home)
        self.memory = np.zeros((2, size * 2), PLACE)
        epidemic = world.resource("Epidemic", np.dtype(
            [("at", "2u8"), ("grid", "u8"), ("capacity", "u4"), ("side", "f4")], align=True), hashed=False)
        self.resource = epidemic
        world.set_resource(epidemic, ([row.ctypes.data for row in self.memory], 0, size * 2, self.side))
        words = {"head": self.HEAD, "structs": False, "flags": FLAGS}
        day = "uint32_t day = (uint32_t)weft_slice_frame(slice).number;"
        all_sick = world.query(read=[place, sick])
        for word, event, component in (("infected", "added", sick), ("born", "created", person), ("dead", "destroyed", person)):
            world.observe(event, component, self.counting(word))
        world.c(day + """
            for (uint32_t i = 0; i < count; i++) epidemic_walk(&place[i], person[i].number, day, epidemic->side);""",
                name="walk", write=[place], read=[person], resources=[epidemic], **words)
        world.c("for (uint32_t i = 0; i < count; i++) house[i].sick = 0;", name="reset houses", write=[house], **words)
        world.c("""
            for (uint32_t i = 0; i < count; i++) {
                House *house = weft_slice_write_entity(slice, home[i].house, handle_house);
                if (house != NULL) house->sick++;
            }""", name="count at home", read=[home], having=[sick], write_look_up=[house], serial=True, **words)
        world.c("""
            for (uint32_t i = 0; i < count && slice->first + i < epidemic->capacity; i++)
                epidemic->at[slice->first + i] = place[i];""",
                name="collect", read=[place], having=[sick], resources=[epidemic], **words)
        world.c("""
            if (epidemic->grid == NULL) {
                weft_grid_desc box = {.dimensions = 2, .most = {epidemic->side, epidemic->side}, .reach = 1};
                weft_grid_create(&box, &epidemic->grid);
            }
            uint32_t sick = 0;
            weft_cursor c = weft_slice_query(slice, query_sick);
            while (weft_query_next(&c)) sick += weft_slice_count(&c.slice);
            weft_grid_points points = {.positions = epidemic->at, .stride = sizeof(Place), .sorted = epidemic->sorted,
                                       .count = sick < epidemic->capacity ? sick : epidemic->capacity};
            weft_grid_build(epidemic->grid, weft_slice_job(slice), &points);""",
                name="sort", write_resources=[epidemic], queries={"sick": all_sick}, jobs=True, after="collect", **words)
        world.c(day + """
            for (uint32_t i = 0; i < count; i++) {
                if (person[i].immune > 0) continue;
                const House *house = weft_finder_read(&find_house, home[i].house);
                if (epidemic_catches(&person[i], meet(epidemic, place[i]), house != NULL ? house->sick : 0, day))
                    weft_recorder_set(commands, entities[i], handle_sick, &(Sick){SICK_DAYS}, sizeof(Sick));
            }""", name="infect", read=[person, place, home], without=[sick], look_up=[house], handles=[sick],
                resources=[epidemic], commands=True, after="sort", **words)
        world.c(day + """
            for (uint32_t i = 0; i < count; i++) {
                if (--sick[i].days > 0) continue;
                if (epidemic_dies_of_it(&person[i], day)) {
                    weft_recorder_destroy_entity(commands, entities[i]);
                } else {
                    person[i].immune = IMMUNE_DAYS;
                    weft_recorder_remove(commands, entities[i], handle_sick);
                }
            }""", name="recover", write=[sick, person], handles=[sick], commands=True, **words)
        world.c(day + """
            for (uint32_t i = 0; i < count; i++) {
                epidemic_fate fate = epidemic_live(&person[i], !weft_entity_is_null(home[i].house), day);
                if (fate.gives_birth) {
                    weft_entity child = weft_recorder_create_entity(commands, archetype_people);
                    Person born = {.number = epidemic_child(person[i].number, day)};
                    weft_recorder_set(commands, child, handle_place, &place[i], sizeof(Place));
                    weft_recorder_set(commands, child, handle_person, &born, sizeof born);
                    weft_recorder_set(commands, child, handle_home, &home[i], sizeof(Home));
                }
                if (fate.moves) {
                    weft_entity house = weft_recorder_create_entity(commands, archetype_houses);
                    House built = {.number = epidemic_house(person[i].number, day), .built = day};
                    weft_recorder_set(commands, house, handle_house, &built, sizeof built);
                    weft_recorder_set(commands, entities[i], handle_home, &(Home){house}, sizeof(Home));
                }
                if (fate.dies) weft_recorder_destroy_entity(commands, entities[i]);
            }""", name="live", write=[person], read=[place, home], handles=[place, person, home, house],
                archetypes={"people": [place, person, home], "houses": [house]}, commands=True, **words)
        world.c(day + """
            for (uint32_t i = 0; i < count; i++) {
                uint32_t people;
                weft_relation_sources(weft_slice_world(slice), handle_home, entities[i], &people);
                if (people == 0 || epidemic_burns(&house[i], day)) weft_recorder_destroy_entity(commands, entities[i]);
            }""", name="end houses", read=[house], look_up=[home], handles=[home], commands=True, **words)


class Plain:
    """NumPy."""

    world = None

    def __init__(self, size):
        self.day, self.side = 0, side_of(size)
        at, self.person, self.days = begin(size, self.side)
        self.x, self.y = at["x"].copy(), at["y"].copy()
        founders = np.arange(0, size, HOUSEHOLD).astype("u8")
        self.home = np.arange(size) // HOUSEHOLD + 1  # a slot; 0: none
        self.house = np.concatenate([np.zeros(1, "u8"), house(founders, 0)])  # by slot; 0: free
        self.sick = np.zeros(len(self.house), "u4")
        self.counts = {"born": 0, "infected": 0, "dead": 0}

    def bury(self, dies):
        lives = ~dies
        self.x, self.y, self.person, self.days, self.home = (
            each[lives] for each in (self.x, self.y, self.person, self.days, self.home))
        self.counts["dead"] += int(dies.sum())

    def infect(self):
        ill = np.flatnonzero(self.days > 0)
        self.sick = np.bincount(self.home[ill], minlength=len(self.house)).astype("u4")
        self.sick[0] = 0
        some = np.flatnonzero((self.days == 0) & (self.person["immune"] == 0))
        met = Sick(self.x[ill], self.y[ill], self.side).meet(self.x[some], self.y[some])
        some = some[catches(self.person["number"][some], met, self.sick[self.home[some]], self.day)]
        self.counts["infected"] += len(some)
        self.days[some] = SICK_DAYS

    def recover(self):
        ill = np.flatnonzero(self.days > 0)
        self.days[ill] -= 1
        some = ill[self.days[ill] == 0]
        dies = np.zeros(len(self.days), bool)
        dies[some] = dies_of_it(self.person["number"][some], self.day)
        self.person["immune"][some] = IMMUNE_DAYS
        self.bury(dies)

    def live(self):
        person = self.person
        person["age"] += 1
        person["immune"] -= person["immune"] > 0
        dies, moves, births = live(person["number"], self.home > 0, self.day)
        born = np.zeros(int(births.sum()), PERSON)
        born["number"] = child(person["number"][births], self.day)
        at, home = (self.x[births], self.y[births]), self.home[births]
        self.move(np.flatnonzero(moves))
        self.bury(dies)
        self.x, self.y = (np.concatenate(pair) for pair in ((self.x, at[0]), (self.y, at[1])))
        self.person, self.home = np.concatenate([self.person, born]), np.concatenate([self.home, home])
        self.days = np.concatenate([self.days, np.zeros(len(born), "u4")])
        self.counts["born"] += len(born)

    def move(self, who):
        free = np.flatnonzero(self.house[1:] == 0)[:len(who)] + 1
        more = len(who) - len(free)
        slots = np.concatenate([free, len(self.house) + np.arange(more)])
        self.house, self.sick = (np.concatenate([each, np.zeros(more, each.dtype)]) for each in (self.house, self.sick))
        self.house[slots], self.sick[slots] = house(self.person["number"][who], self.day), 0
        self.home[who] = slots

    def end_houses(self):
        slots = np.flatnonzero(self.house)
        people = np.bincount(self.home, minlength=len(self.house))[slots]
        self.house[slots[(people == 0) | burns(self.house[slots], self.day)]] = 0
        self.home[self.house[self.home] == 0] = 0

    def step(self):
        self.day += 1
        self.x, self.y = walk(self.x, self.y, self.person["number"], self.day, self.side)
        self.infect()
        self.recover()
        self.live()
        self.end_houses()

    def content(self):
        slots = np.flatnonzero(self.house)
        people = np.bincount(self.home, minlength=len(self.house))[slots]
        return total(*map(np.uint64, (
            content_of_counts(self.counts), content(self.x, self.y, self.person, self.days, self.house[self.home]),
            content_of_houses(self.house[slots], self.sick[slots], people))))
