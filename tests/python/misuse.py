# SPDX-License-Identifier: MIT
"""misuse.py [--scripts N] [--seed S]: random scripts that use weft wrongly: stale entities, views kept
behind their loops, closed worlds, values of other shapes, calls inside loops and systems. Whatever
they do is an exception of the kinds below; the process does not crash, and the world stays valid."""
import argparse
import random
import sys
import threading

import numpy

import weft

EXPECTED = (weft.Error, BufferError, ValueError, TypeError, KeyError, IndexError, OverflowError, RuntimeError,
            OSError, AttributeError, MemoryError)
JUNK = [None, -1, 0, 2 ** 31, 2 ** 64, 1.5, float("nan"), "", "x", b"", b"\0" * 7, [], [1], {}, (), object(),
        numpy.zeros(3), numpy.zeros((2, 2)), "a\0b", "\udc80", "y" * 300, True]


class Script:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.worlds, self.components, self.entities = [], [], []
        self.queries, self.loops, self.slices, self.views = [], [], [], []
        self.snapshots, self.recorders, self.files = [], [], []
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
        kind = self.random.choice(["f4", "3f4", [("a", "i4"), ("b", "f8")], weft.entity, "u1", "O", ">f4", "S3", ()])
        name = self.random.choice(["P", "V", "W", ""])
        world = self.world()
        call = self.random.choice([lambda: world.component(name, kind, self.random.random() < 0.3),
                                   lambda: world.tag(name), lambda: world.resource(name, kind)])
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
            lambda: world.has(entity, component), lambda: world.enable(entity, component, False),
            lambda: world.set_name(entity, self.random.choice(["n", "", "z" * 99, "\udc80"])),
            lambda: world.name(entity), lambda: world.find("n"), lambda: world.is_alive(entity),
            lambda: world.get_resource(component), lambda: world.set_resource(component, self.value()),
            lambda: world.add(self.entities, component)])()

    def new_query(self):
        keys = self.random.sample(["write", "read", "optional", "having", "without", "any"], 2)
        self.queries.append(self.world().query(**{key: self.some(self.components) for key in keys}))

    def use_query(self):
        query, component = self.junk(self.queries), self.junk(self.components)
        self.random.choice([lambda: len(query), lambda: query.entities, lambda: query.read(component),
                            lambda: query.write(component, self.value()),
                            lambda: query.write(component, numpy.ones((len(query), 3))),
                            lambda: query.each(self.use_slice)])()

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
            world.system(action, name="s", before=self.random.random() < 0.5, write=self.some(self.components))

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
                            lambda: c.set(entity, component, self.value()), c.play, c.play])()

    def file(self):
        world = self.world()
        if self.random.random() < 0.5:
            self.files.append(world.save())
        elif self.random.random() < 0.5:
            world.load(self.junk(self.files))
        else:
            data = bytearray(self.junk(self.files))
            data[self.random.randrange(len(data))] ^= 1 << self.random.randrange(8)
            world.load(data)

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
        except EXPECTED:
            self.refused += 1
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
    (S.new_world, 2), (S.new_component, 8), (S.create, 10), (S.change, 14), (S.new_query, 8), (S.use_query, 6), (S.begin, 6),
    (S.advance, 8), (S.end, 5), (S.use_slice, 8), (S.use_view, 5), (S.drop, 5), (S.step, 5), (S.new_system, 3),
    (S.snapshot, 4), (S.record, 8), (S.file, 4), (S.close, 1), (S.load_c, 1), (S.from_a_thread, 1), (S.beside_a_step, 1))
    for _ in range(weight)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--scripts", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=40)
    args = parser.parse_args()
    done = refused = 0
    numpy.seterr(all="ignore")
    for seed in range(args.seed, args.seed + args.scripts):
        script = Script(seed)
        try:
            script.run(args.calls)
        except BaseException:
            print(f"repeat: misuse.py --scripts 1 --seed {seed} --calls {args.calls}", file=sys.stderr)
            raise
        done, refused = done + script.done, refused + script.refused
    print(f"{args.scripts} scripts, {done + refused} calls, {refused} refused, no crash")
    if not 0.1 < refused / (done + refused) < 0.95:
        sys.exit("FAILED: the scripts do not both succeed and fail")


if __name__ == "__main__":
    main()
