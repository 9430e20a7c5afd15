#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""refused.py ROOT [--why FUNCTION]: every public function that may take memory, start a thread or write a file is in a net
of refused memory or failing files, or has a reason in refused.txt.

What a function reaches is read from the sources: a function or table at the left edge reaches each name in its body that is one of
its file, or of its layer and those below. In a net is what the tables of the tests (NETS) name, and call. refused.txt has lines
`FUNCTION reason`; `within FILE FUNCTION ...`: systems, bakers or jobs of that test call them, in the functions of its table; and
`through FUNCTION reason`: ways through that function do not count. A line that says nothing new fails, and so does `not yet`.
--why prints the way from a function to the memory. Then the check is checked: an invented function must be named.
"""
import glob
import os
import re
import shutil
import sys
import tempfile

# From the bottom up: a layer sees itself and what stands before it, but for NEIGHBOURS.
LAYERS = ("jobs/base", "ecs/blob", "jobs", "ecs", "scheduler", "ecs/scene", "scheduler/shard", "tools/inspect")
NEIGHBOURS = {("scheduler/shard", "ecs/scene")}
NETS = ("tests/*/test_refused*.c", "tests/tools/test_file_faults.c")
LIST = "tests/platform/refused.txt"
TAKES = re.compile(r"hook\.allocate\(|below\.allocate\(|->map\(|thread_start\(|files->open_write\(|MHD_start_daemon\(|"
                   r"\b(?:malloc|calloc|realloc|posix_memalign|strdup|fopen|open_memstream)\(|"
                   r"\bWEFT__(?:LIST|SCENE)_(?:ROOM|APPEND|ADD|REACH)\(")
BLOCK = re.compile(r"^(?!#|typedef|struct|enum|union|extern \"|\s|\}|/)([^\n;{=]*(?:\n[^\n;{}=]+)*?)"
                   r"(?:\n?\{\n(.*?)^\}|\s*=([^;]*);)", re.S | re.M)
PUBLIC = re.compile(r"^(?:WEFT_API|static inline|WEFT_FINDER_INLINE|extern inline)[^;{]*?\b(weft_\w+[a-z0-9])\s*\(", re.M)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def code_of(path):
    """Without comments and the contents of texts."""
    text = re.sub(r"/\*.*?\*/", "", read(path), flags=re.S)
    return re.sub(r"//.*", "", re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text))


def name_of(head, is_function):
    if not is_function:
        found = re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", head)
    else:
        found = re.search(r"(\w+)\s*\(", re.sub(r"__attribute__\(\(.*?\)\)", "", head))
    return found and found[1]


def blocks(root):
    """{(layer, file, name): body} of functions and tables, and the public functions: {name: header}."""
    bodies, public = {}, {}
    for layer in LAYERS:
        for folder in ("include", "engine", "src"):
            for path in sorted(glob.glob(f"{root}/{layer}/{folder}/**/*.[ch]", recursive=True)):
                code = code_of(path)
                for found in BLOCK.finditer(code):
                    name = name_of(found[1], found[2] is not None)
                    if name:
                        bodies[layer, path, name] = found[2] or found[3] or ""
                if folder == "include":
                    public.update((name, os.path.basename(path)) for name in PUBLIC.findall(code))
    return bodies, public


def sees(layer, other):
    return LAYERS.index(other) <= LAYERS.index(layer) and (layer, other) not in NEIGHBOURS


def reached(bodies, cut):
    """{name: the next name on the way to what takes memory}, not through the names of `cut`."""
    where, callers = {}, {}
    for key in bodies:
        where.setdefault(key[2], []).append(key)
    for key, body in bodies.items():
        for word in set(re.findall(r"\b\w+\b", body)) - {key[2]}:
            known = where.get(word, [])
            own = [other for other in known if other[1] == key[1]]
            for other in own or ([other for other in known if sees(key[0], other[0])] if word.startswith("weft") else []):
                callers.setdefault(other, set()).add(key)
    following = {key: None for key, body in bodies.items() if TAKES.search(body) and key[2] not in cut}
    todo = sorted(following)
    while todo:
        key = todo.pop(0)
        for caller in sorted(callers.get(key, ())):
            if caller not in following and caller[2] not in cut:
                following[caller] = key
                todo.append(caller)
    return following


def nets(root, within):
    """{function: file}, and the functions that are named and that nothing in the file calls, not by a macro either."""
    found, empty, macros = {}, [], {}
    for path in glob.glob(f"{root}/*/include/weft/*.h") + glob.glob(f"{root}/*/*/include/weft/*.h"):
        macros.update(re.findall(r"^#define (WEFT_\w+)\(((?:\\\n|.)*)", code_of(path), re.M))
    for pattern in NETS:
        for path in sorted(glob.glob(os.path.join(root, pattern))):
            text = read(path)
            fixtures = [os.path.join(os.path.dirname(path), name) for name in re.findall(r'#include "(\w+\.h)"', text)]
            code = "".join(code_of(each) for each in [path, *fixtures] if os.path.exists(each))
            code += "".join(macros.get(word, "") for word in set(re.findall(r"\bWEFT_\w+", code)))
            file = os.path.relpath(path, root)
            names = re.findall(r'^ *\{(?:\.name = )?"(weft_\w+)', text, re.M)
            for name in names + within.get(file, []):
                found.setdefault(name, file)
                if not re.search(rf"\b{name}\b", code):
                    empty.append(f"{file}: {name} is named, and nothing there calls it")
    return found, empty


def listed(root):
    """What refused.txt says: {function: reason}, {function that is cut: reason}, {file: functions}."""
    reasons, cut, within = {}, {}, {}
    for line in read(os.path.join(root, LIST)).splitlines():
        words = line.split(" ")
        if words[0] == "within":
            within.setdefault(words[1], []).extend(words[2:])
        elif line and not line.startswith("#"):
            to, words = (cut, words[1:]) if words[0] == "through" else (reasons, words)
            to[words[0]] = " ".join(words[1:])
    return reasons, cut, within


def problems(root):
    bodies, public = blocks(root)
    reasons, cut, within = listed(root)
    in_net, found = nets(root, within)
    taking = {key[2] for key in reached(bodies, cut)} & public.keys()
    found += [f"{public[name]}: {name} may take memory or write a file: neither in a net ({', '.join(NETS)}) nor in {LIST}"
              for name in sorted(taking - in_net.keys() - reasons.keys())]
    found += [f"{LIST}: {name} has no body that this script sees" for name in sorted(public.keys() - {key[2] for key in bodies})]
    for name, reason in reasons.items():
        if reason in ("", "not yet") or name not in taking or name in in_net:
            found.append(f"{LIST}: {name}: " + ("says no reason" if reason in ("", "not yet") else "is in a net: take it out" if name in in_net else
                                                "takes no memory, or is no public function: take it out"))
    for name, reason in cut.items():
        less = reached(bodies, cut.keys() - {name})
        if not reason or not {key[2] for key in less} & public.keys() - taking:
            found.append(f"{LIST}: through {name}: no function needs it, or it says no reason")
    found += [f"{file}: {name} is no public function" for name, file in in_net.items() if name not in public]
    return found, public, taking, in_net, reasons


def self_test(root):
    with tempfile.TemporaryDirectory() as copy:
        for folder in LAYERS + ("tests",):
            shutil.copytree(os.path.join(root, folder), os.path.join(copy, folder), dirs_exist_ok=True)
        with open(os.path.join(copy, "ecs/include/weft/entity.h"), "a", encoding="utf-8") as file:
            file.write("WEFT_API void weft_entity_invented(void);\n")
        with open(os.path.join(copy, "ecs/src/world/world.c"), "a", encoding="utf-8") as file:
            file.write("static void *taken(void)\n{\n    return malloc(3);\n}\n\n"
                       "void weft_entity_invented(void)\n{\n    taken();\n}\n")
        found = []
        for reason in ("", "weft_entity_invented not yet\n"):
            with open(os.path.join(copy, LIST), "a", encoding="utf-8") as file:
                file.write(reason)
            new = [line for line in problems(copy)[0] if "weft_entity_invented" in line]
            found += [] if len(new) == 1 else [f"self test: the invented function gives {new}"]
        return found


def why(root, name):
    following = reached(blocks(root)[0], listed(root)[1])
    for key in following:
        way = []
        while key is not None and (way or key[2] == name):
            way.append(key[2])
            key = following[key]
        if way:
            print(" > ".join(way))


def main():
    root = sys.argv[1]
    if "--why" in sys.argv:
        why(root, sys.argv[-1])
        return 0
    found, public, taking, in_net, reasons = problems(root)
    found += self_test(root)
    print("\n".join(found))
    print(f"{len(public)} functions: {len(taking)} may take memory, of which {len(taking & in_net.keys())} are in a net, "
          f"{len(reasons)} have a reason; {len(found)} problems")
    return 1 if found or not taking else 0


if __name__ == "__main__":
    sys.exit(main())
