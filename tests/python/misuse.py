# SPDX-License-Identifier: MIT
"""misuse.py [--scripts N] [--seed S]: random scripts that use weft wrongly: stale entities, views kept
behind their loops, closed worlds, values of other shapes, calls inside loops and systems. Whatever
they do is an exception of the kinds below, whose text speaks of Python; the process does not crash, and the
world stays valid. Beside each script runs one of the model (class Model): it gives right and wrong values in every
way there is, and knows which value each component has to have then, or that the call is refused and nothing changed."""
import argparse
import atexit
import os
import random
import shutil
import sys
import tempfile
import threading

import numpy

import weft

FILES = tempfile.mkdtemp()  # of the scenes
EXPECTED = (weft.Error, weft.CompileError, BufferError, ValueError, TypeError, KeyError, IndexError, OverflowError, RuntimeError,
            OSError, AttributeError, MemoryError)
JUNK = [None, -1, 0, 2 ** 31, 2 ** 64, 1.5, float("nan"), "", "x", b"", b"\0" * 7, [], [1], {}, (), object(),
        numpy.zeros(3), numpy.zeros((2, 2)), "a\0b", "\udc80", "y" * 300, True]


class Script:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.worlds, self.components, self.entities = [], [], []
        self.queries, self.loops, self.slices, self.views = [], [], [], []
        self.snapshots, self.recorders, self.files, self.scenes, self.grids = [], [], [], [], []
        self.refused = self.done = 0

    def junk(self, known):
        """Mostly something of the right kind, maybe of another world; sometimes anything."""
        if not known or self.random.random() < 0.08:
            return self.random.choice(JUNK)
        return self.random.choice(known)

    def value(self):
        return self.random.choice([0, 1.5, (1, 2, 3), [[1, 2, 3]], numpy.ones(3), {"a": 1}, {"b": 2.0},
                                   numpy.zeros((4, 3), "f4"), *JUNK[:6]])

    def world(self):
        return self.junk(self.worlds)

    def some(self, known):
        return [self.junk(known) for _ in range(self.random.randrange(3))]

    # One call each

    def new_world(self):
        if len(self.worlds) < 3:
            self.worlds.append(weft.World(workers=self.random.choice([1, 1, 2])))

    def new_component(self):
        kind = self.random.choice(["f4", "3f4", [("a", "i4"), ("b", "f8")], weft.entity, "u1", "O", ">f4", "S3", (),
                                   [("a", [("x", "f4"), ("by", weft.entity)], 2), ("b", "i2")]])
        name = self.random.choice(["P", "V", "W", ""])
        world = self.world()
        call = self.random.choice([lambda: world.component(name, kind, self.random.random() < 0.3),
                                   lambda: world.tag(name), lambda: world.resource(name, kind),
                                   lambda: world.resource(name, kind, kind="buffer"), lambda: world.relation(name, by_depth=self.random.random() < 0.5,
                                                                                                             acyclic=True)])
        call = self.random.choice([call, call, lambda: world.component(
            name, kind, kind=self.random.choice(["sparse", "shared", "chunk", "buffer", "x"]),
            cleanup=self.random.random() < 0.3), lambda: world.tag(name, sparse=True)])
        self.components.append(call())

    def create(self):
        count = self.random.choice([0, 1, 2, 5, 300, 5000, -1])
        values = {self.junk(self.components): self.value()} if self.random.random() < 0.6 else None
        made = self.world().create_many(count, values, self.some(self.components))
        self.entities += [int(e) for e in made[:3]]

    def change(self):
        world, entity = self.world(), self.junk(self.entities)
        component = self.junk(self.components)
        self.random.choice([
            lambda: world.set(entity, component, self.value()), lambda: world.add(entity, component),
            lambda: world.remove(entity, component), lambda: world.destroy(entity),
            lambda: world.destroy(numpy.array([entity, entity])), lambda: world.get(entity, component),
            lambda: world.has(entity, component), lambda: world.enable(entity, component, self.random.random() < 0.5),
            lambda: world.set_name(entity, self.random.choice(["n", "", "z" * 99, "\udc80"])),
            lambda: world.name(entity), lambda: world.find("n"), lambda: world.is_alive(entity),
            lambda: world.get_resource(component), lambda: world.set_resource(component, self.value()),
            lambda: world.add(self.entities, component), lambda: world.append(entity, component, self.value()),
            lambda: world.is_enabled(entity, component), lambda: weft.Entity(entity),
            lambda: weft.Random(entity, self.value()).float(self.random.choice([None, 3, -1])),
            lambda: world.create(component, values={component: self.value()}, name=self.random.choice(["n", 5]))])()

    def new_query(self):
        keys = self.random.sample(["write", "read", "optional", "having", "without", "any", "present", "absent", "disabled"], 2)
        self.queries.append(self.world().query(**{key: self.some(self.components) for key in keys},
                                               ignores_enabled=self.random.random() < 0.2))

    def use_query(self):
        query, component = self.junk(self.queries), self.junk(self.components)
        self.random.choice([lambda: len(query), lambda: query.entities, lambda: query.read(component),
                            lambda: query.write(component, self.value()),
                            lambda: query.write(component, numpy.ones((len(query), 3))),
                            lambda: query.changed(component, self.random.choice([0, 1, -1, 2 ** 40, None])),
                            lambda: query.each(self.use_slice)])()

    def all_rows(self):
        query, other, component = self.junk(self.queries), self.junk(self.queries), self.junk(self.components)
        commands = self.junk(self.recorders)
        self.random.choice([
            lambda: query.add(component), lambda: query.remove(component), lambda: query.set(component, self.value()),
            lambda: query.enable(component, self.random.random() < 0.5), query.destroy, lambda: query.where(component, self.value()), query.again,
            lambda: query.where(component, self.value(), 1), lambda: query.where_not(component, self.value()), query.single,
            lambda: query.moved(self.random.choice([0, -1, 1.5])), lambda: self.junk(self.entities) in query, lambda: bool(query),
            lambda: commands.all(other).add(component), lambda: commands.all(other).remove(component), lambda: commands.all(query).destroy(),
            lambda: commands.all(query).set(component, self.value()), lambda: commands.all(query).enable(component, self.random.random() < 0.5),
            lambda: commands.relate(self.some(self.entities), component, self.junk(self.entities))])()

    def look(self):
        world, component = self.world(), self.junk(self.components)
        self.random.choice([
            lambda: world.stats, lambda: world.frame_stats, lambda: world.archetypes, lambda: world.systems, lambda: world.components,
            lambda: world.schedule(self.random.choice(["chain", "json", "x", "order"])), lambda: world.search(self.random.choice(["", "n", 5])),
            lambda: world.shared_values(component), lambda: world.relation_stats(component), world.settle, world.clear_references,
            lambda: world.compact(self.random.choice([0, 5, -1, 2 ** 64])), lambda: world.measure(self.random.random() < 0.5),
            lambda: world.look_up(self.entities, component), lambda: world.set(self.entities, component, self.value()),
            lambda: world.enable(self.entities, component, self.random.random() < 0.5), lambda: world.append_resource(component, self.value()),
            lambda: world.relate(self.some(self.entities), component, self.junk(self.entities)),
            lambda: world.sources(component, self.junk(self.entities)), lambda: world.depth(self.junk(self.entities), component),
            lambda: world.instantiate(self.junk(self.entities), self.random.choice([None, 0, 2, -1, 2 ** 32])),
            lambda: world.observe(self.random.choice(["added", "removed", "changed", "x"]), component, lambda o: self.any_call()),
            lambda: world.live(self.random.choice(["/nowhere.weft", "", 5])), lambda: world.scene("/nowhere.weft")])()

    def near(self):
        if not self.grids or self.random.random() < 0.2:
            self.grids.append(weft.Grid(self.random.choice([(0, 0), (0, 0, 0), 5, (1,)]), self.random.choice([(9, 9), (9, 9, 9), (0, 0)]),
                                        self.random.choice([1, 0.5, 0, -1, float("nan")]), periodic=self.random.choice([True, False, (True, False), 3])))
        grid = self.random.choice(self.grids)
        at = self.random.choice([numpy.random.default_rng(self.random.randrange(99)).random((50, 3)) * 12 - 1, numpy.full((3, 3), numpy.nan),
                                 numpy.full((2, 2), 1e308), [], self.value(), *self.views[:2]])
        self.random.choice([
            lambda: grid.build(at), lambda: grid.build(at), lambda: grid.pairs(vectors=True).sum(1), lambda: grid.pairs(at, within=self.value()),
            lambda: grid.count(at), lambda: self.views.append(grid.points), lambda: grid.runs(self.random.choice([0, 3, -1, 2 ** 32])),
            lambda: weft.exact_sum(at), lambda: weft.Random(1, self.entities).below(self.random.choice([5, -1]), self.value()),
            lambda: grid.cell_at(at), lambda: grid.pairs(half=True, itself=True, within=float("inf"))])()

    def begin(self):
        loop = self.junk(self.queries).slices()
        loop.__enter__()
        self.loops.append((loop, iter(loop)))

    def advance(self):
        self.slices.append(next(self.random.choice(self.loops or [(None, iter([]))])[1], None))

    def end(self):
        if self.loops:
            loop, _ = self.loops.pop(self.random.randrange(len(self.loops)))
            loop.__exit__(None, None, None)

    def use_slice(self, given=None):
        s = given if given is not None else self.junk(self.slices)
        s.frame, s.time, s.commands, s.random(self.random.choice([0, 7, -1]))
        column = s[self.junk(self.components)]
        if self.random.random() < 0.5:
            column[...] = 1
        if self.random.random() < 0.3:
            s[self.junk(self.components)] = self.value()
        if self.random.random() < 0.3:
            self.views.append(column[1:] if self.random.random() < 0.5 else memoryview(column))
        len(s), s.entities, s.enabled, s.dt

    def use_view(self):
        if self.views:
            view = self.random.choice(self.views)
            if isinstance(view, numpy.ndarray) and view.flags.writeable:
                view[...] = view
            else:
                numpy.asarray(view).sum()

    def drop(self):
        known = self.random.choice([self.views, self.slices, self.queries, self.snapshots, self.recorders, self.worlds,
                                    self.loops, self.entities])
        if known:
            known.pop(self.random.randrange(len(known)))

    def step(self):
        self.world().step(self.random.choice([0, 0.5, -1, float("inf"), "x"]))

    def new_system(self):
        action = self.random.choice([self.use_slice, lambda s: self.any_call(), lambda s: 1 / 0, None])
        world = self.world()
        if len(world._systems) < 3:
            words = {key: value for key, value in {
                "before": self.random.choice([True, False, "s", ["t"]]), "after": self.random.choice(["s", (), 5]),
                "period": self.random.choice([0, 0.1, -1]), "group": self.random.choice(["g", "h"]),
                "by_depth": self.junk(self.components), "timer": True, "whole": True, "run_if": lambda w: self.any_call() or True, "skips_unchanged": True,
                "read": self.some(self.components)}.items() if self.random.random() < 0.25}
            world.system(action, name=self.random.choice("stu"), write=self.some(self.components), **words)
        else:
            name = self.random.choice("stug")
            self.random.choice([
                lambda: world.remove_system(name), lambda: world.enable_system(name, False),
                lambda: world.set_timer(name, self.random.choice([0, 0.2, -1])), lambda: world.stop_timer(name),
                lambda: world.group(name, after=self.random.choice(["s", "g", ()]),
                                    period=self.random.choice([0, 0.1, "x"]))])()

    def snapshot(self):
        world = self.world()
        if self.random.random() < 0.5:
            self.snapshots.append(world.snapshot(self.random.choice([None, self.junk(self.snapshots)])))
        else:
            world.restore(self.junk(self.snapshots))

    def record(self):
        if self.random.random() < 0.3:
            self.recorders.append(self.world().commands())
        c, entity, component = self.junk(self.recorders), self.junk(self.entities), self.junk(self.components)
        self.random.choice([lambda: self.entities.append(c.create(component)), lambda: c.destroy(entity),
                            lambda: c.add(entity, component), lambda: c.remove(entity, component),
                            lambda: c.set(entity, component, self.value()), lambda: c.append(entity, component, [1]),
                            lambda: c.enable(entity, component, self.random.random() < 0.5), lambda: c.set_name(entity, "n"),
                            c.play, c.play])()

    def file(self):
        world = self.world()
        if self.random.random() < 0.5:
            self.files.append(world.save())
        elif self.random.random() < 0.5:
            world.load(self.junk(self.files))
        else:
            data = bytearray(self.random.choice(self.files)) # no junk: a number would be gigabytes
            data[self.random.randrange(len(data))] ^= 1 << self.random.randrange(8)
            world.load(data)

    def relate(self):
        world, entity, other, component = self.world(), self.junk(self.entities), self.junk(self.entities), self.junk(self.components)
        def new_relation():
            self.components.append(self.random.choice([
                lambda: world.relation(self.random.choice("LM"), on_target_death=self.random.choice(["clear", "destroy", "keep", "x"]),
                                       acyclic=self.random.random() < 0.3, by_depth=self.random.random() < 0.2),
                lambda: world.relation("P", "f4"), lambda: world.parent, lambda: world.instance_of, lambda: world.prefab_tag])())
        self.random.choice([
            new_relation, lambda: world.relate(entity, component, other), lambda: world.relate(self.entities, component, other),
            lambda: world.settle(), lambda: world.sources(component, entity), lambda: world.children(entity),
            lambda: world.target(entity, component), lambda: world.depth(entity, self.random.choice([None, component])),
            lambda: world.relate(entity, world.parent, other)])()

    def copy(self):
        world, entity = self.world(), self.junk(self.entities)
        count = self.random.choice([None, 0, 2, 300, -1])
        made = self.random.choice([lambda: world.prefab(entity, *self.some(self.entities)), lambda: world.instantiate(entity, count),
                                   lambda: self.junk(self.recorders).instantiate(entity, count)])()
        self.entities += numpy.atleast_1d(made)[:3].tolist()

    def observe(self):
        world, component = self.world(), self.junk(self.components)
        action = self.random.choice([lambda o: (len(o), o.entities, o.values), lambda o: self.any_call(), lambda o: 1 / 0, None, 5])
        if len(world._observers) < 4:
            world.observe(self.random.choice(["added", "removed", "changed", "created", "destroyed", "x"]),
                          self.random.choice([component, None]), action)
        world.run_observers()

    def many(self):
        """Calls with arrays of entities."""
        world, recorder, component = self.world(), self.junk(self.recorders), self.junk(self.components)
        entities = self.random.choice([self.entities, numpy.array(self.entities[:4], "u8"), self.some(self.entities), JUNK[0]])
        self.random.choice([
            lambda: world.look_up(entities, component), lambda: recorder.set(entities, component, self.value()),
            lambda: recorder.add(entities, component), lambda: recorder.remove(entities, component), lambda: recorder.destroy(entities),
            lambda: recorder.append(entities, component, self.value()),
            lambda: recorder.create_many(self.random.choice([0, 3, -1]), {component: self.value()}, self.some(self.components)),
            lambda: weft.Random(3, numpy.array(self.entities, "u8"), 1).float()])()

    def scene(self):
        world = self.world()
        if self.scenes and self.random.random() < 0.6:
            scene = self.junk(self.scenes)
            self.random.choice([lambda: scene.fill(), lambda: scene.bake(), lambda: scene.entity(self.random.choice(["a", "", "b/c", 5])),
                                lambda: scene.is_stale, self.scenes.clear])()
            return
        with open(FILES + "/script.weft", "w", encoding="utf-8") as file:
            file.write(self.random.choice(['{"weft": 1, "objects": {"a": {}}}', '{"weft": 1, "objects": {"a": {"P": 3}, "b": {"children": {"c": {"V": 1}}}}}',
                                           '{"weft": 2}', "", '{"weft": 1, "objects": {"a": {"prefab": "#a"}}}']))
        self.scenes.append(world.scene(FILES + self.random.choice(["/script.weft", "/script.weft", "/nothing", ""])))

    def compile(self):
        """Systems in C of a few texts, so that the compiler runs seldom."""
        words = {word: self.some(self.components) for word in self.random.sample(["write", "read", "resources", "look_up", "handles",
                                                                                  "write_look_up", "having"], 2)}
        if self.random.random() < 0.5:
            words = {}
        self.world().c(self.random.choice([";", "this is not C"]), name=self.random.choice(["k", "l"]), flags=["-O0"], **words,
                       **self.random.choice([{}, {"count": self.random.choice([0, 3, -1, "x"])}, {"after": self.random.choice(["k", 5])},
                                             {"queries": {"q": self.junk(self.queries)}}, {"archetypes": {"a": self.some(self.components)}},
                                             {"serial": True}, {"commands": True}]))

    def close(self):
        self.world().close()

    def load_c(self):
        self.world().system_in_c("c", self.random.choice(["/nowhere.so", "", "/etc/passwd"]), "f",
                                 read=self.some(self.components))

    def from_a_thread(self):
        thread = threading.Thread(target=self.one_call)
        thread.start()
        thread.join()

    def beside_a_step(self):
        """Another thread steps while this one goes on, drops things, or closes the world."""
        world = self.world()
        thread = threading.Thread(target=self.guarded, args=(lambda: [world.step(0.1) for _ in range(3)],))
        thread.start()
        for _ in range(4):
            self.guarded(self.random.choice([self.drop, self.record, self.snapshot, self.change, self.close]))
        thread.join()

    def any_call(self):
        self.random.choice(CALLS)(self)

    def one_call(self):
        self.guarded(self.any_call)

    def guarded(self, call):
        try:
            call()
            self.done += 1
        except EXPECTED as error:
            self.refused += 1
            if "weft_" in str(error) or "WEFT_" in str(error):
                raise AssertionError(f"the text of an error speaks C: {error}") from error
        except ZeroDivisionError:
            self.done += 1 # the system's own

    def run(self, calls):
        self.new_world()
        for _ in range(calls):
            self.one_call()
        loops, self.loops = self.loops, []
        self.views.clear()
        self.slices.clear()
        for loop, _ in loops:
            try:
                loop.__exit__(None, None, None)
            except BufferError:
                pass
        del loops
        for world in self.worlds:
            try:
                world._native.validate()
            except ValueError:
                pass # closed
            except weft.Error as error:
                if error.code == "CORRUPT":
                    raise


S = Script
CALLS = [call for call, weight in (
    (S.new_world, 2), (S.new_component, 8), (S.create, 10), (S.change, 14), (S.new_query, 8), (S.use_query, 6), (S.all_rows, 6), (S.look, 6), (S.near, 3), (S.begin, 6),
    (S.advance, 8), (S.end, 5), (S.use_slice, 8), (S.use_view, 5), (S.drop, 5), (S.step, 5), (S.new_system, 3),
    (S.snapshot, 4), (S.record, 8), (S.file, 4), (S.close, 1), (S.load_c, 1), (S.relate, 6), (S.copy, 3),
    (S.observe, 2), (S.many, 5), (S.scene, 1), (S.compile, 1), (S.from_a_thread, 1), (S.beside_a_step, 1))
    for _ in range(weight)]


REFUSED = object()


class Model:
    """One world, and what it has to hold: {entity: {component: value}}, in Python's own numbers."""

    FIELDS = {"i1": (-2 ** 7, 2 ** 7 - 1), "u2": (0, 2 ** 16 - 1), "i4": (-2 ** 31, 2 ** 31 - 1),
              "i8": (-2 ** 63, 2 ** 63 - 1), "u8": (0, 2 ** 64 - 1), "f4": None, "f8": None, "?": None, "entity": None,
              "S4": None}
    KINDS = [{}, {}, {"enableable": True}, {"kind": "sparse"}, {"kind": "shared"}, {"kind": "buffer"}]

    def __init__(self, seed):
        self.random, self.world = random.Random(seed), weft.World(workers=1)
        self.rows, self.saved, self.checked, self.refused = {}, None, 0, 0
        self.components = [self.component(f"C{i}", i) for i in range(6)]
        self.fields_of_resource = self.some_fields()
        self.resource = self.world.resource("R", self.dtype(self.fields_of_resource))
        self.resource_value = tuple(self.zero(f) for f in self.fields_of_resource)
        self.other = weft.World(workers=1).component("C0", "f4")
        self.relation, self.targets = self.world.relation("L"), {}
        self.off = set()  # (entity, component) that is switched off
        self.told, self.changes = [], []
        self.watched = self.components[0][0]
        self.world.observe("removed", self.watched, self.hear)
        self.ticks = self.wanted_ticks = self.left = 0
        self.world.group("slow", period=0.25)
        self.world.system(self.tick, name="tick", group="slow")
        self.stepper()

    def stepper(self):
        """The component of a system in C, which runs when the resource says so."""
        self.compiled = self.world.component("K", [("f0", "i4"), ("f1", "f4")])
        self.switch = self.world.resource("Switch", "i4", hashed=False)
        self.components.append((self.compiled, ["i4", "f4"], None))
        self.world.c("""for (uint32_t i = 0; i < count && *switch_ != 0; i++)
            k[i].f0 = (int32_t)((uint32_t)k[i].f0 * 3u + 1u), k[i].f1 = -k[i].f1;""",
                     name="stepper", write=[self.compiled], resources=[self.switch])

    def hear(self, observation):
        self.told += zip(observation.entities.tolist(), observation.values.tolist())

    def tick(self, c):
        self.ticks += 1
        assert c.dt == 0.25

    def some_fields(self):
        return [self.random.choice(list(self.FIELDS)) for _ in range(self.random.randrange(1, 5))]

    def dtype(self, fields):
        return numpy.dtype([(f"f{i}", weft.entity if f == "entity" else f) for i, f in enumerate(fields)],
                           align=self.random.random() < 0.5)

    @property
    def switched(self):
        """The component that can be switched off."""
        return self.components[2][0]

    def component(self, name, number):
        fields = self.some_fields()
        words = self.KINDS[number]
        return self.world.component(name, self.dtype(fields), **words), fields, words.get("kind")

    @staticmethod
    def zero(field):
        return b"" if field == "S4" else 0.0 if field[0] == "f" else False if field == "?" else 0

    def number(self, field):
        """(what is given, what has to be there): REFUSED where the call has to fail."""
        pick = self.random.choice
        if field == "S4":
            return pick([("ab", b"ab"), (b"xyzw", b"xyzw"), ("", b""), ("ä", "ä".encode()), ("toolong", REFUSED), (5, REFUSED),
                         (None, REFUSED), (1.5, REFUSED)])
        if field == "entity":
            one = pick([*self.rows, 0])
            return pick([(one, int(one)), (numpy.uint64(one), int(one)), (one, int(one)), (1.0, REFUSED), (True, REFUSED),
                         (-1, REFUSED), (2 ** 64, REFUSED), (numpy.float64(1), REFUSED), ("x", REFUSED), (None, REFUSED)])
        if field == "?":
            return pick([(True, True), (0, False), (1.0, True), (numpy.bool_(True), True), (2, REFUSED), (-1, REFUSED),
                         (0.5, REFUSED), ("x", REFUSED)])
        if field[0] == "f":
            size = numpy.dtype(field).type
            return pick([(0.1, float(size(0.1))), (7, 7.0), (numpy.float64(1 / 3), float(size(1 / 3))), (True, 1.0),
                         (1e300, REFUSED if field == "f4" else 1e300), (float("inf"), float("inf")), (2 ** 24 + 1, float(size(2 ** 24 + 1))),
                         (10 ** 400, REFUSED), ("1", REFUSED), (1j, REFUSED), (None, REFUSED)])
        low, high = self.FIELDS[field]
        inside = self.random.randint(low, high)
        small = self.random.randint(0, 100)
        return pick([(inside, inside), (low, low), (high, high), (float(small), small), (numpy.int64(small), small),
                     (True, 1), (numpy.float32(small), small), (high + 1, REFUSED), (low - 1, REFUSED), (0.5, REFUSED),
                     (float("nan"), REFUSED), (float("-inf"), REFUSED), (1e30, REFUSED), ("3", REFUSED), (1j, REFUSED)])

    def value(self, fields, old):
        """(a value in some form, the tuple that it has to be). `old`: None where one is made."""
        given, wanted = zip(*[self.number(f) for f in fields])
        if self.random.random() < 0.6:  # mostly right
            while REFUSED in wanted:
                given, wanted = zip(*[self.number(f) for f in fields])
        form = self.random.choice(["tuple", "dict", "dict", "less", "more", "short"])
        if REFUSED in wanted:
            form = self.random.choice(["tuple", "dict"])
        names = [f"f{i}" for i in range(len(fields))]
        full = dict(zip(names, given))
        if form == "tuple":
            return given, REFUSED if REFUSED in wanted else wanted
        if form == "dict":
            return full, REFUSED if REFUSED in wanted else wanted
        if form == "more":
            return {**full, "nothing": 1}, REFUSED
        if form == "short":
            return given + (0,), REFUSED
        gone = self.random.choice(names)
        del full[gone]
        if old is None:
            return full, REFUSED
        return full, tuple(old[i] if name == gone else wanted[i] for i, name in enumerate(names))

    def elements(self, fields):
        rows = [self.value(fields, None) for _ in range(self.random.randrange(4))]
        wanted = [want for _, want in rows]
        return [given for given, _ in rows], REFUSED if any(want is REFUSED for want in wanted) else wanted

    def expect(self, wanted, call, keep):
        """The call is refused and changes nothing, or does what `keep` notes."""
        before = self.world.hash()
        try:
            got = call()
        except (TypeError, ValueError, OverflowError, KeyError) as error:
            if wanted is not REFUSED:
                raise AssertionError(f"refused, but right: {error}") from error
            if self.world.hash() != before:
                raise AssertionError(f"refused, but changed something: {error}") from error
            self.refused += 1
            return
        if wanted is REFUSED:
            raise AssertionError("accepted, but wrong")
        keep(got)

    def some(self):
        return self.random.choice(list(self.rows)) if self.rows else None

    def given(self, component, fields, kind, old):
        return self.elements(fields) if kind == "buffer" else self.value(fields, old)

    def one_call(self):
        component, fields, kind = self.random.choice(self.components)
        entity = self.some()
        call = self.random.choice([self.create, self.create, self.set, self.set, self.set, self.write, self.column,
                                   self.append, self.add, self.remove, self.destroy, self.set_resource, self.snapshot,
                                   self.record, self.record, self.foreign, self.step, self.relate, self.relate, self.copy,
                                   self.switch_off, self.switch_off, self.whole, self.whole,
                                   self.record_many, self.look_up, self.over_all, self.step_in_c, self.near, self.fill])
        if entity is None or len(self.rows) < 4 and self.random.random() < 0.5:
            call = self.create
        call(component, fields, kind, entity)
        self.check()

    def create(self, component, fields, kind, _):
        given, wanted = self.given(component, fields, kind, None)
        values, row = {component: given}, {component: wanted}
        if self.random.random() < 0.5:  # what can be switched off, and a shared value beside it
            for other, its_fields, _ in (self.components[2], self.components[4]):
                old = [row[other] for row in self.rows.values() if other in row]
                right = (old[0], old[0]) if old and self.random.random() < 0.7 else self.value(its_fields, None)
                while right[1] is REFUSED:
                    right = self.value(its_fields, None)
                if other is not component:
                    values[other], row[other] = right
        self.expect(wanted, lambda: self.world.create(values=values), lambda made: self.rows.update({made: row}))

    def set(self, component, fields, kind, entity):
        given, wanted = self.given(component, fields, kind, self.rows[entity].get(component))
        self.expect(wanted, lambda: self.world.set(entity, component, given),
                    lambda _: self.rows[entity].update({component: wanted}))

    def record(self, component, fields, kind, entity):
        given, wanted = self.given(component, fields, kind, None)
        commands = self.world.commands()
        if self.random.random() < 0.5:
            self.expect(wanted, lambda: (commands.set(entity, component, given), commands.play()),
                        lambda _: self.rows[entity].update({component: wanted}))
            return
        self.expect(wanted, lambda: (commands.create(values={component: given}, name="new"), commands.play()), self.found(
            component, wanted))

    def found(self, component, wanted):
        def keep(_):
            made = self.world.find("new")
            self.world.set_name(made, "")
            self.rows[made] = {component: wanted}
        return keep

    def append(self, component, fields, kind, entity):
        given, wanted = self.elements(fields)
        if kind != "buffer":
            wanted = REFUSED
        self.expect(wanted, lambda: self.world.append(entity, component, given),
                    lambda _: self.rows[entity].update({component: [*self.rows[entity].get(component, []), *wanted]}))

    def write(self, component, fields, kind, _):
        """One value for all rows of a query."""
        if kind is not None:
            return
        having = self.maybe_switched(component)
        query = self.world.query(write=[component], having=having)
        given, wanted = self.value(fields, None)
        if isinstance(given, dict) and len(given) < len(fields):
            return  # the fields stay: `set` has that
        self.expect(wanted, lambda: query.write(component, given), lambda _: self.all_rows(component, wanted, having))

    def maybe_switched(self, *beside):
        return [self.switched] if self.random.random() < 0.5 and self.switched not in beside else []

    def selected(self, *components):
        """The entities that a query of these selects."""
        return [e for e, row in self.rows.items() if all(c in row and (e, c) not in self.off for c in components)]

    def switch_off(self, component, fields, kind, entity):
        """One, some or all rows, at once or by commands."""
        is_on, component = self.random.random() < 0.4, self.random.choice([component, self.switched, self.switched])
        if component is not self.switched:
            self.expect(REFUSED, lambda: self.world.enable(entity, component, is_on), None)
            return
        have = [e for e, row in self.rows.items() if component in row]
        some = self.random.sample(have, min(len(have), self.random.randrange(1, 5)))
        if not some:
            return
        commands, query = self.world.commands(), self.world.query(present=[component])
        some, call = self.random.choice([
            (some[:1], lambda: self.world.enable(some[0], component, is_on)), (some, lambda: self.world.enable(some, component, is_on)),
            (some[:1], lambda: (commands.enable(some[0], component, is_on), commands.play())),
            (have, lambda: query.enable(component, is_on)),
            (have, lambda: (commands.all(query).enable(component, is_on), commands.play()))])
        pairs = {(one, component) for one in some}
        self.expect(None, call, lambda _: self.off.difference_update(pairs) if is_on else self.off.update(pairs))

    def whole(self, component, fields, kind, _):
        """A system with all rows: it sees those that are switched on, and the shared value of each."""
        other, _, other_kind = self.random.choice([*self.components, self.components[4], self.components[4]])
        read = [c for c, k in {component: kind, other: other_kind}.items() if k in (None, "shared")]
        having = self.maybe_switched(*read)
        wanted = self.selected(*read, *having)
        seen = []

        def run(s):
            seen.extend(s.entities.tolist())
            for c in read:
                got, values = s[c].tolist(), [self.rows[e][c] for e in seen]
                if got != values:
                    raise AssertionError(f"{c.name} of {seen} is {got}, not {values}")
        if read:
            self.world.system(run, name="whole", read=read, having=having, whole=True)
            self.stepped(0)
            self.world.remove_system("whole")
            if sorted(seen) != sorted(map(int, wanted)):
                raise AssertionError(f"{seen} are selected, not {wanted}")

    def column(self, component, fields, kind, _):
        if kind not in (None, "sparse") or not self.selected(component):
            return
        query = self.world.query(write=[component])
        given, wanted = self.value(fields, None)
        if isinstance(given, dict) and len(given) < len(fields):
            return  # the fields stay: `set` has that

        def assign(s):
            """The rows that are switched off have memory in the column, too: they keep their values."""
            off = None if s.enabled is None else ~s.enabled
            old = None if off is None else s[component][off].copy()
            s[component] = given
            if off is not None:
                s[component][off] = old
        self.expect(wanted, lambda: query.each(assign), lambda _: self.all_rows(component, wanted))

    def all_rows(self, component, wanted, having=()):
        for one in self.selected(component, *having):
            self.rows[one][component] = wanted

    def add(self, component, fields, kind, entity):
        self.world.add(entity, component)
        self.rows[entity].setdefault(component, [] if kind == "buffer" else tuple(self.zero(f) for f in fields))

    def remove(self, component, fields, kind, entity):
        self.world.remove(entity, component)
        self.note_removed(component, entity)
        self.rows[entity].pop(component, None)
        self.off.discard((entity, component))

    def note_removed(self, component, entity):
        if component is self.watched and component in self.rows[entity]:
            self.changes.append((int(entity), self.rows[entity][component]))

    def destroy(self, component, fields, kind, entity):
        self.world.destroy(entity)
        self.note_removed(self.watched, entity)
        del self.rows[entity]
        self.off.discard((entity, self.switched))
        self.targets = {one: None if target == entity else target for one, target in self.targets.items() if one != entity}
        self.world.settle()

    def relate(self, component, fields, kind, entity):
        many = self.random.sample(list(self.rows), min(len(self.rows), self.random.randrange(1, 4)))
        target = self.random.choice([None, *self.rows])
        self.world.relate(many, self.relation, target)
        self.targets.update(dict.fromkeys(many, target))
        self.world.settle()

    def copy(self, component, fields, kind, entity):
        """A copy has the values; where one names the entity, the copy's names the copy."""
        if self.random.random() < 0.5:
            made = self.world.instantiate(entity)
        else:
            made = self.world.instantiate(entity, 1)[0]
            made = weft.Entity(made)

        def moved(fields, value):
            return tuple(int(made) if f == "entity" and v == entity else v for f, v in zip(fields, value))
        kinds = {c: (fields, kind) for c, fields, kind in self.components}
        self.rows[made] = {c: [moved(kinds[c][0], one) for one in v] if kinds[c][1] == "buffer" else moved(kinds[c][0], v)
                           for c, v in self.rows[entity].items()}
        if (entity, self.switched) in self.off:
            self.off.add((made, self.switched))
        if entity in self.targets:
            self.targets[made] = made if self.targets[entity] == entity else self.targets[entity]
        self.world.settle()

    def record_many(self, component, fields, kind, entity):
        if kind == "buffer":
            return
        many = self.random.sample(list(self.rows), min(len(self.rows), self.random.randrange(4)))
        given, wanted = self.value(fields, None)
        commands = self.world.commands()

        def keep(_):
            for one in many:
                self.rows[one][component] = wanted
        self.expect(wanted, lambda: (commands.set(many, component, given), commands.play()), keep)

    def look_up(self, component, fields, kind, entity):
        if kind in ("buffer", "shared"):
            self.expect(REFUSED, lambda: self.world.look_up([entity], component), None)
            return
        many = [*self.rows, 0, 2 ** 64 - 1, int(entity) ^ 1 << 33]
        values, found = self.world.look_up(many, component)
        for one, value, is_there in zip(many, values.tolist(), found.tolist()):
            wanted = self.rows.get(one, {}).get(component)
            if is_there != (wanted is not None) or value != (wanted or tuple(self.zero(f) for f in fields)):
                raise AssertionError(f"look_up of {one}: {value} {is_there}, not {wanted}")

    def over_all(self, component, fields, kind, _):
        """A system over all rows."""
        if kind is not None or not any(component in row for row in self.rows.values()):
            return
        given, wanted = self.value(fields, None)
        if isinstance(given, dict) and len(given) < len(fields):
            return
        having = self.maybe_switched(component)
        if not self.selected(component, *having):
            return
        self.world.system(lambda s: s.__setitem__(component, given), name="all", write=[component], having=having, whole=True)
        try:
            self.expect(wanted, lambda: self.stepped(0), lambda _: self.all_rows(component, wanted, having))
        finally:
            self.world.remove_system("all")

    def stepped(self, dt):
        """A step, of which the group counts the time, whatever else fails."""
        self.left += dt
        self.wanted_ticks += int(self.left / 0.25)
        self.left %= 0.25
        self.world.step(dt)

    def step_in_c(self, *_):
        self.world.set_resource(self.switch, 1)
        self.stepped(self.random.choice([0, 0.125, 0.5]))
        self.world.set_resource(self.switch, 0)
        for row in self.rows.values():
            if self.compiled in row:
                number, real = row[self.compiled]
                row[self.compiled] = ((number * 3 + 1 + 2 ** 31) % 2 ** 32 - 2 ** 31, -real)
        if self.ticks != self.wanted_ticks:
            raise AssertionError(f"{self.ticks} runs of a group, not {self.wanted_ticks}")

    def near(self, *_):
        """Neighbours as two loops find them."""
        at = numpy.random.default_rng(self.random.randrange(2 ** 32)).random((self.random.randrange(30), 2)) * 5
        within = self.random.choice([0.3, 1.0])
        grid = weft.Grid((0, 0), (5, 5), 1)
        grid.build(at)
        i, j = grid.pairs(within=within)
        d = at[:, None, :] - at[None, :, :]
        wanted = [(a, b) for a, b in zip(*numpy.nonzero((d * d).sum(axis=2) < within * within)) if a != b]
        if sorted(zip(i.tolist(), j.tolist())) != sorted((int(a), int(b)) for a, b in wanted):
            raise AssertionError(f"{len(i)} pairs, not {len(wanted)}")

    def fill(self, *_):
        """An entity of a document."""
        if self.random.random() < 0.8:
            return
        number = self.random.randrange(-100, 100)
        path = FILES + "/model.weft"
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"weft": 1, "objects": {"one": {"K": {"f0": %d, "f1": 0.5}}}}' % number)
        scene = self.world.scene(path)
        scene.fill()
        self.rows[scene.entity("one")] = {self.compiled: (number, 0.5)}

    def set_resource(self, *_):
        given, wanted = self.value(self.fields_of_resource, self.resource_value)

        def keep(_):
            self.resource_value = wanted
        self.expect(wanted, lambda: self.world.set_resource(self.resource, given), keep)

    def snapshot(self, *_):
        if self.saved is None or self.random.random() < 0.5:
            self.saved = (self.world.snapshot(), {e: dict(row) for e, row in self.rows.items()}, self.resource_value, dict(self.targets), set(self.off))
        else:
            snapshot, rows, self.resource_value, targets, off = self.saved
            self.world.restore(snapshot)
            self.off = set(off)
            self.rows, self.targets = {e: dict(row) for e, row in rows.items()}, dict(targets)
            self.world.settle()
            self.world.run_observers()
            self.told, self.changes = [], []  # of what the snapshot took away

    def foreign(self, component, fields, kind, entity):
        self.expect(REFUSED, lambda: self.world.set(entity, self.other, 1), None)

    def step(self, component, fields, kind, entity):
        """A system that writes the resource, changes an entity and maybe fails."""
        given, wanted = self.given(component, fields, kind, None)
        is_failing = self.random.random() < 0.3

        def run(c):
            c.commands.set(entity, component, given)
            if is_failing:
                raise KeyError("the system's own")

        self.world.system(run, name="s")
        try:
            self.expect(REFUSED if is_failing else wanted, lambda: self.stepped(0),
                        lambda _: self.rows[entity].update({component: wanted}))
        finally:
            self.world.remove_system("s")

    def check(self):
        """Every value is the one that was given."""
        for entity, row in self.rows.items():
            for component, fields, kind in self.components:
                got = self.world.get(entity, component)
                wanted = row.get(component)
                got = None if got is None else got.tolist()
                if got != wanted:
                    raise AssertionError(f"{entity}.{component.name} ({component.dtype}) is {got}, not {wanted}")
                self.checked += 1
            is_on = self.switched in row and (entity, self.switched) not in self.off
            if self.world.is_enabled(entity, self.switched) != is_on:
                raise AssertionError(f"{entity}.{self.switched.name} is {'off' if is_on else 'on'}")
        self.world.run_observers()
        if sorted(self.told, key=repr) != sorted(self.changes, key=repr):
            raise AssertionError(f"observers were told {self.told}, not {self.changes}")
        self.told, self.changes = [], []
        for entity in self.rows:
            got, wanted = self.world.target(entity, self.relation), self.targets.get(entity)
            if got != wanted:
                raise AssertionError(f"the target of {entity} is {got}, not {wanted}")
        got = self.world.get_resource(self.resource).tolist()
        if got != self.resource_value:
            raise AssertionError(f"the resource is {got}, not {self.resource_value}")

    def run(self, calls):
        for _ in range(calls):
            self.one_call()
        self.world._native.validate()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--scripts", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=40)
    args = parser.parse_args()
    done = refused = checked = wrong = 0
    numpy.seterr(all="ignore")
    os.environ.setdefault("WEFT_CACHE", FILES + "/cache")
    atexit.register(shutil.rmtree, FILES, True)
    for seed in range(args.seed, args.seed + args.scripts):
        script = Script(seed)
        try:
            script.run(args.calls)
            model = Model(seed)
            model.run(args.calls // 2)
        except BaseException:
            print(f"repeat: misuse.py --scripts 1 --seed {seed} --calls {args.calls}", file=sys.stderr)
            raise
        done, refused = done + script.done, refused + script.refused
        checked, wrong = checked + model.checked, wrong + model.refused
    print(f"{args.scripts} scripts, {done + refused} calls, {refused} refused, no crash; the model: {checked} values, "
          f"{wrong} wrong ones refused")
    if not 0.1 < refused / (done + refused) < 0.95:
        sys.exit("FAILED: the scripts do not both succeed and fail")


if __name__ == "__main__":
    main()
