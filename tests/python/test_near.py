# SPDX-License-Identifier: MIT
"""test_near.py: grids, exact sums and random numbers of the package weft, which need no world."""
import math
import sys
import threading
import unittest
from fractions import Fraction

import numpy as np

import weft


def by_hand(at, places, within, least, most, periodic, itself, is_self):
    """{(i, j)} by comparing each with each, with the nearest images of a periodic box."""
    found = set()
    wide = at.dtype.type
    lengths = [wide(b - a) for a, b in zip(least, most)]
    images = [(-1, 0, 1) if p else (0,) for p in periodic] + [(0,)] * (3 - len(least))
    for i, a in enumerate(places):
        for j, b in enumerate(at):
            for shift in ((x, y, z) for x in images[0] for y in images[1] for z in images[2]):
                if is_self and i == j and not any(shift) and not itself:
                    continue
                way = [q + wide(n) * length - p for p, q, n, length in zip(a, b, shift, lengths)]
                if sum((w * w for w in way[1:]), way[0] * way[0]) < wide(within) * wide(within):
                    found.add((i, j))
    return found


class Grids(unittest.TestCase):
    def test_pairs_are_those_of_each_with_each(self):
        random = np.random.default_rng(5)
        for case in range(40):
            axes, dtype = 2 + case % 2, ("f4", "f8")[case // 2 % 2]
            periodic = [bool(case >> (2 + a) & 1) for a in range(axes)]
            least, most = [-3.0] * axes, [2.0, 4.0, 3.0][:axes]
            grid = weft.Grid(least, most, 1.1, periodic=periodic)
            at = (random.random((30, axes)) * 7 - 4).astype(dtype)
            inside = at.astype(dtype)
            for a in np.flatnonzero(periodic):
                inside[:, a] = least[a] + np.mod(at[:, a] - dtype_of(dtype)(least[a]), dtype_of(dtype)(most[a] - least[a]))
            grid.build(inside)
            itself = bool(case & 1)
            for within in (1.1, 0.4):
                i, j = grid.pairs(within=within, itself=itself)
                wanted = by_hand(inside, inside, within, least, most, periodic, itself, True)
                self.assertEqual(sorted(set(zip(i.tolist(), j.tolist()))), sorted(wanted))
                self.assertTrue((np.diff(i) >= 0).all())
                self.assertEqual(grid.count(within=within, itself=itself).tolist(), np.bincount(i, minlength=30).tolist())
            i, j = grid.pairs(half=True)
            both = sorted([*zip(i.tolist(), j.tolist()), *zip(j.tolist(), i.tolist())])
            self.assertEqual(both, sorted(zip(*(part.tolist() for part in grid.pairs()))))
            i, j = grid.pairs(inside[:7])
            self.assertEqual(set(zip(i.tolist(), j.tolist())), by_hand(inside, inside[:7], 1.1, least, most, periodic, True, False))

    def test_what_left_a_periodic_box_is_wrapped(self):
        grid = weft.Grid((0, 0), (10, 10), 1, periodic=(True, False))
        grid.build([[10.25, 5], [-0.5, 5], [0.3, 5], [1e-30 - 1e-29, 7]])
        i, j, way = grid.pairs(vectors=True)
        self.assertEqual(sorted(zip(i.tolist(), j.tolist())), [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)])
        self.assertAlmostEqual(way[(i == 1) & (j == 2)][0, 0], 0.8)
        self.assertEqual(grid.count([[20.3, 5.0]]).tolist(), [3])

    def test_nothing_is_copied_that_can_be_read_where_it_is(self):
        grid = weft.Grid((0, 0), (10, 10), 1)
        wide = np.zeros((20, 5), "f4")[::2, 1:4]
        structs = np.zeros(4, [("n", "u8"), ("x", "f8"), ("y", "f8"), ("z", "f8")])[["x", "y"]]
        for given in (wide, structs, np.zeros(3, [("p", "2f4")])):
            self.assertTrue(np.shares_memory(grid._rows(given), given))
            grid.build(given)
            self.assertEqual(len(grid), len(given))
        grid.build(np.arange(8, dtype="i4").reshape(4, 2))
        grid.build([])
        self.assertEqual((len(grid), len(grid.pairs()), grid.count().size), (0, 0, 0))

    def test_arrays_of_a_build_outlive_the_next_one_and_the_grid(self):
        grid = weft.Grid((0, 0, 0), (4, 4, 4), 1)
        grid.build(np.full((5, 3), 1.5))
        points, begin, of = grid.points, grid.cell_begin, grid.cell_of
        old = points.copy(), begin.copy(), of.copy()
        grid.build(np.random.default_rng(1).random((10000, 3)) * 4)
        del grid
        for now, before in zip((points, begin, of), old):
            self.assertEqual(now.tolist(), before.tolist())
            self.assertFalse(now.flags.writeable)

    def test_cells_and_runs_are_those_of_c(self):
        grid = weft.Grid((0, 0), (4.5, 4.5), 1, periodic=True)
        self.assertEqual((grid.cells, [round(s, 3) for s in grid.cell_size]), ((4, 4), [1.125, 1.125]))
        grid.build([[0.1, 0.1], [4.4, 0.1], [2.3, 2.3]])
        runs = grid.runs(int(grid.cell_at([[0.1, 0.1]])[0]))
        met = [(int(p), tuple(run["shift"].tolist())) for run in runs for p in grid.points[run["begin"]:run["end"]]]
        self.assertEqual(met, [(1, (-1, 0, 0)), (0, (0, 0, 0))])
        self.assertEqual(grid.cell_of.tolist(), grid.cell_at([[0.1, 0.1], [4.4, 0.1], [2.3, 2.3]]).tolist())

    def test_sums_over_pairs_have_the_bits_of_a_loop(self):
        random = np.random.default_rng(2)
        at, way = random.random((300, 2)).astype("f4") * 8, random.random((300, 2)).astype("f4")
        grid = weft.Grid((0, 0), (8, 8), 1, periodic=True)
        grid.build(at)
        pairs = grid.pairs(itself=True)
        sums = pairs.sum(way[pairs.j])
        for row in range(300):
            one = np.zeros(2, "f4")
            for j in pairs.j[pairs.begin[row]:pairs.begin[row + 1]]:
                one += way[j]
            self.assertEqual(sums[row].tobytes(), one.tobytes())
        self.assertEqual(pairs.count.tolist(), grid.count(itself=True).tolist())
        self.assertRaises(ValueError, pairs.sum, way)

    def test_bad_use_is_a_sentence(self):
        grid = weft.Grid((0, 0), (10, 10), 1)
        grid.build(np.zeros((3, 2)))
        for call in (lambda: weft.Grid((0,), (1,), 1), lambda: weft.Grid((0, 0), (1, 1, 1), 1), lambda: weft.Grid((0, 0), (1, 1), 0),
                     lambda: weft.Grid((0, 0), (1, 1), math.nan), lambda: weft.Grid((0, 0), (math.inf, 1), 1),
                     lambda: weft.Grid((0, 0), (0, 1), 1), lambda: weft.Grid(0, 1, 1), lambda: weft.Grid("ab", "cd", 1),
                     lambda: weft.Grid((0, 0), (1, 1), 1e-9), lambda: weft.Grid((0, 0), (1, 1), 1, periodic=3),
                     lambda: weft.Grid((0, 0), (1, 1), 1, periodic=(True, True, True)), lambda: grid.build(np.zeros(4)),
                     lambda: grid.build(np.zeros((4, 1))), lambda: grid.build(["a"]), lambda: grid.build(np.zeros((2, 2), complex)),
                     lambda: grid.build(None), lambda: grid.build([(1, 2), (3,)]), lambda: grid.pairs(within=2), lambda: grid.pairs(within=0),
                     lambda: grid.pairs(within="x"), lambda: grid.pairs(within=math.nan), lambda: grid.pairs([[0, 0]], half=True),
                     lambda: grid.pairs([0, 0]), lambda: grid.runs(10 ** 6), lambda: grid.runs(-1), lambda: grid.cell_at("x"),
                     lambda: grid.build(np.zeros(3, [("x", "f4"), ("y", "i4")])), lambda: grid.build(np.zeros((2, 2, 2)))):
            with self.assertRaises((ValueError, TypeError, IndexError, OverflowError, weft.LimitError)) as caught:
                call()
            self.assertNotIn("weft_", str(caught.exception))
            self.assertGreater(len(str(caught.exception)), 10)
        self.assertEqual(len(grid), 3)

    def test_odd_positions_do_not_harm(self):
        for periodic in (True, False):
            grid = weft.Grid((0, 0), (10, 10), 1, periodic=periodic)
            grid.build([[math.nan, 1], [math.inf, -math.inf], [1e300, -1e300], [5, 5]])
            self.assertEqual(len(grid), 4)
            i, j = grid.pairs()
            self.assertNotIn(0, i.tolist())
            grid.pairs([[math.inf, math.nan]], within=math.inf, vectors=True)

    def test_two_threads_share_a_grid(self):
        grid, wrong = weft.Grid((0, 0), (100, 100), 1), []
        at = np.random.default_rng(3).random((20000, 2)) * 100
        grid.build(at)
        wanted = len(grid.pairs())

        def run(call):
            try:
                for _ in range(5):
                    call()
            except RuntimeError as error:
                if "another thread builds" not in str(error):
                    wrong.append(error)
            except AssertionError as error:
                wrong.append(error)

        calls = [lambda: grid.build(at), lambda: self.assertEqual(len(grid.pairs()), wanted), lambda: grid.points.sum()]
        threads = [threading.Thread(target=run, args=(call,)) for call in calls * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_a_column_of_the_world_is_read_where_it_is(self):
        world = weft.World(workers=1)
        position = world.component("Position", [("x", "f4"), ("y", "f4")])
        world.create_many(50, {position: (1, 2)})
        grid, seen = weft.Grid((0, 0), (4, 4), 1), []

        @world.system(read=[position])
        def near(s):
            grid.build(s[position])
            seen.append(grid.count().tolist())

        world.step(1)
        self.assertEqual(seen, [[49] * 50])
        world.close()


def dtype_of(name):
    return np.dtype(name).type


class Sums(unittest.TestCase):
    def test_sums_are_exact_in_any_order(self):
        random = np.random.default_rng(4)
        for dtype in ("f8", "f4", "f2"):
            values = (random.standard_normal(500) * 10.0 ** random.integers(-3, 4, 500)).astype(dtype)
            true = float(sum(Fraction(float(v)) for v in values))
            self.assertEqual(weft.exact_sum(values), true)
            self.assertEqual(weft.exact_sum(values[::-1]), true)
            self.assertEqual(weft.exact_sum(values.reshape(50, 10)[:, 3:7]), weft.exact_sum(values.reshape(50, 10)[:, 3:7].copy()))
            parts = [weft.Sum(values[:100]), weft.Sum(values[100:])]
            parts[1].merge(parts[0])
            self.assertEqual((parts[1].value, float(parts[1])), (true, true))
            words = weft.Sum(values[:100]).words + weft.Sum(values[100:]).words
            other = weft.Sum()
            other.words = words
            self.assertEqual(other.value, true)

    def test_integers_of_64_bits_are_exact(self):
        self.assertEqual(weft.exact_sum(np.array([2 ** 63 - 1, -2 ** 63, 2 ** 53 + 1], "i8")), float(2 ** 53))
        self.assertEqual(weft.exact_sum(np.array([2 ** 64 - 1, 1], "u8")), 2.0 ** 64)
        self.assertEqual(weft.exact_sum([2 ** 53 + 1, -2 ** 53]), 1.0)
        self.assertEqual(weft.exact_sum([True, False, True]), 2.0)
        self.assertEqual(weft.exact_sum(3.5), 3.5)
        self.assertEqual(weft.exact_sum([]), 0.0)

    def test_infinities_and_bad_values(self):
        self.assertEqual(weft.exact_sum([1e308, 1e308, -1e308]), 1e308)
        self.assertEqual(weft.exact_sum([math.inf, 1]), math.inf)
        self.assertTrue(math.isnan(weft.exact_sum([math.inf, -math.inf])))
        total = weft.Sum()
        for wrong in ("x", None, [None], 1j, [2 ** 53 + 1, 0.5], [2 ** 70], np.zeros(2, np.longdouble), {}, object()):
            self.assertRaises((TypeError, ValueError, OverflowError), total.add, wrong)
        self.assertRaises(TypeError, total.merge, 5)
        for wrong in (np.zeros(3, "i8"), np.zeros(70), None):
            with self.assertRaises(TypeError):
                total.words = wrong
        with self.assertRaises(OverflowError):
            total.words = np.full(70, -2 ** 63, "i8")
        self.assertEqual(total.value, 0.0)


class Randoms(unittest.TestCase):
    KINDS = [("a", "u4"), ("b", "u8"), ("c", "f4"), ("d", "f8"), ("e", "u4"), ("f", "f8"), ("g", "u4")]

    def test_every_form_has_the_numbers_of_c(self):
        world = weft.World(workers=1)
        drawn = world.component("Drawn", np.dtype(self.KINDS, align=True))
        made = world.create_many(64, components=[drawn])
        weft.c("""
            for (uint32_t i = 0; i < count; i++) {
                weft_random r = weft_random_of(9, weft_entity_index(entities[i]), 1, 3);
                drawn[i].a = weft_random_u32(&r);
                drawn[i].b = weft_random_u64(&r);
                drawn[i].c = weft_random_float(&r);
                drawn[i].d = weft_random_double(&r);
                drawn[i].e = weft_random_below(&r, 3000000000u);
                drawn[i].f = weft_random_normal(&r);
                drawn[i].g = weft_random_u32(&r);
            }
        """, write=[drawn])
        world.step(1)
        wanted = [world.get(one, drawn) for one in made]

        def draw(r):
            return [r.u32(), r.u64(), r.float(), r.double(), r.below(3000000000), r.normal(), r.u32()]

        for one, numbers in zip(made, wanted):
            self.assertEqual(draw(weft.Random(9, weft.Entity(one).index, 1, 3)), list(numbers.tolist()))
        many = draw(weft.Random(9, made & np.uint64(0x0FFFFFFF), 1, 3))
        for field, values in zip("abcdefg", many):
            self.assertEqual(values.tolist(), [numbers[field] for numbers in wanted])
        seen = []
        world.system(lambda s: seen.append((s.randoms(9, 3).u32(), s.random(9, 3))), read=[drawn])
        world.step(1)
        self.assertEqual(seen[0][0].tolist(), [weft.Random(9, weft.Entity(e).index, 2, 3).u32() for e in made])
        self.assertEqual(seen[0][1].tolist(), [weft.Random(9, weft.Entity(e).index, 2, 3).float() for e in made])
        world.close()

    def test_counts_are_the_next_numbers(self):
        one, other = weft.Random(1, 2, 3, 4), weft.Random(1, [2, 5], 3, 4)
        first = one.u32(7).tolist()
        self.assertEqual(other.u32(7)[0].tolist(), first)
        again = weft.Random(1, 2, 3, 4)
        self.assertEqual([again.u32() for _ in range(7)], first)
        self.assertEqual(one.double(), again.double())
        self.assertEqual(one.normal(3).tolist(), [again.normal() for _ in range(3)])
        self.assertEqual(one.below(10, 50).tolist(), [again.below(10) for _ in range(50)])
        self.assertEqual((one.below(0), one.below(1), one.u32(0).size), (0, 0, 0))

    def test_bad_use_is_a_sentence(self):
        r = weft.Random(1)
        for call in (lambda: weft.Random(-1), lambda: weft.Random(2 ** 64), lambda: weft.Random(1.5), lambda: weft.Random("x"),
                     lambda: weft.Random(1, stream=2 ** 16), lambda: weft.Random(1, [1.5]), lambda: weft.Random(1, np.zeros(3)),
                     lambda: weft.Random(1, np.array([-1])), lambda: weft.Random(1, np.zeros((2, 2), "u8")), lambda: weft.Random(1, None),
                     lambda: weft.Random(True), lambda: r.u32(-1), lambda: r.u32(2 ** 19), lambda: r.u32(1.5), lambda: r.below(-1),
                     lambda: r.below(2 ** 32), lambda: r.below(1.5), lambda: r.float("x")):
            self.assertRaises((OverflowError, TypeError, ValueError), call)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
