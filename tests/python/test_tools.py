# SPDX-License-Identifier: MIT
"""test_tools.py: figures, lists, texts, live links and the inspector of the package weft."""
import gc
import json
import os
import re
import tempfile
import unittest
import urllib.request

import weft


class Bed(unittest.TestCase):
    def setUp(self):
        self.world = weft.World(workers=1)
        self.speed = self.world.component("Speed", [("x", "f4")])
        self.clock = self.world.resource("Clock", "f4")

    def tearDown(self):
        gc.collect()
        self.world.close()
        self.assertRaisesRegex(ValueError, "closed", lambda: self.world.stats)


class Figures(Bed):
    def test_lists_and_counts(self):
        made = self.world.create_many(5, {self.speed: 1})
        stats = self.world.stats
        self.assertEqual((stats["entities"], stats["components"], stats["bytes"]), (5, stats["component_types"], stats["bytes_total"]))
        self.assertEqual(([c.name for c in self.world.components], [c.name for c in self.world.resources]), (["Speed"], ["Clock"]))
        of_speed = [a for a in self.world.archetypes if a["components"] == ["Speed"]]
        self.assertEqual([(a["entities"], a["row_bytes"]) for a in of_speed], [(5, 12)])
        self.world.destroy(made[1:4])
        self.assertEqual((self.world.compact(), self.world.compact(0)), (0, 0))
        self.world.set_name(made[0], "Alpha")
        self.assertEqual(self.world.search("ALPH").tolist(), [made[0]])
        self.assertEqual(self.world.search("q").size, 0)
        self.assertRaises(weft.AlreadyExistsError, self.world.set_name, made[4], "Alpha", unique=True)

    def test_references_to_the_dead_are_cleared(self):
        by = self.world.component("By", weft.entity)
        target = self.world.create()
        source = self.world.create(values={by: target})
        self.world.destroy(target)
        self.assertEqual((self.world.clear_references(), self.world.get(source, by), self.world.clear_references()), (1, 0, 0))

    def test_systems_of_both_languages(self):
        self.world.create_many(5, {self.speed: 1})

        @self.world.system(write=[self.speed])
        def move(s):
            pass

        weft.c("for (uint32_t i = 0; i < count; i++) speed[i].x += dt;", write=[self.speed], name="in c")
        weft.c("for (uint32_t i = 0; i < count; i++) speed[i].x *= dt;", write=[self.speed], name="in c, too")
        self.world.measure()
        self.world.step(1)
        python, c = (next(s for s in self.world.systems if s["name"] == name) for name in ("move", "in c"))
        self.assertEqual([(s["language"], s["runs"], s["writes"], s["is_enabled"]) for s in (python, c)],
                         [("Python", 1, ["Speed"], True), ("C", 1, ["Speed"], True)])
        self.assertEqual((self.world.frame_stats["systems"], self.world.frame_stats["frames"]), (2, 1))
        self.assertIn("in c, too", self.world.schedule("order", "in c", "in c, too"))
        for what in ("ambiguities", "sync points", "chain"):
            self.assertIsInstance(self.world.schedule(what), str)
        self.assertEqual(len(json.loads(self.world.schedule("json"))["systems"]), 2)
        self.world.enable_system("in c", False)
        self.world.step(1)
        self.assertEqual(next(s for s in self.world.systems if s["name"] == "in c")["runs"], 1)
        self.world.remove_system("in c")
        self.assertEqual(sorted(s["name"] for s in self.world.systems), ["in c, too", "move"])
        for call in (lambda: self.world.remove_system("in c"), lambda: self.world.enable_system("x"), lambda: self.world.schedule("x"),
                     lambda: self.world.schedule("order", "a"), lambda: self.world.schedule("order", "a", "b"), lambda: self.world.schedule("chain", "a")):
            self.assertRaises((weft.NotFoundError, ValueError), call)

    def test_alpha_is_the_time_between_two_ticks(self):
        self.world.system(lambda c: None, name="a", period=1.0)
        self.world.system(lambda c: None, name="b", group="g")
        self.world.group("g", period=0.5)
        self.world.step(0.25)
        self.assertEqual([self.world.alpha(name) for name in ("a", "b", "g")], [0.25, 0.5, 0.5])
        self.assertRaises(weft.NotFoundError, self.world.alpha, "none")

    def test_relations_have_figures(self):
        self.world.relate(self.world.create_many(3), self.world.parent, self.world.create())
        self.world.settle()
        self.assertEqual(self.world.relation_stats(self.world.parent)["sources"], 3)
        self.assertRaises((weft.Error, TypeError), self.world.relation_stats, self.speed)


class LiveLinks(Bed):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "ships.weft")
        self.write({"ship": {"Speed": {"x": 2.5}}})
        self.live = self.world.live(self.path, thread=False)

    def tearDown(self):
        self.live = None
        super().tearDown()
        self.folder.cleanup()

    def write(self, objects):
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump({"weft": 1, "objects": objects}, file)

    def applied(self):
        self.live.refresh()
        return self.live.apply()

    def test_the_world_follows_a_file(self):
        ship = self.live.entity("ship")
        self.assertEqual((self.world.get(ship, self.speed)["x"], self.live.path(ship), self.live.entity("boat")), (2.5, "ship", None))
        self.write({"ship": {"Speed": {"x": 3.5}}, "boat": {"Speed": {"x": 1}}})
        report = self.applied()
        self.assertEqual((report["added"], report["pending"], report["errors"]), (1, 0, 0))
        self.assertEqual(self.world.get(ship, self.speed)["x"], 3.5)
        self.assertIn("ships.weft", self.live.explain("boat"))
        self.assertEqual(self.live.explain("none"), "")

    def test_edits_go_into_the_file_and_back(self):
        ship = self.live.entity("ship")
        self.live.edit("ship", "Speed.x", self.world.get(ship, self.speed)["x"] * 2)
        self.applied()
        self.assertEqual(self.world.get(ship, self.speed)["x"], 5)
        with open(self.path, encoding="utf-8") as file:
            self.assertIn("5.0", file.read())
        self.live.undo()
        self.applied()
        self.assertEqual(self.world.get(ship, self.speed)["x"], 2.5)
        for call in (self.live.undo, lambda: self.live.edit("none", "Speed.x", 1), lambda: self.live.edit("ship", "Speed.x", "text"),
                     lambda: self.live.edit("ship", "Speed.x", float("nan")), lambda: self.live.edit("ship", "Speed.x", object()),
                     lambda: self.live.apply(-1), lambda: self.live.apply("x")):
            self.assertRaises((weft.Error, ValueError, TypeError), call)

    def test_mistakes_and_conflicts_are_sentences(self):
        ship = self.live.entity("ship")
        self.world.set(ship, self.speed, 9)
        self.write({"ship": {"Speed": {"x": 4}}})
        self.assertEqual(self.applied()["conflicts"], 1)
        self.assertEqual(self.world.get(ship, self.speed)["x"], 9)
        self.assertIn("Speed", self.live.conflicts[0])
        self.write({"ship": {"Sped": {"x": 4}}})
        self.assertEqual(self.applied()["errors"], 1)
        self.assertIn("Sped", self.live.mistakes[0])

    def test_a_link_that_is_dropped_inside_a_loop_ends_after_it(self):
        with self.world.query(read=[self.speed]).slices() as slices:
            self.live = None
            gc.collect()
            self.assertEqual(len(list(slices)), 1)
        self.live = self.world.live(self.path)
        with self.world.query().slices():
            scene = self.world.scene  # not in a loop
            self.assertRaises((weft.Error, BufferError), scene, self.path)

    def test_everything_ends_with_the_world(self):
        live, scene = self.world.live(self.path), self.world.scene(self.path)
        with self.world.query().slices():
            self.assertRaises(BufferError, self.world.close)
        self.world.close()
        for call in (live.apply, lambda: live.entity("ship"), lambda: live.mistakes, scene.fill, lambda: scene.entity("ship")):
            self.assertRaisesRegex(ValueError, "closed", call)


class Inspector(Bed):
    def test_inspect_gives_an_address_or_a_sentence(self):
        try:
            url = self.world.inspect()
        except weft.UnsupportedError as error:
            self.assertIn("weft dump", str(error))
            return
        self.assertRegex(url, r"^http://127\.0\.0\.1:\d+/#[0-9a-f]{32}$")
        self.assertEqual(self.world.inspect(), url)
        with urllib.request.urlopen(url.partition("#")[0], timeout=30) as page:
            self.assertTrue(re.search(rb"<html|<!doctype", page.read(), re.IGNORECASE))
        self.world.step(1)
        for wrong in (-1, 65536, "x", True, 1.5):
            self.assertRaises(ValueError, self.world.inspect, wrong)


if __name__ == "__main__":
    unittest.main()
