# SPDX-License-Identifier: MIT
"""test_python.py LIBRARY [unittest options]: the package weft. LIBRARY: fall.c as a shared library."""
import gc
import os
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
        first = self.world.create(values={health: {"points": 7, "armour": (1, 2)}})
        second = self.world.create(values={health: {"by": first}})
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
            self.world.component("Text", "S4")
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
        self.assertEqual(caught.exception.args[0], "STALE_ENTITY")

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
        self.assertEqual(caught.exception.args[0], "WRONG_PHASE")

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
        self.assertEqual(caught.exception.args[0], "CORRUPT")


if __name__ == "__main__":
    unittest.main()
