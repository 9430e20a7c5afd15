# SPDX-License-Identifier: MIT
"""test_python.py LIBRARY [unittest options]: the package weft. LIBRARY: fall.c as a shared library."""
import enum
import gc
import os
import pickle
import resource
import sys
import tempfile
import threading
import unittest

import numpy as np

import weft

LIBRARY = sys.argv.pop(1) if len(sys.argv) > 1 else None


class Bed(unittest.TestCase):
    def setUp(self):
        self.world = weft.World(workers=2)
        self.position = self.world.component("Position", "3f4")
        self.velocity = self.world.component("Velocity", "3f4")
        self.frozen = self.world.tag("Frozen")


class Values(Bed):
    def test_one_value_for_all_or_one_each(self):
        made = self.world.create_many(5, {self.position: np.arange(15).reshape(5, 3), self.velocity: (1, 2, 3)})
        self.assertEqual(self.world.get(made[3], self.position).tolist(), [9, 10, 11])
        self.assertEqual(self.world.get(int(made[4]), self.velocity).tolist(), [1, 2, 3])

    def test_structs_have_fields(self):
        health = self.world.component("Health", [("points", "i2"), ("armour", "f8", 2), ("by", weft.entity)])
        first = self.world.create(values={health: {"points": 7, "armour": (1, 2), "by": 0}})
        second = self.world.create(health)
        self.world.set(second, health, {"by": first})
        self.assertEqual(self.world.get(first, health)["armour"].tolist(), [1, 2])
        self.assertEqual(self.world.get(second, health)["by"], first)
        q = self.world.query(write=[health])
        q.each(lambda s: s[health]["points"].__iadd__(1))
        self.assertEqual(q.read(health)["points"].tolist(), [8, 1])

    def test_a_wrong_value_is_refused_and_changes_nothing(self):
        e = self.world.create(self.position)
        before = self.world.hash()
        for value in ("x", (1, 2), None, [[1, 2]], object()):
            with self.assertRaises((ValueError, TypeError)):
                self.world.set(e, self.position, value)
        with self.assertRaises(TypeError):
            self.world.set(e, self.frozen, 1)
        with self.assertRaises(TypeError):
            self.world.component("Text", "U4")
        self.assertEqual(self.world.hash(), before)

    def test_resources(self):
        clock = self.world.resource("Clock", [("hours", "f8"), ("days", "u4")])
        self.world.set_resource(clock, {"hours": 3.5, "days": 2})
        self.assertEqual(self.world.get_resource(clock)["hours"], 3.5)
        with self.assertRaises(TypeError):
            self.world.get_resource(self.position)


class Entities(Bed):
    def test_add_remove_destroy_names(self):
        many = self.world.create_many(10, {self.position: 0})
        hero = self.world.create(self.position, name="hero")
        self.world.add(many, self.frozen)
        self.world.remove(many[:3], self.frozen)
        self.assertEqual(len(self.world.query(having=[self.frozen])), 7)
        self.assertEqual(self.world.find("hero"), hero)
        self.assertIsNone(self.world.find("no such name"))
        self.world.destroy(many)
        self.assertEqual(self.world.stats["entities"], 1)
        with self.assertRaises(weft.Error) as caught:
            self.world.add(int(many[0]), self.frozen)
        self.assertEqual(caught.exception.code, "STALE_ENTITY")

    def test_enabled_rows(self):
        shield = self.world.component("Shield", "f4", enableable=True)
        many = self.world.create_many(100, {shield: 1})
        self.world.enable(many[7], shield, False)
        q, seen = self.world.query(write=[shield]), []

        def charge(s):
            rows = slice(None) if s.enabled is None else s.enabled
            s[shield][rows] += 1
            seen.append(len(s))

        q.each(charge)
        self.assertEqual(self.world.get(many[7], shield), 1)
        self.assertEqual(self.world.get(many[8], shield), 2)
        self.assertEqual(len(q), 99)

    def test_handles_of_another_world_are_refused(self):
        other = weft.World(workers=1)
        stranger = other.component("Stranger", "f4")
        for _ in range(9):
            other.tag(f"t{_}")
        with self.assertRaises((ValueError, weft.Error)):
            self.world.create(other.tag("t8"))
        del stranger


class Columns(Bed):
    def setUp(self):
        super().setUp()
        self.made = self.world.create_many(200, {self.position: 0, self.velocity: 1})
        self.both = self.world.query(write=[self.position], read=[self.velocity])

    def test_columns_are_the_memory_of_the_world(self):
        with self.both.slices() as slices:
            for s in slices:
                column = s[self.position]
                self.assertEqual(column.shape, (len(s), 3))
                self.assertFalse(column.flags.owndata)
                column += s[self.velocity]
                self.assertFalse(s[self.velocity].flags.writeable)
                del column
        self.assertEqual(self.both.read(self.position).sum(), 600)
        self.assertEqual(self.world.get(self.made[5], self.position).tolist(), [1, 1, 1])

    def test_a_view_that_outlives_its_loop_is_an_error(self):
        with self.assertRaisesRegex(BufferError, "1 view"):
            with self.both.slices() as slices:
                for s in slices:
                    kept = s[self.position][10:20, 1]
        for call in (lambda: self.world.step(1), lambda: self.world.destroy(self.made), self.world.close,
                     lambda: self.world.restore(None), lambda: self.world.create(self.frozen),
                     lambda: self.world.load(b""), lambda: self.both.write(self.position, 0)):
            with self.assertRaisesRegex(BufferError, "still alive"):
                call()
        kept += 1 # still the memory of the world
        self.assertEqual(self.world.get(self.made[10], self.position)[1], 1)
        del kept
        self.world.step(1)
        self.world.destroy(self.made)

    def test_a_slice_ends_when_the_loop_goes_on(self):
        many = self.world.create_many(200, {self.position: 0, self.velocity: 1}, [self.frozen])
        with self.both.slices() as slices:
            first, second = list(slices)
            with self.assertRaises(BufferError):
                first[self.position]
        with self.assertRaises(BufferError):
            second[self.position]
        del many

    def test_nothing_structural_inside_a_loop(self):
        with self.both.slices() as slices:
            for s in slices:
                with self.assertRaises(weft.Error) as caught:
                    self.world.destroy(s.entities)
        self.assertEqual(caught.exception.code, "WRONG_PHASE")

    def test_the_world_ends_after_its_views(self):
        kept = []
        with self.assertRaises(BufferError):
            self.both.each(lambda s: kept.append(s[self.position]))
        self.world = self.both = None
        gc.collect()
        kept[0][:] = 5
        self.assertEqual(kept[0].sum(), 5 * kept[0].size)
        kept.clear()

    def test_a_failing_function_leaves_no_views(self):
        def fails(s):
            column = s[self.position]
            raise ZeroDivisionError(len(column))

        with self.assertRaises(ZeroDivisionError):
            self.both.each(fails)
        self.world.step(1)


class Systems(Bed):
    def test_python_systems_run_in_order(self):
        self.world.create_many(10, {self.position: 0, self.velocity: (0, 2, 0)})
        self.world.create(values={self.position: 0, self.velocity: (0, 2, 0)}, *[self.frozen][:0])
        order = []

        @self.world.system(write=[self.position], read=[self.velocity], without=[self.frozen])
        def move(s):
            order.append("move")
            s[self.position] += s[self.velocity] * s.dt

        @self.world.system(before=True)
        def first(_):
            order.append("first")

        self.world.step(0.5)
        self.assertEqual(order, ["first", "move"])
        self.assertEqual(self.world.query(read=[self.position]).read(self.position).sum(), 11)
        self.assertEqual(self.world.frame, (1, 0.5, 0.5))

    def test_commands_of_a_system_come_after_it(self):
        made = self.world.create_many(4, {self.position: [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]]})

        @self.world.system(read=[self.position])
        def split(s):
            for e, p in zip(s.entities, s[self.position]):
                if p[0] == 2:
                    s.commands.destroy(e)
                    child = s.commands.create(self.frozen, values={self.position: (7, 7, 7)})
                    s.commands.set(child, self.velocity, (1, 1, 1))

        self.world.step(1)
        self.assertFalse(self.world.is_alive(int(made[2])))
        q = self.world.query(read=[self.position, self.velocity], having=[self.frozen])
        self.assertEqual(q.read(self.position).tolist(), [[7, 7, 7]])

    @unittest.skipIf(LIBRARY is None, "no library")
    def test_systems_in_c_by_name(self):
        self.world.create_many(1000, {self.velocity: 0})
        self.world.system_in_c("fall", LIBRARY, write=[self.velocity])
        self.world.system_in_c("later", LIBRARY, "freeze", commands=True, read=[self.velocity], without=[self.frozen])
        for _ in range(3):
            self.world.step(1)
        q = self.world.query(read=[self.velocity], having=[self.frozen])
        self.assertEqual(len(q), 1000)
        self.assertEqual(q.read(self.velocity)[:, 1].tolist(), [-30] * 1000)
        with self.assertRaises(OSError):
            self.world.system_in_c("other", LIBRARY, "not_there", write=[self.velocity])
        with self.assertRaises(weft.Error):
            self.world.system_in_c("fall", LIBRARY, write=[self.velocity])

    def test_a_step_of_another_thread_is_seen(self):
        @self.world.system
        def inside(_):
            self.assertEqual(self.world.stats["entities"], 0)

        thread = threading.Thread(target=lambda: self.world.step(1))
        thread.start()
        thread.join()
        self.assertIn(self.world.frame[0], (0, 1))


class Time(Bed):
    def test_snapshots(self):
        many = self.world.create_many(500, {self.position: 1})
        before, hash_before = self.world.snapshot(), self.world.hash()
        self.world.query(write=[self.position]).write(self.position, 9)
        self.world.destroy(many[::2])
        after = self.world.snapshot(before)
        hash_after = self.world.hash()
        self.world.restore(before)
        self.assertEqual(self.world.hash(), hash_before)
        self.world.restore(after)
        self.assertEqual(self.world.hash(), hash_after)
        with self.assertRaises(ValueError):
            weft.World(workers=1).restore(before)
        self.world.close()
        with self.assertRaises(ValueError):
            self.world.restore(before)

    def test_files(self):
        self.world.create_many(500, {self.position: np.arange(1500).reshape(500, 3)}, [self.frozen])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "world.weft")
            self.world.save(path)
            for source in (path, self.world.save()):
                other = weft.World(workers=1)
                position = other.component("Position", "3f4")
                other.load(source)
                self.assertEqual(other.hash(), self.world.hash())
                self.assertEqual(other.query(read=[position]).read(position)[499].tolist(), [1497, 1498, 1499])
        with self.assertRaises(weft.Error) as caught:
            weft.World(workers=1).load(b"no world")
        self.assertEqual(caught.exception.code, "CORRUPT")


class StrictValues(Bed):
    """A value is as it was given, or refused by a sentence that names the field."""

    def setUp(self):
        super().setUp()
        self.health = self.world.component("Health", [("points", "i2"), ("speed", "f4"), ("on", "?"), ("by", weft.entity)])
        self.full = {"points": 1, "speed": 2.5, "on": True, "by": 0}
        self.e = self.world.create(values={self.health: self.full})

    def setters(self):
        """Every way in which a value gets into a component, as a function of a dict of fields."""
        w, c, q = self.world, self.health, self.world.query(write=[self.health])
        commands = w.commands()
        resource = w.resource("HealthOfAll", self.health.dtype)

        def column(value):
            q.each(lambda s: s.__setitem__(c, value))

        return {"create": lambda v: w.create(values={c: {**self.full, **v}}),
                "create_many": lambda v: w.create_many(3, {c: {**self.full, **v}}),
                "set": lambda v: w.set(self.e, c, v), "write": lambda v: q.write(c, v), "column": column,
                "commands.set": lambda v: commands.set(self.e, c, {**self.full, **v}),
                "commands.create": lambda v: commands.create(values={c: {**self.full, **v}}),
                "resource": lambda v: w.set_resource(resource, v)}

    def test_wrong_numbers_are_refused_everywhere(self):
        wrong = [({"points": 100000}, OverflowError, "Health.*points: 100000"), ({"points": 1.5}, ValueError, "1.5"),
                 ({"points": float("nan")}, ValueError, "points"), ({"points": float("inf")}, ValueError, "points"),
                 ({"points": np.array(70000.0)}, OverflowError, "70000"), ({"points": "7"}, TypeError, "points"),
                 ({"points": None}, TypeError, "None"), ({"points": 2 ** 70}, OverflowError, "points"),
                 ({"points": 1j}, TypeError, "points"), ({"speed": "x"}, TypeError, "speed"),
                 ({"speed": 1e300}, OverflowError, "speed"), ({"on": 2}, ValueError, "on"),
                 ({"by": 1.0}, TypeError, "by"), ({"by": True}, TypeError, "by"), ({"by": -1}, OverflowError, "by"),
                 ({"by": np.float64(3)}, TypeError, "by"), ({"nothing": 1}, KeyError, "nothing"),
                 ({"points": (1, 2)}, ValueError, "points")]
        for how, setter in self.setters().items():
            before = self.world.hash()
            for value, kind, words in wrong:
                with self.subTest(how=how, value=value), self.assertRaisesRegex(kind, words):
                    setter(value)
            self.assertEqual(self.world.hash(), before, how)

    def test_right_numbers_arrive(self):
        for how, setter in self.setters().items():
            for value in ({"points": 7.0}, {"points": np.int64(-3)}, {"speed": np.float64(0.1)}, {"on": 0},
                          {"by": self.e}, {"points": True}):
                with self.subTest(how=how, value=value):
                    setter(value)
        self.assertEqual(self.world.get(self.e, self.health)["by"], self.e)
        self.assertEqual(self.world.get(self.e, self.health)["points"], 1)

    def test_missing_fields_stay_or_are_named(self):
        self.world.set(self.e, self.health, {"points": 9})
        self.assertEqual(self.world.get(self.e, self.health).tolist(), (9, 2.5, True, 0))
        q = self.world.query(write=[self.health])
        q.write(self.health, {"speed": 4})
        q.each(lambda s: s.__setitem__(self.health, {"on": False}))
        self.assertEqual(self.world.get(self.e, self.health).tolist(), (9, 4.0, False, 0))
        bare = self.world.create()
        for call in (lambda: self.world.create(values={self.health: {"points": 1}}),
                     lambda: self.world.set(bare, self.health, {"points": 1}),
                     lambda: self.world.commands().set(self.e, self.health, {"points": 1})):
            with self.assertRaisesRegex(ValueError, "no value for speed, on, by"):
                call()

    def test_integers_keep_all_their_bits(self):
        wide = self.world.component("Wide", [("a", "u8"), ("b", "i8")])
        e = self.world.create(values={wide: (2 ** 64 - 1, -2 ** 63)})
        self.assertEqual(self.world.get(e, wide).tolist(), (2 ** 64 - 1, -2 ** 63))
        pair = self.world.component("Pair", "2u8")
        self.assertEqual(self.world.get(self.world.create(values={pair: [2 ** 64 - 1, 1]}), pair).tolist(),
                         [2 ** 64 - 1, 1])
        with self.assertRaises(OverflowError):
            self.world.set(e, wide, (2 ** 64, 0))
        with self.assertRaises(OverflowError):
            self.world.set(e, wide, (0, 2 ** 63))

    def test_padding_is_zero_in_every_path(self):
        dtype = np.dtype([("a", "i1"), ("b", "f8")], align=True)
        dirty = np.frombuffer(b"\xab" * dtype.itemsize * 5, dtype).copy()
        dirty["a"], dirty["b"] = 1, 2.0
        hashes = set()
        for values in ((1, 2.0), {"a": 1, "b": 2.0}, dirty, [(1, 2.0)] * 5):
            for how in ("create", "set", "write", "column", "commands"):
                world = weft.World(workers=1)
                c = world.component("C", dtype)
                one = dirty[0] if values is dirty else (1, 2.0) if isinstance(values, list) else values
                made = world.create_many(5, {c: values} if how == "create" else {c: (0, 0.0)})
                q, commands = world.query(write=[c]), world.commands()
                if how == "set":
                    [world.set(e, c, one) for e in made]
                elif how == "write":
                    q.write(c, values)
                elif how == "column":
                    q.each(lambda s: s.__setitem__(c, values))
                elif how == "commands":
                    [commands.set(e, c, one) for e in made]
                    commands.play()
                hashes.add((world.hash(True), world.save()))
        self.assertEqual(len({h for h, _ in hashes}), 1)

    def test_shapes_and_names(self):
        self.assertIs(self.world.component("Position", "3f4"), self.position)
        for dtype in ("3i4", "4f4", "(3,1)f4", [("value", "3f4")]):
            with self.assertRaisesRegex(weft.AlreadyExistsError, "Position is known"):
                self.world.component("Position", dtype)
        for dtype in (None, [], "", "V0", "S0", "O", ">f4", "U3", [("a", "O")], [("a", None)], [("a", [("b", None)])]):
            with self.subTest(dtype=dtype), self.assertRaises((TypeError, ValueError)):
                self.world.component("Empty", dtype)

    def test_enums_texts_units(self):
        class State(enum.IntEnum):
            IDLE = 0
            WORK = 5

        job = self.world.component("Job", [("state", State), ("title", "S8"), ("pay", "f4")], units={"pay": "kg"},
                                   texts={"pay": "In gold"}, ranges={"pay": (0, 10)})
        e = self.world.create(values={job: {"state": State.WORK, "title": "smith", "pay": 3}})
        self.assertEqual(self.world.get(e, job).tolist(), (5, b"smith", 3.0))
        with self.assertRaisesRegex(ValueError, "3 is no State: IDLE = 0, WORK = 5"):
            self.world.set(e, job, {"state": 3})
        with self.assertRaisesRegex(OverflowError, "9 bytes, 8 fit"):
            self.world.set(e, job, {"title": "carpenter"})
        for many in (["a", 1.5, ""], ["a", 1], [1, 2], ["a", None]):
            with self.assertRaisesRegex(TypeError, "Job.title: a text is needed"):
                self.world.create_many(len(many), {job: {"state": 0, "title": many, "pay": 1}})
        with self.assertRaisesRegex(KeyError, "wage"):
            self.world.component("Job2", [("pay", "f4")], units={"wage": "kg"})
        self.assertIs(self.world.component("Job", [("state", State), ("title", "S8"), ("pay", "f4")],
                                           units={"pay": "kg"}, texts={"pay": "In gold"}, ranges={"pay": (0, 10)}), job)

    def test_components_of_another_world_are_refused_everywhere(self):
        other = weft.World(workers=1)
        foreign, e, q = other.component("Position", "3f4"), self.world.create(self.position), self.world.query(
            write=[self.position])
        tag, resource = other.tag("Frozen"), other.resource("Clock", "f4")
        commands, w = self.world.commands(), self.world
        calls = [lambda: w.create(foreign), lambda: w.create(values={foreign: 0}), lambda: w.create_many(2, {foreign: 0}),
                 lambda: w.set(e, foreign, 0), lambda: w.get(e, foreign), lambda: w.has(e, foreign),
                 lambda: w.add(e, tag), lambda: w.remove(e, tag), lambda: w.enable(e, foreign), lambda: q.read(foreign),
                 lambda: w.is_enabled(e, foreign), lambda: q.write(foreign, 0), lambda: q.each(lambda s: s[foreign]),
                 lambda: q.changed(foreign, 0), lambda: w.append(e, foreign, [0]), lambda: w.get_resource(resource),
                 lambda: w.set_resource(resource, 1), lambda: commands.create(foreign), lambda: commands.add(e, tag),
                 lambda: commands.remove(e, tag), lambda: commands.set(e, foreign, 0), lambda: commands.enable(e, foreign),
                 lambda: w.system(print, read=[foreign])]
        calls += [lambda word=word: w.query(**{word: [foreign]})
                  for word in ("write", "read", "optional", "having", "without", "any", "disabled")]
        for call in calls:
            with self.assertRaisesRegex(ValueError, "another world"):
                call()


class Kinds(Bed):
    """Every kind of component in every call: it works, or is refused by a sentence."""

    KINDS = {"plain": {}, "enableable": {"enableable": True}, "cleanup": {"cleanup": True}, "sparse": {"kind": "sparse"},
             "shared": {"kind": "shared"}, "buffer": {"kind": "buffer"}, "chunk": {"kind": "chunk"}}

    def test_kinds_and_calls(self):
        for kind, words in self.KINDS.items():
            with self.subTest(kind=kind):
                w = weft.World(workers=1)
                c, other = w.component("C", [("a", "i4"), ("b", "f4")], **words), w.component("Other", "f4")
                value, many = (3, 0.5), [(1, 0.5), (2, 1.5), (3, 2.5)]
                given = many if kind == "buffer" else value
                wanted = [many] if kind == "buffer" else [value]
                plain = w.create(c, other)
                w.query(read=[c, other]).each(lambda s: self.assertEqual(len(s), 1))
                self.assertTrue(w.has(plain, c))
                if kind == "chunk":
                    for call in (lambda: w.get(plain, c), lambda: w.set(plain, c, value), lambda: w.create(values={c: value}),
                                 lambda: w.commands().set(plain, c, value)):
                        with self.assertRaisesRegex(weft.TypeMismatchError, "slice"):
                            call()
                else:
                    e, commands = w.create(other, values={c: given}), w.commands()
                    f = commands.create(other, values={c: given}, name="f")
                    commands.set(plain, c, given)
                    commands.play()
                    f = w.find("f")
                    w.set(w.create(other, name="g"), c, given)
                    for one in (e, f, plain, w.find("g")):
                        got = w.get(one, c)
                        self.assertEqual(([got.tolist()]), [many] if kind == "buffer" else [value])
                    self.assertEqual(len(w.query(read=[c])), 4)
                if kind == "buffer":
                    w.append(e, c, [(9, 9.0)])
                    commands.append(e, c, [(8, 8.0)])
                    commands.play()
                    self.assertEqual(w.get(e, c).tolist(), many + [(9, 9.0), (8, 8.0)])
                else:
                    with self.assertRaises((weft.TypeMismatchError, TypeError)):
                        w.append(plain, c, [value])
                self.columns(w, c, kind, other)
                w.remove(plain, c)
                self.assertFalse(w.has(plain, c))
                w.add(plain, c)
                if kind == "enableable":
                    w.enable(plain, c, False)
                    self.assertEqual(w.query(disabled=[c]).entities.tolist(), [plain])
                    self.assertFalse(w.is_enabled(plain, c))
                    commands.enable(plain, c)
                    commands.play()
                    self.assertTrue(w.is_enabled(plain, c))
                if kind == "cleanup":
                    w.destroy(plain)
                    self.assertFalse(w.is_alive(plain))
                    self.assertEqual(w.get(plain, c).tolist(), (0, 0.0))
                    w.remove(plain, c)
                    with self.assertRaises(weft.StaleEntityError):
                        w.get(plain, c)
                w._native.validate()

    def columns(self, w, c, kind, other):
        """Reads and writes it in slices."""
        def write(s):
            if kind == "buffer":
                s[c] = [list(row) + [(7, 7.0)] for row in s[c]]
            elif kind == "chunk":
                s[c] = {"a": 4}
            else:
                s[c] = {"a": np.arange(len(s))}

        def read(s):
            got = s[c]
            if kind == "buffer":
                self.assertTrue(all(row[-1].tolist() == (7, 7.0) for row in got))
            elif kind == "shared":
                self.assertIn(got.tolist(), [(3, 0.5), (0, 0.0)])
            elif kind == "chunk":
                self.assertEqual(got["a"], 4)
            else:
                self.assertEqual(got["a"].tolist(), list(range(len(s))))
        if kind == "shared":
            with self.assertRaises(weft.Error):
                w.query(write=[c])
        else:
            w.query(write=[c], read=[other]).each(write)
        w.query(read=[c, other]).each(read)
        with self.assertRaises((ValueError, TypeError)):
            w.query(read=[c]).each(write)

    def test_tags_and_resources_are_no_columns(self):
        e, clock = self.world.create(self.frozen), self.world.resource("Clock", "f4")
        for call in (lambda: self.world.get(e, clock), lambda: self.world.set(e, clock, 1),
                     lambda: self.world.set(e, self.frozen, 1), lambda: self.world.create(values={clock: 1}),
                     lambda: self.world.query(read=[self.frozen]), lambda: self.world.get_resource(self.position)):
            with self.assertRaises(TypeError):
                call()
        self.assertIsNone(self.world.get(e, self.position))


class EntityObjects(Bed):
    def test_they_print_as_they_are_written(self):
        e = self.world.create(self.position, name="hero")
        self.assertIsInstance(e, weft.Entity)
        self.assertEqual((str(e), repr(e), f"{e}"), ("0:1",) * 3)
        self.assertEqual({e: 1}[self.world.find("hero")], 1)
        self.assertEqual((e.index, e.version), (0, 1))
        self.assertEqual(weft.Entity(self.world.query(read=[self.position]).entities[0]), e)
        self.assertEqual(np.array([e], weft.entity).dtype, np.uint64)
        self.assertIn("0:1", str(self.world.create(values={self.position: 0})).replace("1:1", "0:1"))

    def test_floats_and_bools_are_no_entities(self):
        self.world.create(self.position)
        for call in (self.world.is_alive, self.world.destroy, self.world.name, lambda e: self.world.add(e, self.frozen),
                     lambda e: self.world.get(e, self.position), self.world.commands().destroy):
            for wrong in (1.0, True, "0:1", None, np.float64(4294967296.0), np.array([1.0]), [1.5]):
                with self.subTest(wrong=wrong), self.assertRaises((TypeError, ValueError)):
                    call(wrong)


class Frames(Bed):
    """Systems by time and order, contexts, and what a failing system leaves."""

    def log(self, name, **terms):
        self.world.system(lambda s: self.order.append((name, round(s.dt, 3))), name=name, **terms)

    def setUp(self):
        super().setUp()
        self.order = []

    def names(self):
        names, self.order = [name for name, _ in self.order], []
        return names

    def test_a_context_has_time_random_numbers_and_resources(self):
        clock = self.world.resource("Clock", "f8")
        self.world.create_many(10, {self.position: 0})
        seen = []

        @self.world.system
        def tick(s):
            s.world.set_resource(clock, s.world.get_resource(clock) + s.dt)
            seen.append((s.frame, s.time, s.random(5).u32(), s.random(5, stream=1).float()))
            s.commands.create(self.frozen)

        @self.world.system(write=[self.position])
        def count(s):
            column = s[self.position]
            s.world.set_resource(clock, s.world.get_resource(clock) + len(column))  # beside a view
            column[:, 0] = s.random(7)
            column[:, 1] = s.frame

        self.world.step(0.5)
        self.world.step(0.5)
        self.assertEqual(self.world.get_resource(clock), 21)
        self.assertEqual([row[:2] for row in seen], [(1, 0.5), (2, 1.0)])
        self.assertEqual(seen[1][2], weft.Random(5, 0, 2).u32())
        self.assertEqual(seen[1][3], weft.Random(5, 0, 2, 1).float())
        values = self.world.query(read=[self.position]).read(self.position)
        self.assertEqual(values[3, 0], np.float32(weft.Random(7, 3, 2).float()))
        self.assertEqual(len(self.world.query(having=[self.frozen])), 2)

    def test_random_numbers_are_those_of_c(self):
        r = weft.Random(1, 2, 3, 4)
        first = r.u32(9)
        again = weft.Random(1, 2, 3, 4)
        self.assertEqual(first.tolist(), [again.u32() for _ in range(9)])
        self.assertEqual(first[:4].tolist(), philox(1, 2, 3, 4 << 16))
        self.assertEqual(first[4:8].tolist(), philox(1, 2, 3, 4 << 16 | 1))

    def test_numbers_out_of_range_are_refused(self):
        for call in (lambda: weft.Random(-1), lambda: weft.Random(1, 2 ** 64), lambda: weft.Random(1, stream=2 ** 16),
                     lambda: weft.Random(1).u32(-1), lambda: weft.Random(1).float(2 ** 32),
                     lambda: self.world.query(read=[self.position]).changed(self.position, -1)):
            with self.assertRaises((OverflowError, ValueError)):
                call()

    def test_orders_groups_rates_timers_conditions(self):
        self.log("a", after="b")
        self.log("b")
        self.log("c", before=["b"])
        self.log("late", group="end")
        self.log("slow", period=0.5)
        self.world.group("end", after="slow")
        self.world.step(0.25)
        self.assertEqual(self.names(), ["c", "b", "a"] + ["late"])
        self.world.step(0.25)
        self.assertEqual(self.names(), ["c", "b", "a", "slow", "late"])
        self.world.step(1.0)
        self.assertEqual(self.order.count(("slow", 0.5)), 2)
        self.names()
        for name in ("a", "b", "c", "slow", "late"):
            self.world.remove_system(name)
        self.log("timed", timer=True)
        self.log("asked", run_if=lambda world: world.frame[0] % 2 == 0)
        self.world.set_timer("timed", 1.0)
        for _ in range(3):
            self.world.step(0.5)
        self.assertEqual(sorted(self.names()), ["asked", "asked", "timed"])
        self.world.enable_system("asked", False)
        self.world.step(1)
        self.assertEqual(self.names(), [])
        self.log("x", before="y")
        self.log("y", before="x")
        with self.assertRaisesRegex(weft.CycleError, "x, y"):
            self.world.step(1)

    def test_only_what_changed(self):
        a, b = self.world.create_many(2000, {self.position: 0}), self.world.create(self.frozen, self.position)
        seen = []

        @self.world.system(read=[self.position], skips_unchanged=True)
        def look(s):
            seen.append(len(s))

        self.world.step(1)
        self.assertEqual(sum(seen), 2001)
        seen.clear()
        self.world.step(1)
        self.assertEqual(seen, [])
        self.world.set(b, self.position, 1)
        self.world.step(1)
        self.assertEqual(seen, [1])
        del a

    def test_a_failing_system_has_one_rule(self):
        made = self.world.create_many(4, {self.position: 0})

        @self.world.system(read=[self.position])
        def first(s):
            s.commands.create(self.frozen, name="first")

        @self.world.system(read=[self.position])
        def fails(s):
            column = s[self.position]
            s.commands.destroy(s.entities[0])
            try:
                raise KeyError("cause")
            except KeyError as cause:
                inner = column[1:]
                raise ZeroDivisionError(len(inner)) from cause

        self.log("last")
        kept = []
        for _ in range(3):
            try:
                self.world.step(1)
            except ZeroDivisionError as error:
                kept.append(error)  # with traceback and cause
        self.assertEqual(len(kept), 3)
        self.assertEqual(self.order, [])
        self.assertTrue(all(self.world.is_alive(e) for e in made))
        self.assertIsNotNone(self.world.find("first"))
        self.world._native.validate()
        self.world.remove_system("fails")
        self.world.step(1)
        self.assertEqual(len(self.order), 1)

    def test_wrong_steps_are_refused_before_anything_ran(self):
        self.log("a", before=True)
        for wrong, kind in ((float("nan"), ValueError), (-1, ValueError), (float("inf"), ValueError), ("x", TypeError),
                            (True, TypeError), (1e300, ValueError), (None, TypeError)):
            with self.assertRaises(kind):
                self.world.step(wrong)
        self.assertEqual(self.order, [])
        self.world.system(lambda s: s.world.step(1), name="nested")
        with self.assertRaises(weft.WrongPhaseError):
            self.world.step(1)

    def test_what_is_no_system_is_refused(self):
        async def later(s):
            pass

        def generator(s):
            yield s

        for wrong in (later, generator, 5):
            with self.assertRaises(TypeError):
                self.world.system(wrong)
        self.log("a")
        with self.assertRaises(weft.AlreadyExistsError):
            self.log("a")
        with self.assertRaises(weft.NotFoundError):
            self.world.set_timer("b", 1)


class Many(Bed):
    """What takes arrays: commands, look-ups, systems over all rows."""

    def test_commands_take_arrays(self):
        old = self.world.create_many(4, {self.position: 1})
        team = self.world.component("Team", "u4", kind="shared")
        c = self.world.commands()
        made = c.create_many(3, {self.position: np.arange(9).reshape(3, 3)}, [self.velocity])
        copies = c.instantiate(old[0], 2)
        c.set(copies, self.velocity, (7, 0, 0))
        c.set(old, team, [1, 2, 2, 1])
        c.set(old[1:], self.position, np.arange(9).reshape(3, 3))
        c.add(old[:2], self.frozen)
        c.remove(old[2:], self.position)
        c.destroy(old[:1])
        self.assertEqual((len(made), len(copies)), (3, 2))
        c.play()
        self.assertFalse(self.world.is_alive(old[0]))
        self.assertEqual(self.world.get(old[1], self.position).tolist(), [0, 1, 2])
        self.assertTrue(self.world.has(old[1], self.frozen))
        self.assertEqual([self.world.get(e, team) for e in old[1:]], [2, 2, 1])
        self.assertIsNone(self.world.get(old[2], self.position))
        moving = self.world.query(read=[self.position, self.velocity])
        self.assertEqual(sorted(moving.read(self.velocity)[:, 0]), [0, 0, 0, 7, 7])
        for wrong in (lambda: c.set(old, self.position, np.zeros((3, 3))), lambda: c.destroy([1.5]), lambda: c.create_many(-1),
                      lambda: c.create_many(True), lambda: c.instantiate(old[1], "x"), lambda: c.add([None], self.frozen),
                      lambda: c.set([], self.frozen, 1)):
            self.assertRaises((TypeError, ValueError), wrong)

    @unittest.skipIf("LD_PRELOAD" in os.environ, "AddressSanitizer needs its addresses")
    def test_what_is_too_much_is_one_error(self):
        one, said = self.world.create(), []
        before, sys.excepthook = sys.excepthook, lambda *error: said.append(error)  # of what C prints
        try:
            for count in (-1, 2 ** 31, 2 ** 33, 1.5, True):
                for call in (self.world.instantiate, self.world.commands().instantiate,
                             lambda _, count: self.world.create_many(count), lambda _, count: self.world.commands().create_many(count)):
                    self.assertRaises((TypeError, ValueError, OverflowError), call, one, count)
            limit = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (2 ** 33, limit[1]))
            try:
                for call in (self.world.instantiate, self.world.commands().instantiate):
                    self.assertRaises((MemoryError, weft.Error), call, one, 2 ** 31 - 1)
            finally:
                resource.setrlimit(resource.RLIMIT_AS, limit)
        finally:
            sys.excepthook = before
        self.assertEqual(said, [])

    def test_look_up_says_what_is_there(self):
        made = self.world.create_many(3, {self.position: np.arange(9).reshape(3, 3)})
        bare = self.world.create()
        self.world.destroy(made[1])
        values, found = self.world.look_up([*made.tolist(), bare, 0, 2 ** 64 - 1], self.position)
        self.assertEqual(found.tolist(), [True, False, True, False, False, False])
        self.assertEqual(values.tolist(), [[0, 1, 2], [0, 0, 0], [6, 7, 8], [0, 0, 0], [0, 0, 0], [0, 0, 0]])
        self.assertRaises(TypeError, self.world.look_up, [1.5], self.position)
        self.assertRaises(TypeError, self.world.look_up, made, self.frozen)

    def test_a_system_over_all_rows(self):
        team = self.world.component("Team", "u4", kind="shared")
        for i in range(3):
            self.world.create_many(2, {self.position: i, self.velocity: 1, team: i})
        seen = []

        def move(s):
            seen.append((len(s), len(s.entities), s[team].tolist(), [(p.start, p.stop) for p in s.parts], s.enabled.all()))
            s[self.position] += s[self.velocity] * s.dt
            s[self.velocity] = 5
            s.commands.set(s.entities[:1], team, 9)

        self.world.system(move, write=[self.position, self.velocity], read=[team], whole=True)
        self.world.step(0.5)
        self.assertEqual(seen, [(6, 6, [0, 0, 1, 1, 2, 2], [(0, 2), (2, 4), (4, 6)], True)])
        q = self.world.query(read=[self.position, self.velocity])
        self.assertEqual(sorted(q.read(self.position)[:, 0]), [0.5, 0.5, 1.5, 1.5, 2.5, 2.5])
        self.assertTrue((q.read(self.velocity) == 5).all())
        self.assertRaises(weft.InvalidArgumentError, self.world.system, move, name="x", whole=True)
        self.assertRaises(weft.InvalidArgumentError, self.world.system, move, name="x", read=[team], whole=True,
                          skips_unchanged=True)

    def test_a_system_over_all_rows_that_fails_changes_nothing(self):
        self.world.create_many(3, {self.position: 1})
        before = self.world.hash()

        def wrong(s):
            s[self.position] = 2
            s[self.velocity]

        self.world.system(wrong, write=[self.position], whole=True)
        self.assertRaises(KeyError, self.world.step, 1)
        self.assertEqual(self.world.hash(), before)
        self.world.remove_system("wrong")
        self.world.system(lambda s: s.__setitem__(self.position, 2), name="reads", read=[self.position], whole=True)
        self.assertRaises(ValueError, self.world.step, 1)

    def test_the_type_of_an_entity_is_that_of_c(self):
        home = self.world.relation("Home", np.dtype([("house", weft.entity)], align=True))
        house, person = self.world.create(), self.world.create()
        self.world.relate(person, home, house)
        self.world.settle()
        self.assertEqual(self.world.get(person, home)["house"], house)
        self.assertEqual(self.world.sources(home, house).tolist(), [person])


class Errors(Bed):
    def test_a_class_for_each_code(self):
        for name, builtin in (("StaleEntityError", LookupError), ("InvalidArgumentError", ValueError),
                              ("NotFoundError", KeyError), ("OutOfMemoryError", MemoryError), ("IoError", OSError),
                              ("TypeMismatchError", TypeError), ("UnsupportedError", NotImplementedError)):
            kind = getattr(weft, name)
            self.assertTrue(issubclass(kind, weft.Error) and issubclass(kind, builtin), name)
            self.assertEqual(str(kind("a sentence")), "a sentence")

    def test_an_error_says_what_it_is_about(self):
        e = self.world.create(self.position)
        self.world.destroy(e)
        with self.assertRaises(weft.StaleEntityError) as caught:
            self.world.set(e, self.position, 0)
        error = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((error.code, error.entity), ("STALE_ENTITY", e))
        self.assertNotIn("weft_", str(error))
        with self.assertRaises(weft.IoError) as caught:
            self.world.save("/no/such/folder/file")
        self.assertNotIn("weft_", str(caught.exception))

    def test_a_component_twice_in_a_query(self):
        for words in ({"write": [self.position], "read": [self.position]}, {"read": [self.position] * 2},
                      {"having": [self.frozen], "without": [self.frozen]}):
            with self.assertRaisesRegex(ValueError, "name it once"):
                self.world.query(**words)


def philox(seed, id, tick, last):
    """Philox4x32-10, from the paper."""
    a, b, c, d = id & 0xFFFFFFFF, id >> 32, tick, last
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        left, right = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = right >> 32 ^ b ^ k0, right & 0xFFFFFFFF, left >> 32 ^ d ^ k1, left & 0xFFFFFFFF
        k0, k1 = k0 + 0x9E3779B9 & 0xFFFFFFFF, k1 + 0xBB67AE85 & 0xFFFFFFFF
    return [a, b, c, d]


if __name__ == "__main__":
    unittest.main()
