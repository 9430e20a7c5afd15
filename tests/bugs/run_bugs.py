"""run_bugs.py SOURCE_DIR BUILD_DIR CATALOGUE.bugs ... [--only NAME]: seeds bugs and demands that the
explorer catches each by the scenario named in the catalogue.

Every entry is applied to a copy of the sources; what depends on the changed file is compiled again
with hooked atomics and linked with the explorer's other objects; the scenario must fail. An entry
whose old text is not found exactly once is stale and fails loudly. Two at a time.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

LIMIT_SECONDS = 240  # only ends what hangs; a hang is not a catch
FLAGS = ["-std=gnu17", "-O1", "-w", "-fsanitize=thread", "-D_GNU_SOURCE", "-DWEFT_CHECKED=1",
         "-DWEFT_ATOMICS_HOOKED=1", "-include", "assert.h"]
LAYERS = ["jobs/base", "jobs", "ecs", "scheduler"]
SPACE = r"\s*(?:/\*[^*]*\*/\s*)*"  # comments after a line of the old text do not count


def parse(path):
    entries, entry = [], None
    with open(path) as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            word, _, rest = line.partition(" ")
            if not line or word == "#" or line.startswith("#"):
                continue
            if word == "bug":
                entry = {"name": rest, "hunks": [], "place": "%s:%d" % (path, number)}
                entries.append(entry)
            elif word == "-":
                if not entry["hunks"] or entry["hunks"][-1][1]:
                    entry["hunks"].append(([], []))
                entry["hunks"][-1][0].append(rest)
            elif word == "+":
                entry["hunks"][-1][1].append(rest)
            elif word in ("file", "caught"):
                entry[word] = rest
            else:
                sys.exit("%s:%d: cannot read: %s" % (path, number, line))
    return entries


def pattern(lines):
    words = [r"\s+".join(re.escape(w) for w in line.split()) for line in lines]
    return re.compile(SPACE.join(words))


class Tree:
    """Where things are."""

    def __init__(self, source, build):
        self.source, self.build = source, os.path.join(build, "tests", "explore")

    def program(self, name):
        with open(os.path.join(self.build, "explore_%s.txt" % name)) as file:
            sources, defines = (line.split() for line in file.read().split("\n")[:2])
        return sources, ["-D" + d for d in defines]

    def object_of(self, name, path):
        """The object that the build made of a source."""
        inside = os.path.relpath(path, self.source)
        if inside.startswith("tests/explore/"):
            tail = os.path.basename(path)
        else:
            tail = os.path.join("__", "__", inside)
        return os.path.join(self.build, "CMakeFiles", "explore_%s.dir" % name, tail + ".o")


def users_of(header, sources, source_dir):
    """The sources that see a header, directly or through others."""
    seen, wanted = {}, os.path.basename(header)

    def sees(path):
        if path in seen:
            return seen[path]
        seen[path] = False
        with open(path) as file:
            names = re.findall(r'#include "([^"]+)"', file.read())
        for name in names:
            if name == wanted:
                seen[path] = True
            for layer in LAYERS:
                below = os.path.join(source_dir, layer, "src", name)
                if os.path.exists(below) and sees(below):
                    seen[path] = True
        return seen[path]

    return [s for s in sources if sees(s)]


def check(tree, entry):
    start = time.time()
    with open(os.path.join(tree.source, entry["file"])) as file:
        text = file.read()
    for old, new in entry["hunks"]:
        found = pattern(old).findall(text)
        if len(found) != 1:
            return False, "stale: occurs %d times in %s: %s" % (len(found), entry["file"], old[0])
        text = pattern(old).sub(lambda _: "\n".join(new), text)
    program, scenario = entry["caught"].split()
    sources, defines = tree.program(program)
    with tempfile.TemporaryDirectory() as copy:
        for layer in LAYERS:
            for part in ("src", "include"):
                shutil.copytree(os.path.join(tree.source, layer, part),
                                os.path.join(copy, layer, part))
        with open(os.path.join(copy, entry["file"]), "w") as file:
            file.write(text)
        if entry["file"].endswith(".h"):
            changed = users_of(entry["file"], sources, tree.source)
        else:
            changed = [os.path.join(tree.source, entry["file"])]
        includes = ["-I" + os.path.join(copy, l, p) for l in LAYERS for p in ("src", "include")]
        objects = []
        for number, source in enumerate(sources):
            if source not in changed:
                objects.append(tree.object_of(program, source))
                continue
            inside = os.path.relpath(source, tree.source)
            path = os.path.join(copy, inside)
            if not os.path.exists(path):
                path = source
            objects.append(os.path.join(copy, "%d.o" % number))
            out = subprocess.run(
                ["cc", *FLAGS, *defines, *includes, "-I" + os.path.join(tree.source, "tests/explore"),
                 "-c", path, "-o", objects[-1]], capture_output=True, text=True)
            if out.returncode != 0:
                return False, "does not compile: " + out.stderr[:500]
        binary = os.path.join(copy, "program")
        out = subprocess.run(["cc", "-o", binary, *objects, os.path.join(tree.build, "libweft_explore.a"),
                              os.path.join(tree.build, "libweft_explore_base.a"), "-lpthread"],
                             capture_output=True, text=True)
        if out.returncode != 0:
            return False, "does not link: " + out.stderr[:500]
        try:
            out = subprocess.run([binary, "--brief", "--first", scenario], capture_output=True,
                                 text=True, timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            return False, "hangs without a failure"
    failure = re.search(r"^FAILED %s: (.*)$" % scenario, out.stdout, re.M)
    if out.returncode == 0 or not failure:
        return False, "NOT CAUGHT by %s" % scenario
    return True, "%5.2f s  %s: %s" % (time.time() - start, scenario, failure.group(1)[:90])


def main():
    arguments = sys.argv[1:]
    only = None
    if "--only" in arguments:
        at = arguments.index("--only")
        only = arguments[at + 1]
        del arguments[at:at + 2]
    tree = Tree(os.path.abspath(arguments[0]), os.path.abspath(arguments[1]))
    entries = [e for path in arguments[2:] for e in parse(path) if only in (None, e["name"])]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for entry, (good, note) in zip(entries, pool.map(lambda e: check(tree, e), entries)):
            failed += not good
            print("%-8s %-36s %s" % ("caught" if good else "FAILED", entry["name"], note))
            sys.stdout.flush()
    print("%d seeded bugs, %d caught" % (len(entries), len(entries) - failed))
    return 1 if failed or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
