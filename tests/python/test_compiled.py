# SPDX-License-Identifier: MIT
"""test_compiled.py: systems as C source in a string: what they see, what the cache keeps, what a wrong one says."""
import os
import tempfile
import unittest

import numpy

import weft


class CompiledTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.before = {name: os.environ.get(name) for name in ("WEFT_CACHE", "CC")}
        os.environ["WEFT_CACHE"] = self.folder.name
        self.world = weft.World(workers=2)
        self.position = self.world.component("Position", "3f4")
        self.max_speed = self.world.component("MaxSpeed", "f8")

    def tearDown(self):
        self.world.close()
        self.folder.cleanup()
        for name, value in self.before.items():
            os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)

    def values(self, component):
        return self.world.query(read=[component]).read(component)

    def test_numbers_of_every_kind_have_a_type_of_c(self):
        self.assertEqual(set(weft._native.NUMPY) - set(weft._compiled.NUMBERS), set())

    def test_columns_are_named_as_components(self):
        self.world.create_many(70_000, {self.position: (1, 2, 3), self.max_speed: 4})
        weft.c("for (uint32_t i = 0; i < count; i++) position[i][1] += (float)max_speed[i] * dt;",
               write=[self.position], read=[self.max_speed])
        self.world.step(0.5)
        numpy.testing.assert_array_equal(self.values(self.position), numpy.tile(numpy.float32([1, 4, 3]), (70_000, 1)))

    def test_structs_lie_as_numpy_has_them(self):
        packed = self.world.component("Packed", [("a", "i1"), ("b", "f8"), ("by", weft.entity)])
        aligned = self.world.component("Aligned", numpy.dtype([("a", "i1"), ("b", "f8"), ("c", "2,2u2")], align=True))
        made = self.world.create(values={packed: (1, 2.5, 0), aligned: (1, 2.5, [[1, 2], [3, 4]])})
        weft.c("""for (uint32_t i = 0; i < count; i++) {
            packed[i].a += 1, packed[i].b *= 2, packed[i].by = entities[i];
            aligned[i].a += 1, aligned[i].b *= 2, aligned[i].c[1][0] = 9;
        }""", write=[packed, aligned])
        self.world.step(0)
        self.assertEqual(tuple(self.world.get(made, packed)), (2, 5.0, int(made)))
        got = self.world.get(made, aligned)
        self.assertEqual((got["a"], got["b"], got["c"].tolist()), (2, 5.0, [[1, 2], [9, 4]]))

    def test_resources_lookups_commands_and_head(self):
        total = self.world.resource("Total", "f8")
        target = self.world.component("Target", weft.entity)
        done = self.world.tag("Done")
        goal = self.world.create(values={self.position: (7, 0, 0)})
        made = self.world.create(values={target: goal})
        weft.c("""for (uint32_t i = 0; i < count; i++) {
            const float(*at)[3] = weft_finder_read(&find_position, target[i]);
            *total += twice((*at)[0]);
            weft_recorder_add(commands, entities[i], handle_done);
        }""", head="static double twice(double x) { return 2 * x; }", name="follow", read=[target], write_resources=[total],
               look_up=[self.position], handles=[done], commands=True)
        self.world.step(1)
        self.assertEqual(self.world.get_resource(total), 14)
        self.assertTrue(self.world.has(made, done))

    def test_without_terms_once_per_step_by_the_world(self):
        count = self.world.resource("Count", "i4")
        self.world.c("*count_ += 1 + (int)count;", write_resources=[count])  # `count` is taken: rows, of which there are none
        self.world.step(1)
        self.world.step(1)
        self.assertEqual(self.world.get_resource(count), 2)
        self.assertRaisesRegex(TypeError, "of which world", weft.c, ";")

    def test_an_optional_column_is_null_where_it_is_absent(self):
        self.world.create_many(2, {self.position: 0})
        self.world.create_many(3, {self.position: 0, self.max_speed: 1})
        weft.c("for (uint32_t i = 0; i < count; i++) position[i][0] = max_speed ? (float)max_speed[i] : -1;", write=[self.position],
               optional=[self.max_speed])
        self.world.step(1)
        self.assertEqual(sorted(self.values(self.position)[:, 0]), [-1, -1, 1, 1, 1])

    def test_the_compiler_runs_once_for_a_text(self):
        first = weft.c("position[0][0] = 1;", name="a", write=[self.position])
        other = weft.World(workers=1)
        again = weft.c("position[0][0] = 1;", name="a", write=[other.component("Position", "3f4")])
        changed = weft.c("position[0][0] = 1;", name="b", write=[self.position], flags=["-DOTHER"])
        self.assertEqual(first, again)
        self.assertNotEqual(first, changed)
        self.assertEqual(len(os.listdir(self.folder.name)), 2)
        self.assertTrue(first.startswith(self.folder.name))
        other.close()

    def test_errors_have_the_lines_of_the_source(self):
        with self.assertRaises(weft.CompileError) as caught:
            weft.c("int a = 1;\nfoo = a;\n", name="wrong", write=[self.position])
        self.assertEqual([line for line, _ in caught.exception.lines], [2])
        self.assertIn("wrong:2: ", str(caught.exception))
        self.assertIn("    foo = a;", str(caught.exception))
        self.assertEqual(os.listdir(self.folder.name), [])
        self.world.step(1)  # nothing was added

    def test_order_indices_archetypes_queries_and_written_look_ups(self):
        said = self.world.resource("Said", "8u4", hashed=False)
        target, points = self.world.component("Target", weft.entity), self.world.component("Points", "i4")
        goal = self.world.create(values={points: 5})
        self.world.create_many(3, {target: goal})
        say = "*said[0] < 7 ? said[0][++said[0][0]] = {} : 0;"
        words = {"write_resources": [said]}
        self.world.c(say.format("100 + slice->index"), name="late", count=2, after=["early", "middle"], **words)
        self.world.c(say.format("2"), name="middle", **words)
        self.world.c(say.format("1"), name="early", before="middle", **words)
        weft.c("""for (uint32_t i = 0; i < count; i++) {
            int *of = weft_slice_write_entity(slice, target[i], handle_points);
            if (of != NULL) --*of;
        }""", name="hit", read=[target], write_look_up=[points], serial=True)
        cars = self.world.query(read=[target])
        self.world.c("""
            uint32_t found = 0;
            weft_cursor c = weft_slice_query(slice, query_cars);
            while (weft_query_next(&c)) found += weft_slice_count(&c.slice);
            for (uint32_t i = 0; i < found; i++) weft_recorder_create_entity(commands, archetype_marks);
        """, name="mark", queries={"cars": cars}, archetypes={"marks": [points, self.max_speed]}, commands=True)
        del cars  # the system keeps it
        self.world.step(1)
        self.assertEqual(sorted(self.world.get_resource(said)[3:5].tolist()), [100, 101])
        self.assertEqual(self.world.get_resource(said).tolist()[:3], [4, 1, 2])
        self.assertEqual(self.world.get(goal, points), 2)
        self.assertEqual(len(self.world.query(read=[points, self.max_speed])), 3)
        for wrong in ({"count": 0}, {"count": True}, {"count": 2 ** 32}, {"count": 3, "read": [points]}):
            self.assertRaises(ValueError, self.world.c, ";", **wrong)
        self.assertRaises(TypeError, self.world.c, ";", queries={"x": 1})
        self.assertRaises(TypeError, self.world.c, ";", after=[5])
        self.assertRaises(weft.BadHandleError, self.world.c, ";",
                          archetypes={"x": [weft.World(workers=1).component("Points", "i4")]})

    def test_structs_of_a_header(self):
        pair = self.world.component("Pair", numpy.dtype([("x", "f4"), ("by", weft.entity)]))
        made = self.world.create(pair)
        head = "typedef struct Pair { float x; weft_entity by; } Pair; static void to(Pair *p, float x) { p->x = x; }"
        weft.c("to(&pair[0], 3);", write=[pair], head=head, structs=False)
        self.world.step(1)
        self.assertEqual(self.world.get(made, pair)["x"], 3)
        self.assertRaisesRegex(weft.CompileError, "Pair: the size of its dtype", weft.c, ";", write=[pair], structs=False,
                               head="typedef struct Pair { float x; } Pair;")

    def test_two_of_one_name_in_c_are_refused_by_name(self):
        world = weft.World(workers=1)
        one, other = world.component("MaxSpeed", "f4"), world.component("max_speed", "f4")
        self.assertRaisesRegex(ValueError, "max_speed and MaxSpeed are both max_speed in C: rename one", world.c, ";", write=[one],
                               read=[other])
        resource = world.resource("Config", [("a", "f4")])
        self.assertRaisesRegex(ValueError, "Config is listed twice: it is config in C", world.c, ";", resources=[resource],
                               write_resources=[resource])
        pair = world.component("Pair", [("X", "f4"), ("x", "f4")])
        self.assertRaisesRegex(ValueError, "Pair: its fields X and x are both x in C", world.c, ";", write=[pair])
        first, second = world.component("a b", [("x", "f4")]), world.component("a_b", [("y", "i4")])
        self.assertRaisesRegex(ValueError, "a_b: another component is the struct a_b in C", world.c, ";", look_up=[first, second])
        world.c(";", write=[one], handles=[other], write_look_up=[other])  # one handle serves both
        world.step(0)

    def test_without_a_compiler_it_says_what_to_do(self):
        os.environ["CC"] = "/nowhere/cc"
        self.assertRaisesRegex(weft.CompileError, "no C compiler `/nowhere/cc`", weft.c, ";", write=[self.position])


if __name__ == "__main__":
    unittest.main()
