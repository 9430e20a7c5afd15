# SPDX-License-Identifier: MIT
"""test_relations.py: relations, prefabs, observers and scenes of the package weft."""
import os
import tempfile
import unittest

import weft


class RelationsTest(unittest.TestCase):
    def setUp(self):
        self.world = weft.World(workers=1)
        self.speed = self.world.component("Speed", [("value", "f4")])

    def tearDown(self):
        self.world.close()

    def test_children_depth_and_death_of_a_parent(self):
        ship, dock, door = (self.world.create(self.speed) for _ in range(3))
        self.world.relate(dock, self.world.parent, ship)
        self.world.relate([door], self.world.parent, dock)
        self.world.settle()
        self.assertEqual(self.world.children(ship).tolist(), [dock])
        self.assertEqual((self.world.target(door, self.world.parent), self.world.target(ship, self.world.parent)), (dock, None))
        self.assertEqual([self.world.depth(e) for e in (ship, dock, door)], [0, 1, 2])
        with self.assertRaises(weft.CycleError):
            self.world.relate(ship, self.world.parent, door)
        self.world.destroy(ship)
        self.world.step(0)
        self.assertFalse(self.world.is_alive(door))

    def test_a_relation_of_ones_own_is_cleared(self):
        likes = self.world.relation("Likes")
        target = self.world.create()
        sources = self.world.create_many(5, components=[self.speed])
        self.world.relate(sources, likes, target)
        self.world.settle()
        self.assertEqual(self.world.sources(likes, target).tolist(), sources.tolist())
        self.world.destroy(target)
        self.world.settle()
        self.assertIsNone(self.world.target(sources[0], likes))
        self.assertRaises(ValueError, self.world.relation, "Other", on_target_death="explode")

    def test_prefabs_are_copied_with_their_members(self):
        root = self.world.create(values={self.speed: {"value": 7}})
        part = self.world.create()
        self.world.relate(part, self.world.parent, root)
        self.world.instance_of
        self.world.prefab(root, root_part := part)
        self.assertTrue(self.world.has(root_part, self.world.prefab_tag))
        copies = self.world.instantiate(root, 3)
        self.world.settle()
        self.assertEqual([len(self.world.children(copy)) for copy in copies], [1, 1, 1])
        self.assertEqual(self.world.target(copies[0], self.world.instance_of), root)
        commands = self.world.commands()
        commands.instantiate(root)
        commands.play()
        self.assertEqual(len(self.world.query(read=[self.speed])), 4)

    def test_observers_get_copies_after_the_step(self):
        seen = []

        @self.world.observe("removed", self.speed)
        def gone(o):
            seen.append(("removed", o.entities.tolist(), o.values["value"].tolist()))

        self.world.observe("created", None, lambda o: seen.append(("created", len(o))))
        made = self.world.create_many(2, {self.speed: {"value": 3}})
        self.world.step(0)
        self.world.remove(made, self.speed)
        self.world.run_observers()
        self.assertEqual(seen, [("created", 2), ("removed", made.tolist(), [3.0, 3.0])])
        self.world.step(0)
        self.assertEqual(len(seen), 2)
        self.assertRaises(ValueError, self.world.observe, "eaten", self.speed)

    def test_scenes_fill_and_say_what_is_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ships.weft")
            with open(path, "w", encoding="utf-8") as file:
                file.write('{"weft": 1, "objects": {"ship": {"Speed": {"value": 2.5}}}}')
            scene = self.world.scene(path)
            scene.fill()
            ship = scene.entity("ship")
            self.assertEqual(self.world.get(ship, self.speed)["value"], 2.5)
            self.assertIsNone(scene.entity("boat"))
            self.assertFalse(scene.is_stale)
            with open(path, "w", encoding="utf-8") as file:
                file.write('{"weft": 1, "objects": {"ship": {"Sped": {"value": 2.5}}}}')
            with self.assertRaisesRegex(weft.InvalidArgumentError, "Sped"):
                scene.bake()
            del scene

    def test_one_observer_that_fails_does_not_silence_the_others(self):
        seen = []
        self.world.observe("created", None, lambda o: 1 / 0)
        self.world.observe("created", None, lambda o: seen.append(len(o)))
        self.world.create()
        self.assertRaises(ZeroDivisionError, self.world.step, 0)
        self.assertEqual(seen, [1])
        self.world.step(0)

    def test_what_is_not_observed_says_so(self):
        for word, kind in (("a", "shared"), ("b", "buffer"), ("c", "sparse"), ("d", "chunk")):
            component = self.world.component(word, "f4", kind=kind)
            self.assertRaisesRegex(weft.TypeMismatchError, "World.observe.*add a tag with it", self.world.observe, "added", component, print)
        self.assertRaises(weft.TypeMismatchError, self.world.observe, "changed", self.world.tag("t"), print)

    def test_commands_relate(self):
        likes = self.world.relation("Likes")
        target, sources = self.world.create(), self.world.create_many(3)
        commands = self.world.commands()
        new = commands.create()
        commands.relate(sources, likes, target)
        commands.relate(sources[0], likes, new)
        commands.play()
        self.world.settle()
        self.assertEqual(self.world.sources(likes, target).tolist(), sources[1:].tolist())
        commands.relate(sources, likes, None)
        commands.play()
        self.assertFalse(self.world.has(sources[1], likes))

    def test_systems_by_depth_run_parents_first(self):
        place = self.world.component("Place", [("here", "f4"), ("all", "f4")])
        ship, dock, door, other = (self.world.create(values={place: (i, 0)}) for i in (1, 10, 100, 1000))
        self.world.relate(dock, self.world.parent, ship)
        self.world.relate(door, self.world.parent, dock)
        depths = []

        @self.world.system(write=[place], optional=[self.world.parent], by_depth=self.world.parent)
        def add_up(s):
            depths.append(sorted(s.entities.tolist()))
            above = s[self.world.parent]
            s[place]["all"] = s[place]["here"]
            for i, parent in enumerate([] if above is None else above.tolist()):
                if parent:
                    s[place]["all"][i] += self.world.get(parent, place)["all"]

        self.world.step(1)
        self.assertEqual([self.world.get(e, place)["all"] for e in (ship, dock, door, other)], [1, 11, 111, 1000])
        self.assertEqual(depths, [[ship, other], [dock], [door]])
        self.world.relate(dock, self.world.parent, None)
        self.world.step(1)
        self.assertEqual([self.world.get(e, place)["all"] for e in (ship, dock, door)], [1, 10, 110])
        likes = self.world.relation("Likes")
        for wrong in (likes, place):
            self.assertRaises(TypeError, self.world.system, print, write=[place], by_depth=wrong)
        self.assertRaises(ValueError, self.world.system, print, by_depth=self.world.parent)

    def test_parent_is_named_before_a_loop_and_used_in_it(self):
        world = weft.World(workers=1)
        speed = world.component("Speed", "f4")
        above, below = world.create(values={speed: 1}), world.create(values={speed: 2})
        query, refused = world.query(write=[speed]), []

        def ask(s):
            column = s[speed]
            try:
                world.parent
            except weft.WrongPhaseError as error:
                refused.append(str(error))
            column += 1

        query.each(ask)
        self.assertEqual(len(refused), 1)
        self.assertIn("Parent = world.parent", refused[0])
        parent, commands = world.parent, world.commands()

        def relate(s):
            column = s[speed]
            commands.relate(below, world.parent, above)
            column += 1

        query.each(relate)
        commands.play()
        self.assertEqual((world.target(below, parent), query.read(speed).tolist()), (above, [3, 4]))

    def test_what_is_left_when_a_target_dies(self):
        for way, has, target in (("clear", True, 0), ("keep", True, None), ("destroy", False, None)):
            world = weft.World(workers=1)
            likes = world.relation("Likes", on_target_death=way)
            one, other = world.create(), world.create()
            world.relate(one, likes, other)
            world.destroy(other)
            world.settle()
            self.assertEqual((world.is_alive(one) and world.has(one, likes)), has)
            if has:
                self.assertEqual(world.get(one, likes), other if target is None else target)


if __name__ == "__main__":
    unittest.main()
