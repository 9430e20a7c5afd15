# SPDX-License-Identifier: MIT
"""run_bugs.py SOURCE_DIR BUILD_DIR CATALOGUE.bugs ... [--only NAME] [--of FILE,...] [--share N]: seeds bugs and
demands that the check named in the catalogue catches each. --of: those that lie in one of the files, or that one of them (a test) must
catch. --share: one in N, another share for another commit (WEFT_TURN, as ./check sets it), and as many again of those that concern files
of the last ten commits, and none begins after SHARE_SECONDS; all with WEFT_DEEP in the environment. run_bugs.py SOURCE_DIR --places CATALOGUE.bugs ...: whether each entry has its place; compiles nothing.

Every entry is applied to a copy of the file; what depends on it is compiled again, quickly (-O1).
`caught PROGRAM SCENARIO`: with hooked atomics, linked with the explorer's other objects; the scenario
must fail. `caught test FILE`: as the build compiles it, linked with the objects of that test
(tests/<layer>/test_*.c); the test must fail or die. Two at a time.

Where an entry belongs: its old text occurs exactly once in its file. When the file is gone, or the text is not in it, the
code has moved: the entry belongs to the one file of the layer (of all layers, if there is none) that has every old text,
each exactly once; a note says which. Anything else is stale and fails loudly.
"""
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zlib

SHARE_SECONDS = 30  # of a share: a slow machine tries fewer
LIMIT_SECONDS = 240  # only ends what hangs; a hang is not a catch
FLAGS = ["-std=gnu17", "-O1", "-w", "-fsanitize=thread", "-D_GNU_SOURCE", "-DWEFT_CHECKED=1",
         "-DWEFT_ATOMICS_HOOKED=1", "-include", "assert.h"]
QUICK = ["-O1", "-g0", "-w"]  # of a test: after the words of the build
LINKER = ["-fuse-ld=lld", "-Wl,-S"] if shutil.which("ld.lld") else []
LAYERS = ["jobs/base", "jobs", "ecs/blob", "ecs/scene", "ecs", "scheduler/shard", "scheduler"]
TOPS = ["jobs", "ecs", "scheduler", "tools"]  # where code may move to
FUNCTION = re.compile(r"^[A-Za-z_][^\n;{}#]*?\b(?!__attribute__)(\w+)\([^;{}]*\)\n\{\n(.*?)^\}", re.M | re.S)  # at the left margin
MACRO = re.compile(r"^#define (\w+)(?:.*\\\n)*.*$", re.M)
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
            elif word in ("file", "caught", "users"):
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
        self.source, self.top, self.build = source, build, os.path.join(build, "tests", "explore")
        self.commands, self.unchanged, self.asked, self.texts, self.lock = {}, {}, {}, {}, threading.Lock()
        path = os.path.join(build, "compile_commands.json")
        if os.path.exists(path):
            with open(path) as file:
                for entry in json.load(file):
                    if "/explore_" not in entry["command"]:
                        self.commands.setdefault(entry["file"], entry["command"])

    def program(self, name):
        with open(os.path.join(self.build, "explore_%s.txt" % name)) as file:
            sources, defines = (line.split() for line in file.read().split("\n")[:2])
        return sources, ["-D" + d for d in defines]

    def object_of(self, name, path):
        """The object that the build made of a source."""
        inside = os.path.relpath(path, self.source)
        if inside.startswith("tests/explore/"):
            target, tail = "explore_%s" % name, os.path.basename(path)
        else:
            with open(os.path.join(self.build, "explore_%s.txt" % name)) as file:
                target, tail = file.read().split("\n")[3], os.path.join("__", "__", inside)
        return os.path.join(self.build, "CMakeFiles", "%s.dir" % target, tail + ".o")


def private_folders(top):
    """The folders of every layer that hold sources, and those of its public headers."""
    found = []
    for layer in LAYERS:
        found += [os.path.join(top, layer, part) for part in ("include", "engine")
                  if os.path.isdir(os.path.join(top, layer, part))]
        found += [folder for folder, _, files in os.walk(os.path.join(top, layer, "src")) if files]
    return found


def functions_changed(entry, text):
    """The functions of a header in which the hunks lie, and what else of the header uses them: functions and macros. None: a
    hunk lies outside of functions, or something else uses them, so that all that see the header have to be compiled."""
    bodies = [(found[1], found.start(2), found.end(2)) for found in FUNCTION.finditer(text)]
    names, outside, end = set(), [], 0
    for old, _ in entry["hunks"]:
        found = pattern(old).search(text)
        inside = [name for name, start, stop in bodies if start <= found.start() and found.end() <= stop]
        if not inside:
            return None
        names.add(inside[0])
    for _, start, stop in bodies:
        outside.append(text[end:start])
        end = stop
    outside = "".join([*outside, text[end:]])
    macros = [(found[1], found[0]) for found in MACRO.finditer(outside)]
    users = [(name, text[start:stop]) for name, start, stop in bodies] + macros
    while True:
        named = re.compile(r"\b(?:%s)\b" % "|".join(sorted(names)))
        more = {name for name, body in users if named.search(body)} - names
        if not more:
            break
        names |= more
    rest = re.sub(r"/\*.*?\*/", "", MACRO.sub("", outside), flags=re.S)
    return None if re.search(named.pattern + r"(?!\s*\()", rest) else names


def users_of(header, sources, source_dir, functions=None):
    """The sources that see a header, directly or through others; of some functions: those that name one, or see another
    header that does."""
    seen, wanted = {}, os.path.basename(header)
    named = functions and re.compile(r"\b(?:%s)\b" % "|".join(sorted(functions)))
    private = {name: os.path.join(folder, name) for folder in private_folders(source_dir)
               for name in os.listdir(folder)}

    def sees(path):
        if path in seen:
            return seen[path]
        with open(path) as file:
            text = file.read()
        names = re.findall(r'#include "([^"]+)"', text)
        seen[path] = bool(named.search(text)) if named else wanted in names
        for name in names:
            if name in private and (not named or name != wanted) and sees(private[name]):
                seen[path] = True
        return seen[path]

    return [s for s in sources if sees(s)]


def sources_of(tree, tops):
    """The sources below folders of the tree, and their texts: read once."""
    with tree.lock:
        for top in tops:
            if top not in tree.texts:
                tree.texts[top] = {}
                for folder, _, files in os.walk(os.path.join(tree.source, top)):
                    for path in (os.path.join(folder, f) for f in files if f.endswith((".c", ".h"))):
                        with open(path) as file:
                            tree.texts[top][os.path.relpath(path, tree.source)] = file.read()
    return {name: text for top in tops for name, text in tree.texts[top].items()}


def text_of(tree, entry):
    return sources_of(tree, [entry["file"].split("/")[0]])[entry["file"]]


def occurrences(entry, text):
    return [len(pattern(old).findall(text)) for old, _ in entry["hunks"]]


def find_place(tree, entry):
    """Puts the file that the entry belongs to into it, and into `moved` where it was; a reason when it is stale, else ""."""
    named, top = entry["file"], entry["file"].split("/")[0]
    text = sources_of(tree, [top]).get(named)
    if text is None and os.path.isfile(os.path.join(tree.source, named)):  # a script
        with open(os.path.join(tree.source, named)) as file:
            text = file.read()
    counts = occurrences(entry, text) if text is not None else []
    if counts and set(counts) == {1}:
        return ""
    if text is None or 0 in counts:
        for tops in ([top], [other for other in TOPS if other != top]):
            found = {name: seen for name, text in sources_of(tree, tops).items()
                     if all(seen := occurrences(entry, text))}
            if found:
                break
        if [set(seen) for seen in found.values()] == [{1}]:
            entry["moved"], entry["file"] = named, next(iter(found))
            return ""
        return "stale: not in %s, and in %s" % (named, " and ".join(sorted(found)) + " not once" if found else "no other file")
    at = next(i for i, count in enumerate(counts) if count != 1)
    return "stale: occurs %d times in %s: %s" % (counts[at], named, entry["hunks"][at][0][0])


def seeded_text(tree, entry):
    """The text of the file with the bug in it; None and a reason when the entry is stale."""
    reason = find_place(tree, entry)
    if reason:
        return None, reason
    text = text_of(tree, entry)
    for old, new in entry["hunks"]:
        text = pattern(old).sub(lambda _, new=new: "\n".join(new), text)
    return text, ""


def places(tree, entries):
    """Prints the entries that are stale, and those whose code has moved; the exit status."""
    stale = 0
    for entry in entries:
        reason = find_place(tree, entry)
        stale += bool(reason)
        if reason or "moved" in entry:
            print("%s: %s: %s" % (entry["place"], entry["name"], reason or moved_note(entry)))
    print("%d seeded bugs, %d stale" % (len(entries), stale))
    return 1 if stale or not entries else 0


def moved_note(entry):
    return "moved from %s to %s: name that file" % (entry["moved"], entry["file"]) if "moved" in entry else ""


def copy_sources(tree, entry, text, copy):
    """Writes the seeded file to the copy. Beside a header lie links to all sources, which include it."""
    if entry["file"].endswith(".h"):
        for layer in LAYERS:
            for part in ("src", "include", "engine"):
                folder = os.path.join(tree.source, layer, part)
                if os.path.isdir(folder):
                    shutil.copytree(folder, os.path.join(copy, layer, part), copy_function=os.symlink)
        os.unlink(os.path.join(copy, entry["file"]))
    os.makedirs(os.path.dirname(os.path.join(copy, entry["file"])), exist_ok=True)
    with open(os.path.join(copy, entry["file"]), "w") as file:
        file.write(text)


def changed_sources(tree, entry, sources):
    if entry["file"].endswith(".h"):
        functions = [entry["users"]] if "users" in entry else functions_changed(entry, text_of(tree, entry))
        return users_of(entry["file"], sources, tree.source, functions)
    return [os.path.join(tree.source, entry["file"])]


def run(command, limit=LIMIT_SECONDS):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=limit)


def build_explorer(tree, entry, copy, program):
    """Returns the program and an error text."""
    sources, defines = tree.program(program)
    changed = changed_sources(tree, entry, sources)
    top = copy if entry["file"].endswith(".h") else tree.source
    includes = ["-I" + folder for folder in private_folders(top)]
    objects = []
    for number, source in enumerate(sources):
        if source not in changed:
            objects.append(tree.object_of(program, source))
            continue
        path = os.path.join(copy, os.path.relpath(source, tree.source))
        if not os.path.exists(path):
            path = source
        objects.append(os.path.join(copy, "%d.o" % number))
        out = run(["cc", *FLAGS, *defines, *includes, "-I" + os.path.join(tree.source, "tests/explore"),
                   "-c", path, "-o", objects[-1]])
        if out.returncode != 0:
            return None, "does not compile: " + out.stderr[:500]
    binary = os.path.join(copy, "program")
    out = run(["cc", *LINKER, "-o", binary, *objects, os.path.join(tree.build, "libweft_explore.a"),
               os.path.join(tree.build, "libweft_explore_base.a"), "-lpthread"])
    return (binary, "") if out.returncode == 0 else (None, "does not link: " + out.stderr[:500])


def inside_tools(tree, source):
    return os.path.relpath(source, tree.source).startswith("tools/")  # headers lie beside their sources there


def command_in(tree, entry, copy, source, out):
    """The words that compile a source with the bug, quickly."""
    command = tree.commands[source]
    changed = [entry["file"]]
    if entry["file"].endswith(".h"):
        changed = [os.path.join(layer, part) for layer in LAYERS for part in ("src", "include", "engine")]
    for inside in changed:
        command = re.sub(re.escape(os.path.join(tree.source, inside)) + r"(?=[/ ]|$)",
                         os.path.join(copy, inside), command)
    words = [w for w in shlex.split(command) if w != "-Werror"]
    words = words[os.path.basename(words[0]) == "ccache":]
    words[words.index("-o") + 1] = out
    return words + QUICK + (["-I" + os.path.dirname(source)] if inside_tools(tree, source) else [])


def build_test(tree, entry, copy, test):
    """The same for a test: compile commands of the build, with the copy's folders in them."""
    places = ("tools/",) if entry["file"].startswith("tools/") else tuple(LAYERS)
    sources = [s for s in tree.commands if os.path.relpath(s, tree.source).startswith(places)]
    sources.append(os.path.join(tree.source, test))
    objects = []
    changed = changed_sources(tree, entry, sources)
    for number, source in enumerate(changed):
        objects.append(os.path.join(copy, "%d.o" % number))
        out = run(command_in(tree, entry, copy, source, objects[-1]))
        if out.returncode != 0:
            return None, "does not compile: " + out.stderr[:500]
    name = os.path.splitext(os.path.basename(test))[0]
    own = os.path.join(tree.top, "tests", "CMakeFiles", name + ".dir")
    for folder, _, files in os.walk(own):
        objects += [os.path.join(folder, f) for f in files if f.endswith(".o")
                    and not any(source.endswith("/" + f[:-2]) for source in changed)]
    libraries = [os.path.join(tree.top, p) for p in ("tests/libweft_test_support.a", "libweft_testable.a")]
    if test.startswith(("tests/screen/", "tests/tools/")):
        libraries.insert(0, os.path.join(tree.top, "tools/libweft_commands.a"))
    packages = ["-lmicrohttpd"] if test.startswith("tests/inspect/") else []
    plain = os.path.join(tree.top, "tests/libweft_test_plain.a")
    binary = os.path.join(copy, "program")
    sanitizers = re.findall(r"-fsanitize=\S+", tree.commands.get(os.path.join(tree.source, test), ""))
    with open(os.path.join(tree.source, test)) as file:
        wraps = ["-Wl,--wrap=" + name for name in ("malloc", "calloc", "realloc")] if '"libc_fault.h"' in file.read() else []
    runner = ["-lcriterion"] if is_criterion(tree, test) else [plain, *libraries]
    out = run(["cc", *LINKER, *sanitizers, *wraps, "-o", binary, *objects, *libraries, *runner, *packages,
               "-lm", "-lpthread"])
    return (binary, "") if out.returncode == 0 else (None, "does not link: " + out.stderr[:500])


def is_criterion(tree, test):
    with open(os.path.join(tree.source, test)) as file:
        return "<criterion/" in file.read()


def passes_unchanged(tree, test):
    """Whether the test that the build made, without a bug, passes: asked once for each."""
    with tree.lock:
        mine = tree.asked.setdefault(test, threading.Lock())
    with mine:
        if test not in tree.unchanged:
            program = os.path.join(tree.top, os.path.splitext(test)[0])
            tree.unchanged[test] = os.path.exists(program) and run([program]).returncode == 0
    return tree.unchanged[test]


def check(tree, entry):
    start = time.time()
    text, reason = seeded_text(tree, entry)
    if text is None:
        return False, reason
    program, wanted = entry["caught"].split()
    is_test = program == "test"
    if is_test and not passes_unchanged(tree, wanted):
        return False, "%s is not built, or fails without the bug" % wanted
    with tempfile.TemporaryDirectory() as copy:
        copy_sources(tree, entry, text, copy)
        binary, reason = (build_test(tree, entry, copy, wanted) if is_test
                          else build_explorer(tree, entry, copy, program))
        if binary is None:
            return False, reason
        try:
            first = ["--fail-fast"] if is_test and is_criterion(tree, wanted) else []
            out = run([binary, *first] if is_test else [binary, "--brief", "--first", wanted])
        except subprocess.TimeoutExpired:
            return False, "hangs without a failure"
    if is_test:
        failure = out.returncode != 0
        note = next((line for line in (out.stderr + out.stdout).splitlines() if ".c:" in line),
                    "ends with status %d" % out.returncode)
    else:
        failure = out.returncode != 0 and re.search(r"^FAILED %s: (.*)$" % wanted, out.stdout, re.M)
        note = failure and failure.group(1)
    if not failure:
        return False, "NOT CAUGHT by %s" % wanted
    return True, "%5.2f s  %s: %s" % (time.time() - start, wanted, note[:90])


def concerns(tree, entry, files):
    """Whether an entry lies in one of the files, or must be caught by one of them."""
    find_place(tree, entry)
    return entry["file"] in files or entry["caught"].split()[-1] in files


def git(source, *words):
    """The output of a git command in the sources; None where it fails."""
    try:
        done = subprocess.run(["git", "-c", "safe.directory=*", "-C", source, *words], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def share_of(tree, entries, parts, turn, changed):
    """The entries whose turn it is, one in parts, and at most as many of the others that concern changed files, by turns as well."""
    mine = lambda e: zlib.crc32(e["name"].encode()) % parts == turn % parts
    late = [e for e in entries if not mine(e) and concerns(tree, e, changed)]
    most = -(-len(entries) // parts)
    if len(late) > most:
        start = turn * most % len(late)
        late = (late[start:] + late[:start])[:most]
    chosen = [e for e in entries if mine(e) or e in late]
    start = turn % max(len(chosen), 1)  # those that find no time are others each time
    return chosen[start:] + chosen[:start]


def share_now(tree, entries, parts):
    """As share_of, of the commit of the sources; without one, of the day."""
    if os.environ.get("WEFT_DEEP"):
        return entries
    commit, changed = git(tree.source, "rev-parse", "--short=6", "HEAD"), git(tree.source, "log", "-10", "--name-only", "--format=")
    if git(tree.source, "rev-parse", "--is-shallow-repository") != "false\n":
        changed = None  # the first commit of a shallow clone seems to change every file
    turn = int(os.environ.get("WEFT_TURN") or int(commit or time.strftime("%j"), 16))
    kept = share_of(tree, entries, parts, turn, (changed or "").split())
    print("%d of %d: one in %d by the commit, and some of files changed of late; all with WEFT_DEEP=1" % (len(kept), len(entries), parts))
    return kept


def until(seconds, check_one):
    """As check_one, but None when the time is over; the first is always checked."""
    lock, begun, first = threading.Lock(), time.monotonic(), []

    def check_in_time(entry):
        with lock:
            is_late = first and time.monotonic() - begun > seconds
            first.append(entry)
        return None if is_late else check_one(entry)
    return check_in_time


def report(entries, results):
    """Prints a line for each (caught, note) as it comes, then the sum; the exit status."""
    failed = late = 0
    for entry, result in zip(entries, results):
        if result is None:
            late += 1
            continue
        good, note = result
        failed += not good
        print("%-8s %-36s %s" % ("caught" if good else "FAILED", entry["name"], note))
        if "moved" in entry:
            print("         note: %s" % moved_note(entry))
        sys.stdout.flush()
    tried = len(entries) - late
    print("%d seeded bugs, %d caught%s" % (tried, tried - failed, "; no time for %d" % late if late else ""))
    return 1 if failed or not entries else 0


def option(arguments, name):
    """The value behind an option, which is taken out; None without it."""
    if name not in arguments:
        return None
    at = arguments.index(name)
    value = arguments[at + 1]
    del arguments[at:at + 2]
    return value


def main():
    arguments = sys.argv[1:]
    only, files, parts = (option(arguments, name) for name in ("--only", "--of", "--share"))
    tree = Tree(os.path.abspath(arguments[0]), os.path.abspath(arguments[1]))
    os.environ["WEFT_SOURCE_DIR"] = tree.source  # for tests that read the sources, as under ctest
    entries = [e for path in arguments[2:] for e in parse(path) if only in (None, e["name"])]
    if arguments[1] == "--places":
        return places(tree, entries)
    if files is not None:
        entries = [e for e in entries if concerns(tree, e, files.split(","))]
    check_one = lambda e: check(tree, e)
    if parts is not None:
        entries = share_now(tree, entries, int(parts))
        if not os.environ.get("WEFT_DEEP"):
            check_one = until(SHARE_SECONDS, check_one)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return report(entries, pool.map(check_one, entries))


if __name__ == "__main__":
    sys.exit(main())
