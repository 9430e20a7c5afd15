#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""places.py PROGRAM [FILE ...]: glTF files, filled into a world and stepped, stand where this reader says.

It reads the nodes by itself (glTF 2.0, 3.5.2), in double precision, and shares no code with the library.
PROGRAM is places.c. Files: generated ones, and those given that exist. WEFT_TEST_SEED=N changes the draws."""
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

UNIT = [1.0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]


def times(a, b):
    return [sum(a[4 * i + m] * b[4 * m + k] for m in range(3)) + (a[4 * i + 3] if k == 3 else 0)
            for i in range(3) for k in range(4)]


def of_parts(t, q, s):
    length = math.sqrt(sum(c * c for c in q))
    x, y, z, w = (c / length for c in q)
    turn = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]
    return [turn[i][k] * s[k] if k < 3 else t[i] for i in range(3) for k in range(4)]


def place(node):
    if "matrix" in node:
        m = node["matrix"]
        return [m[4 * k + i] for i in range(3) for k in range(4)]
    return of_parts(node.get("translation", [0, 0, 0]), node.get("rotation", [0, 0, 0, 1]), node.get("scale", [1, 1, 1]))


def scales(m):
    return [math.sqrt(sum(m[4 * i + k] ** 2 for i in range(3))) for k in range(3)]


def is_even(m):
    """As far as signs do not matter: a root with other scales is static, and what is below stays."""
    s = scales(m)
    det = (m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) + m[2] * (m[4] * m[9] - m[5] * m[8]))
    return max(s) - min(s) <= 2e-5 * max(s), det < 0


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:4] == b"glTF":
        data = data[20:20 + struct.unpack("<I", data[12:16])[0]]
    return json.loads(data)


def legal(name, word, number):
    if not name:
        return word + str(number)
    out = "".join("_" if c in "/#" or ord(c) < 32 else c for c in name)
    return "_" + out[1:] if out[0] == "." else out


def expected(file):
    """{path: (matrix, does a shift of what has no parent move it)}"""
    nodes, scenes, found = file.get("nodes", []), file.get("scenes", []), {}
    done, used = set(), {}

    def name_in(above, name):
        names, number, made = used.setdefault(above, set()), 2, name
        while made in names:
            made, number = "%s~%d" % (name, number), number + 1
        names.add(made)
        return made

    def visit(number, above, matrix, moves):
        if number in done:
            return
        done.add(number)
        node = nodes[number]
        path = above + name_in(above, legal(node.get("name", ""), "node", number))
        own = place(node)
        here = times(matrix, own)
        if moves is None:
            moves = file["moves"](number, own)
        found[path] = (here, moves)
        for child in node.get("children", []):
            visit(child, path + "/", here, moves)

    roots = [s.get("nodes", []) for s in scenes]
    if not scenes:
        below = {c for n in nodes for c in n.get("children", [])}
        roots = [[i for i in range(len(nodes)) if i not in below]]
    for i, list_ in enumerate(roots):
        above = "" if len(roots) == 1 else name_in("", legal(scenes[i].get("name", ""), "scene", i)) + "/"
        for number in list_:
            visit(number, above, UNIT, None)
    return found


def moves(number, own):
    even, is_mirror = is_even(own)
    return even and not is_mirror


def turn(draw):
    q = [draw.gauss(0, 1) for _ in range(4)]
    length = math.sqrt(sum(c * c for c in q))
    return [c / length for c in q]


def generate(draw):
    """A forest with even, unequal and mirrored scales, as parts or as matrices. Roots never mirror."""
    nodes = []
    for i in range(draw.randint(1, 30)):
        above = draw.randrange(i) if i and draw.random() < 0.8 else None
        node = {"name": draw.choice(["a", "b", "leaf", "n%d" % i])}
        kind = draw.random()
        one = draw.uniform(0.3, 3)
        scale = [one] * 3 if kind < 0.5 else [draw.uniform(0.3, 3) for _ in range(3)]
        if above is not None and kind > 0.9:
            scale[draw.randrange(3)] *= -1
        t, q = [draw.uniform(-5, 5) for _ in range(3)], turn(draw)
        if draw.random() < 0.3:
            m = of_parts(t, q, scale)
            node["matrix"] = [m[4 * i + k] if i < 3 else float(k == 3) for k in range(4) for i in range(4)]
        else:
            if draw.random() < 0.8:
                node["translation"] = t
            if draw.random() < 0.8:
                node["rotation"] = q
            if draw.random() < 0.8:
                node["scale"] = scale
        nodes.append(node)
        if above is not None:
            nodes[above].setdefault("children", []).append(i)
    file = {"asset": {"version": "2.0"}, "nodes": nodes}
    roots = [i for i in range(len(nodes)) if not any(i in n.get("children", []) for n in nodes)]
    if draw.random() < 0.7:
        count = draw.randint(1, 2)
        file["scenes"] = [{"nodes": roots[i::count]} for i in range(count)]
    return file


def check(program, path):
    file = read(path)
    want = expected(dict(file, moves=moves))
    got = subprocess.run([program, path], capture_output=True, text=True)
    if got.returncode != 0:
        return "%s: status %d: %s" % (path, got.returncode, got.stderr[:400])
    seen = 0
    for line in got.stdout.splitlines():
        when, *rest = line.split(" ", 13)
        matrix, name = [float(c) for c in rest[:12]], rest[12]
        here, does_move = want[name]
        shift = when == "moved" and does_move
        here = [c + (i // 4 + 1 if shift and i % 4 == 3 else 0) for i, c in enumerate(here)]
        most = 1e-4 * (1 + max(abs(c) for c in here))
        if max(abs(a - b) for a, b in zip(matrix, here)) > most:
            return "%s: %s, %s:\n  is   %s\n  want %s" % (path, name, when, matrix, here)
        seen += 1
    if seen != 6 * len(want):
        return "%s: %d places told, %d nodes, 6 times each" % (path, seen, len(want))
    return None


def main():
    program, given = sys.argv[1], [f for f in sys.argv[2:] if os.path.exists(f)]
    seed = int(os.environ.get("WEFT_TEST_SEED", "1"), 0)
    problems, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(60):
            path = os.path.join(folder, "g%d.gltf" % i)
            with open(path, "w") as f:
                json.dump(generate(random.Random(seed * 1000 + i)), f)
            given.append(path)
        for path in given:
            problem = check(program, path)
            problems += [problem] if problem else []
            count += 1
    for problem in problems[:3]:
        print("FAILED: " + problem)
    print("%d files, %d wrong (WEFT_TEST_SEED=%d)" % (count, len(problems), seed))
    return 1 if problems else 0


sys.exit(main())
