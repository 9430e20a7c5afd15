# SPDX-License-Identifier: MIT
"""test_rows.py: changes of all rows of a query, filters, many entities at once, structs in structs, resources that are
buffers, of the package weft."""
import enum
import gc
import os
import resource
import unittest

import numpy as np

import weft


class State(enum.IntEnum):
    WELL = 0
    ILL = 5


class Bed(unittest.TestCase):
    def setUp(self):
        self.world = weft.World(workers=1)
        self.speed = self.world.component("Speed", "f4")
        self.team = self.world.component("Team", "S4", kind="shared")
        self.shield = self.world.component("Shield", "f4", enableable=True)
        self.mark = self.world.component("Mark", "i4", kind="sparse")
        self.hit = self.world.tag("Hit")
        self.made = self.world.create_many(8, {self.speed: range(8), self.team: "red"})
        self.query = self.world.query(read=[self.speed], having=[self.team])

    def tearDown(self):
        gc.collect()
        self.world.close()


class AllRows(Bed):
    def test_a_query_changes_all_its_rows(self):
        self.query.add(self.hit, self.shield)
        self.query.set(self.speed, 3)
        self.query.set(self.team, "blue")
        self.query.set(self.mark, 7)
        self.query.enable(self.shield, False)
        self.assertEqual([len(self.world.query(having=[c])) for c in (self.hit, self.shield)], [8, 0])
        self.assertEqual(len(self.world.query(present=[self.shield])), 8)
        self.assertEqual(self.query.read(self.speed).tolist(), [3] * 8)
        self.assertEqual((self.world.get(self.made[0], self.team), self.world.get(self.made[7], self.mark)), (b"blue", 7))
        self.query.remove(self.hit)
        self.assertEqual(len(self.world.query(absent=[self.hit])), 8)
        self.query.destroy()
        self.assertEqual((len(self.query), self.world.stats["entities"]), (0, 0))

    def test_refused_commands_record_nothing(self):
        world = weft.World(workers=1)
        mass, score, shared = world.component("Mass", "f4"), world.resource("Score", "f4"), world.component("Team", "f4", kind="shared")
        likes = world.relation("Likes")
        made = world.create_many(2, {mass: 1})
        commands, others = world.commands(), world.commands()
        mixed = np.array([made[0], others.create(), made[1]], "u8")
        heavy, none = world.query(read=[mass]), np.array([made[0], 0], "u8")
        for call in (lambda: commands.set(mixed, mass, 3), lambda: commands.add(mixed, shared), lambda: commands.remove(none, mass),
                     lambda: commands.destroy(mixed), lambda: commands.relate(mixed, likes, made[1]), lambda: commands.instantiate(mixed[1])):
            self.assertRaises(weft.StaleEntityError, call)
        self.assertRaises(weft.TypeMismatchError, commands.create, mass, score)
        self.assertRaises(weft.TypeMismatchError, commands.add, made, score)
        self.assertRaises(weft.TypeMismatchError, commands.all(heavy).add, shared, score)
        self.assertRaises(weft.TypeMismatchError, heavy.add, shared, score)
        self.assertRaises(UnicodeEncodeError, commands.create, mass, name="\udc80")
        before = world.hash()
        commands.play()  # nor does it raise what was raised
        self.assertEqual((world.hash(), heavy.read(mass).tolist(), len(world.query(having=[shared]))), (before, [1, 1], 0))
        made = commands.create(mass)
        commands.play()
        self.assertRaises(weft.StaleEntityError, commands.set, made, mass, 1)  # it was of the round before
        commands.play()

    def test_copies_of_all_rows_are_nobody_elses(self):
        world = weft.World(workers=1)
        mass = world.component("Mass", "f4")
        world.create_many(5, {mass: np.arange(5)})
        kept = []

        @world.system(write=[mass], whole=True)
        def grow(s):
            s[mass] += 1
            kept.append((s[mass][1:3], s.entities, s.entities.flags.writeable, s.parts))

        for _ in range(3):
            world.step(1)
        self.assertEqual([one[0].tolist() for one in kept], [[2, 3], [3, 4], [4, 5]])
        self.assertEqual([one[2:] for one in kept], [(False, [slice(0, 5)])] * 3)

    def test_all_rows_are_those_that_are_enabled(self):
        world = weft.World(workers=1)
        mass = world.component("Mass", "f4", enableable=True)
        team = world.component("Team", [("pad", "u8"), ("number", "u4")], kind="shared")
        made = world.create_many(6000, {mass: np.arange(6000)})
        for i in range(3):
            world.set(made[i::3], team, (7, i))
        world.enable(made[:5990], mass, False)
        seen = []

        @world.system(write=[mass], read=[team], whole=True)
        def grow(s):
            seen.append([s[team]["number"].tolist(), s[mass].tolist(), len(s.entities), s.parts[-1].stop, s.enabled.tolist(), len(s)])
            s[mass] += 1

        world.step(1)
        self.assertEqual(seen, [[[0, 0, 0, 1, 1, 1, 2, 2, 2, 2], [5990 + k for k in (1, 4, 7, 2, 5, 8, 0, 3, 6, 9)],
                                 10, 10, [True] * 10, 10]])
        self.assertEqual(world.look_up(made, mass)[0].tolist(), [*range(5990), *range(5991, 6001)])

    def test_commands_change_all_rows_that_there_are_then(self):
        commands = self.world.commands()
        commands.all(self.query).add(self.hit)
        commands.all(self.world.query(having=[self.hit])).set(self.team, "new")  # the query lives until then
        gc.collect()
        commands.create(values={self.speed: 1})
        more = self.world.create_many(2, {self.speed: 9, self.team: "red"})
        commands.play()
        self.assertEqual(self.world.get(more[1], self.team), b"new")
        self.world.add(self.made, self.shield)
        commands.all(self.query).enable(self.shield, False)
        commands.all(self.query).remove(self.hit)
        commands.play()
        self.assertFalse(self.world.is_enabled(self.made[0], self.shield))
        self.assertEqual(len(self.world.query(having=[self.hit])), 0)

        @self.world.system
        def end(c):
            c.commands.all(self.query).destroy()

        self.world.step(1)
        self.assertEqual(len(self.query), 0)

    def test_what_cannot_be_changed_is_refused(self):
        buffer, chunk = self.world.component("B", "f4", kind="buffer"), self.world.component("C", "f4", kind="chunk")
        clock, other = self.world.resource("R", "f4"), weft.World(workers=1)
        stranger, foreign = other.component("Speed", "f4"), other.query()
        commands, before = self.world.commands(), self.world.hash()
        for call in (lambda: self.query.set(buffer, [1]), lambda: self.query.set(chunk, 1), lambda: self.query.set(clock, 1),
                     lambda: self.query.set(self.hit, 1), lambda: self.query.set(self.speed, "x"), lambda: self.query.add(clock),
                     lambda: self.query.add(stranger), lambda: self.query.enable(self.speed, False), lambda: self.query.remove(5),
                     lambda: commands.all(self.query).set(self.speed, 1), lambda: commands.all(foreign), lambda: commands.all(None),
                     lambda: commands.all(self.query).enable(self.hit), lambda: self.query.where(self.speed, 1), lambda: self.query.where(self.team),
                     lambda: self.query.where(self.team, "too long"), lambda: self.query.where(self.mark, 1), lambda: self.query.moved(-1),
                     lambda: self.query.moved("x"), lambda: self.query.changed(self.speed, 1.5), lambda: self.query.single()):
            with self.assertRaises((weft.Error, TypeError, ValueError, OverflowError)) as caught:
                call()
            self.assertNotRegex(str(caught.exception), "weft_|WEFT_|query_|recorder_")
        commands.play()
        self.assertEqual(self.world.hash(), before)
        with self.query.slices() as slices:
            for _ in slices:
                for call in (self.query.destroy, lambda: self.query.add(self.hit), lambda: self.query.set(self.speed, 1)):
                    self.assertRaises(weft.WrongPhaseError, call)


class Filters(Bed):
    def test_shared_values_pick_rows(self):
        self.world.set(self.made[:3], self.team, "blue")
        self.world.set(self.made[3], self.team, "grey")
        counts = []
        for values in (["red"], ["blue", "grey"], ["none"]):
            self.query.where(self.team, *values)
            counts.append((len(self.query), bool(self.query), self.made[0] in self.query))
            self.query.again()
        self.assertEqual(counts, [(4, True, False), (4, True, True), (0, False, False)])
        self.query.where_not(self.team, "red")
        self.assertEqual(len(self.query), 4)
        self.query.changed(None, 0)
        self.assertEqual(sorted(self.world.shared_values(self.team).tolist()), [b"", b"blue", b"grey", b"red"])

    def test_rows_that_moved(self):
        self.query.moved(self.world.change_version)
        self.assertEqual(len(self.query), 0)
        new = self.world.create(values={self.speed: 1, self.team: "red"})
        self.assertIn(new, self.query)
        self.query.again()
        self.query.changed(self.speed, self.world.change_version)
        self.assertEqual(len(self.query), 0)
        self.world.set(self.made[0], self.speed, 5)
        self.assertIn(self.made[0], self.query)

    def test_the_one_entity(self):
        self.assertRaisesRegex(weft.InvalidArgumentError, "8 entities", self.query.single)
        one = self.world.create(self.hit)
        self.assertEqual(self.world.query(having=[self.hit]).single(), one)
        self.assertRaises(weft.NotFoundError, self.world.query(having=[self.mark]).single)

    def test_prefabs_and_inactive_ones(self):
        self.world.prefab(self.made[0])
        self.world.add(self.made[1], self.world.inactive_tag)
        everything = self.world.query(having=[self.team], with_prefabs=True, with_inactive=True)
        self.assertEqual((len(self.query), len(everything)), (6, 8))
        self.world.set(self.made[2:], self.shield, 1)
        self.world.enable(self.made[2:4], self.shield, False)
        self.assertEqual([len(self.world.query(having=[self.shield], **words)) for words in ({}, {"ignores_enabled": True})], [4, 6])


class Many(Bed):
    def test_many_entities_get_values_at_once(self):
        self.world.set(self.made, self.speed, np.arange(8) * 2)
        self.world.set(self.made[:2], self.shield, 5)
        self.world.set(self.made.tolist(), self.mark, [1, 2, 3, 4, 5, 6, 7, 8])
        self.assertEqual([self.world.get(e, self.speed) for e in self.made], [0, 2, 4, 6, 8, 10, 12, 14])
        self.assertEqual([self.world.get(self.made[i], c) for i, c in ((1, self.shield), (7, self.mark))], [5, 8])
        self.world.set([], self.speed, [])
        self.world.destroy(self.made[3])
        before = self.world.hash()
        for call in (lambda: self.world.set(self.made, self.speed, 1), lambda: self.world.set(self.made[:2], self.speed, [1, 2, 3]),
                     lambda: self.world.set(self.made[:2], self.hit, 1), lambda: self.world.enable(self.made[2:], self.shield, False),
                     lambda: self.world.enable(self.made[:3], self.shield, False), lambda: self.world.set([1.5], self.speed, 1)):
            self.assertRaises((weft.Error, ValueError, TypeError), call)
        self.assertEqual(self.world.hash(), before)


    def test_numbers_that_do_not_fit_are_refused(self):
        grid = weft.Grid((0, 0), (1, 1), 0.1)
        for number in (-1, 2 ** 32, 2 ** 70, 1.5, "x", None, True):
            for call in (lambda: weft.World(workers=number), lambda: self.world.instantiate(self.made[0], number) if number is not None else 1 / 0,
                         lambda: grid.runs(number), lambda: self.world.system_in_c("x", "/nowhere.so", flags=number)):
                self.assertRaises((OverflowError, TypeError, ValueError, ZeroDivisionError, OSError if number is True else TypeError), call)
        self.assertRaises(OverflowError, self.world.compact, -1)
        self.assertRaisesRegex(weft.LimitError, "nothing changed$", self.world.create_many, 2 ** 28)
        misaligned = np.frombuffer(b"\0" + self.made.tobytes(), "u8", offset=1)
        self.world.relate(misaligned[1:], self.world.parent, self.made[0])
        self.world.destroy(misaligned)

class Nested(Bed):
    ROWS = [("at", [("x", "f4"), ("state", State), ("by", weft.entity)]), ("n", "i2"), ("legs", [("u", "u1", 2), ("v", "f8")], 3)]

    def test_structs_in_structs(self):
        body = self.world.component("Body", self.ROWS)
        e = self.world.create(body)
        self.world.set(e, body, {"at": {"x": 1.5, "state": State.ILL, "by": e}, "n": 7})
        self.world.set(e, body, {"at": {"x": 2}, "legs": [((1, 2), 3), {"u": 5, "v": 6}, ((7, 8), 9)]})
        wanted = ((2.0, 5, int(e)), 7, [([1, 2], 3.0), ([5, 5], 6.0), ([7, 8], 9.0)])
        flat = lambda v: (v["at"].item(), v["n"].item(), [(leg["u"].tolist(), leg["v"].item()) for leg in v["legs"]])
        self.assertEqual(flat(self.world.get(e, body)), wanted)
        self.world.set(e, body, self.world.get(e, body))
        self.assertEqual(flat(self.world.get(e, body)), wanted)
        self.world.create_many(2, {body: [((1, 0, e), 2, (1, 2)), ((3, 5, 0), 4, [(1, 2), (3, 4), (5, 6)])]})
        query = self.world.query(write=[body])
        query.each(lambda s: s[body]["at"]["x"].__iadd__(1))
        query.write(body, query.read(body))
        self.assertEqual(query.read(body)["at"]["x"].tolist(), [3, 2, 4])
        other = weft.World(workers=1)
        for component, dtype, words in ((self.speed, "f4", {}), (self.team, "S4", {"kind": "shared"}), (self.shield, "f4", {"enableable": True}),
                                        (self.mark, "i4", {"kind": "sparse"})):
            other.component(component.name, dtype, **words)
        other.tag("Hit")
        other.component("Body", self.ROWS)
        other.load(self.world.save())
        self.assertEqual(other.hash(content=True), self.world.hash(content=True))

    def test_wrong_values_name_the_field(self):
        body = self.world.component("Body", self.ROWS)
        e = self.world.create(body)
        for value, text in (({"at": {"state": 3}}, "Body.at.state: 3 is no State"), ({"at": {"z": 3}}, "Body.at has no field 'z'"),
                            ({"legs": [(1, 2)]}, "Body.legs: a list of 1"), ({"at": {"x": "q"}}, "Body.at.x: a number"),
                            ({"legs": {"u": 300}}, "Body.legs.u: 300 does not fit"), ({"at": []}, "Body.at: a list"), ({"at": None}, "Body.at"),
                            ({"at": {"by": 1.0}}, "Body.at.by: an entity"), ({"at": (1, 2)}, "Body.at: 3 values")):
            self.assertRaisesRegex((ValueError, TypeError, KeyError, OverflowError), text, self.world.set, e, body, value)
        commands = self.world.commands()
        self.assertRaisesRegex(ValueError, "Body.at: no value for state, by", commands.set, e, body, {"at": {"x": 1}, "n": 1, "legs": 0})
        deep = np.dtype("f4")
        for _ in range(12):
            deep = np.dtype([("a", deep)])
        self.assertRaisesRegex(TypeError, "more than 8 deep", self.world.component, "Deep", deep)
        self.assertRaises(TypeError, self.world.component, "Array", np.dtype((np.dtype([("a", "f4")]), 3)))
        self.assertRaises(weft.AlreadyExistsError, self.world.component, "Body", [("at", [("x", "f4")])])


class FiltersOfOthers(Bed):
    def test_a_filter_is_of_a_component_of_the_query(self):
        query = self.world.query(read=[self.speed])
        for call in (lambda: query.where(self.team, "a"), lambda: query.where_not(self.team, "a"),
                     lambda: query.changed(self.mark, 0)):
            self.assertRaisesRegex(weft.InvalidArgumentError, "name it in `having`", call)


class BufferResources(Bed):
    def test_a_resource_that_is_a_buffer(self):
        log = self.world.resource("Log", [("t", "f4"), ("n", "i4")], kind="buffer")
        self.world.append_resource(log, [(1, 2)])

        @self.world.system(read=[self.speed])
        def note(s):
            self.world.append_resource(log, [(s.dt, len(s))])

        self.world.step(0.5)
        self.assertEqual(self.world.get_resource(log).tolist(), [(1, 2), (0.5, 8)])
        saved = self.world.snapshot()
        self.world.set_resource(log, [])
        self.assertEqual(len(self.world.get_resource(log)), 0)
        self.world.restore(saved)
        self.assertEqual(len(self.world.get_resource(log)), 2)
        for call in (lambda: self.world.set_resource(log, [{"t": 1, "n": 2.5}]), lambda: self.world.append(self.made[0], log, [(1, 2)]),
                     lambda: self.world.append_resource(self.speed, [1]), lambda: self.world.resource("X", "f4", kind="shared"),
                     lambda: self.world.set_resource(log, 5), lambda: self.world.get(self.made[0], log)):
            self.assertRaises((TypeError, ValueError), call)
        self.assertEqual(len(self.world.get_resource(log)), 2)


def within(extra, call):
    """Whether `call` runs out of memory with so many more bytes."""
    with open("/proc/self/statm") as figures:
        used = int(figures.read().split()[0]) * os.sysconf("SC_PAGESIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + extra, -1))
    try:
        call()
    except MemoryError:
        return False
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
    return True


@unittest.skipIf("asan" in os.environ.get("LD_PRELOAD", ""), "AddressSanitizer takes address space as it likes")
class OutOfMemory(unittest.TestCase):
    def test_commands_on_arrays_are_made_whole_or_not_at_all(self):
        world = weft.World(workers=1)
        large, many = world.component("Large", "16f8"), world.component("Many", "f8", kind="buffer")
        made, one = world.create_many(400_000, {large: 1}), world.create(values={many: [1, 2, 3]})
        values, before = np.full((len(made), 16), 7.0), world.hash()
        for call in (lambda c: c.set(made, large, values), lambda c: [c.destroy(made) for _ in range(30)],
                     lambda c: [c.remove(made, large) for _ in range(30)]):
            commands = world.commands()
            commands.destroy(one)  # goes with the others
            self.assertFalse(within(24 << 20, lambda: call(commands)))
            for refused in (commands.play, lambda: commands.destroy(one), commands.play):
                self.assertRaisesRegex(weft.OutOfMemoryError, "none of them is made", refused)
            self.assertEqual(world.hash(), before)
        much, rows = np.zeros(30_000_000), world.query(write=[many])
        for call in (lambda: world.set(one, many, much), lambda: rows.each(lambda s: s.__setitem__(many, [much]))):
            self.assertFalse(within(40 << 20, call))
            self.assertEqual(world.get(one, many).tolist(), [1, 2, 3])
        world.step(1)


if __name__ == "__main__":
    unittest.main()
