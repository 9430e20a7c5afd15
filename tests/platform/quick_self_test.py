#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""quick_self_test.py ROOT BUILD: what tools/check-quick chooses: from the tests of this build and from invented ones; every rule must lead to a test, and every source of the library to tests of its layer and above. And tests/turns.txt."""
import glob
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile

ROOT = sys.argv[1]
sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("check_quick", os.path.join(ROOT, "tools", "check-quick"))
quick = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_quick", LOADER))
LOADER.exec_module(quick)
NAMES = [test["name"] for test in quick.read_tests(sys.argv[2])]
wrong = []


def check(name, condition, shown=""):
    if not condition:
        wrong.append(f"FAILED: {name}: {shown}")


def tests_of(names, seconds=0.0, command=()):
    return [{"name": name, "command": list(command), "sources": quick.sources_of(name, "/nowhere"), "seconds": seconds} for name in names]


def chosen(*files, tests=None, seconds=1000):
    run, left = quick.choose(files, tests or tests_of(NAMES), seconds)
    return {test["name"] for test in run}, left


def layers():
    """What a file of a layer influences, and what it does not."""
    for path, some, none in (
            ("jobs/base/src/heap.c", "base.heap jobs.deque ecs.query scheduler.systems counted.baseline", "platform.docs python.weft"),
            ("jobs/src/protocol/deque.h", "jobs.deque scheduler.systems", "base.heap"),
            ("ecs/src/query/query.c", "ecs.query scheduler.systems scene.scene", "jobs.deque base.heap explore.deque"),
            ("scheduler/src/plan/staging.c", "scheduler.staging", "ecs.query jobs.deque"),
            ("ecs/scene/src/live/live_state.c", "scene.live_random", "ecs.query scheduler.staging"),
            ("scheduler/shard/src/ranks/messages.c", "shard.hashes", "scheduler.staging ecs.query"),
            ("ecs/include/weft/query.h", "ecs.query platform.headers platform.abi cpp.typed", "platform.docs"),
            ("ecs/src/memory/units.pml", "model.units", "model.wake"),
            ("docs/guide/queries.md", "platform.pages", "ecs.query platform.docs"),
            ("docs/decisions.md", "platform.doc_paths platform.tidy", "ecs.query platform.pages"),
            ("tests/ecs/test_query.c", "ecs.query", "ecs.structure scheduler.systems"),
            ("tests/ecs/query_fixture.h", "ecs.query", "ecs.units"),
            ("tests/support/check.h", "ecs.query jobs.deque", "platform.docs bugs.jobs")):
        run, _ = chosen(path)
        for name in (name for name in some.split() if name in NAMES):
            check(f"{path} asks for {name}", name in run, sorted(run))
        for name in none.split():
            check(f"{path} does not ask for {name}", name not in run, sorted(run))
        check("tidy always runs", "platform.tidy" in run, sorted(run))
        check("no group of seeded bugs runs whole", not any(n.startswith("bugs.") for n in run - {"bugs.places", "bugs.self_test"}), run)


def tables():
    """Each rule and each layer leads somewhere; each source of the library belongs to a layer."""
    names = " ".join(NAMES)
    for pattern, tests in quick.RULES:
        told = tests.replace("\\2", r"\w+")
        absent = told.startswith("explore") and "explore." not in names  # WEFT_TEST_EXPLORER=OFF
        check(f"the rule {pattern} leads to a test", absent or any(quick.re.fullmatch(told, name) for name in NAMES), tests)
        files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.split()
        check(f"the rule {pattern} is for files that exist", not files or any(quick.re.match(pattern, name) for name in files))
    for folder, groups in quick.LAYERS:
        check(f"{folder} exists", os.path.isdir(os.path.join(ROOT, folder)))
        for group in groups.split():
            check(f"{folder}: {group} has tests", f"{group}." in names or group in ("shard", "shards", "inspect", "counted", "python"))
    for path in glob.glob(ROOT + "/**/src/**/*.c", recursive=True):
        inside = os.path.relpath(path, ROOT)
        if inside.startswith(("jobs/", "ecs/", "scheduler/")):
            check(f"{inside} is of a layer", any(inside.startswith(folder) for folder, _ in quick.LAYERS))


def time():
    """The tests of what changed come first; what there is no time for is said."""
    tests = tests_of(["ecs.a", "ecs.b", "jobs.c"], 10.0) + tests_of(["ecs.query"], 50.0) + tests_of(["platform.tidy"], 99.0)
    run, left = chosen("ecs/src/query/query.c", "tests/ecs/test_query.c", tests=tests, seconds=30)
    check("own test first", run == {"ecs.query", "ecs.a", "platform.tidy"}, run)
    check("the rest is said", left == {"no time": ["ecs.b"], "not influenced": ["jobs.c"]}, left)
    script = tests_of(["platform.some"], 5.0, ["sh", "/a/tests/platform/some_script.sh"])
    check("a script asks for its test", "platform.some" in chosen("tests/platform/some_script.sh", tests=script)[0])


def differences():
    """Committed, changed and new files count; with none the last commit does."""
    with tempfile.TemporaryDirectory() as folder:
        def git(*words):
            done = subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, capture_output=True, text=True)
            check(f"git {' '.join(words)}", done.returncode == 0, done.stderr)

        def write(name):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(name)
        quick.SOURCE, kept = folder, quick.SOURCE
        git("init", "-q", "-b", "main")
        for name in ("first", "second"):
            write(name)
            git("add", ".")
            git("commit", "-qm", name)
        check("the last commit", quick.changed_files(None)[1] == ["second"], quick.changed_files(None))
        git("checkout", "-qb", "work")
        for name in ("third", "fourth"):
            write(name)
        git("add", "third")
        git("commit", "-qm", "third")
        check("against main", quick.changed_files(None)[1] == ["fourth", "third"], quick.changed_files(None))
        check("against a base", quick.changed_files("HEAD")[1] == ["fourth"], quick.changed_files("HEAD"))
        quick.SOURCE = kept


def turns():
    """Each line names a preset, a test and its turn; no test has two."""
    with open(os.path.join(ROOT, "tests", "turns.txt"), encoding="utf-8") as file:
        lines = [words for words in (line.split("#")[0].split() for line in file) if words]
    rules = ""  # of tests that sanitizers alone have
    for path in glob.glob(os.path.join(ROOT, "tests", "*", "CMakeLists.txt")):
        with open(path, encoding="utf-8") as file:
            rules += file.read()
    for words in lines:
        check(f"turns.txt: {words}", len(words) == 4 and words[0] in ("release", "asan", "tsan") and int(words[3]) < int(words[2]))
        check(f"turns.txt: {words[1]} is a test", words[1] in NAMES or f"test({words[1]} " in rules)
    check("turns.txt: each once", len({tuple(words[:2]) for words in lines}) == len(lines) > 0)


layers()
tables()
turns()
time()
differences()
print(*wrong, sep="\n")
print(f"{len(wrong)} failed")
sys.exit(1 if wrong else 0)
