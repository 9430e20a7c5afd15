#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_examples.py BUILD_DIR CC [--print]: compiles docs/examples/*/*.c and *.cpp that end with what they print, against
an installed weft, as strict C11 and C++17 with warnings as errors, runs them, and compares: those in C++ with each of g++
and clang++ that is there (with WEFT_TURN, a number: one of them, the other with another number). Each must be 10 to 80 lines long and have a line in docs/examples/README.md. Those of shards/ run a second time, as two processes, where there is MPI.
No result that a program drops may be another than WEFT_OK (looked_at.py). --print shows what each prints instead."""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(SOURCE, "docs", "examples")
sys.path.insert(0, os.path.join(SOURCE, "tests", "shard"))
from run_shard import ENVIRONMENT  # noqa: E402 (of mpirun)
sys.path.insert(0, os.path.join(SOURCE, "tests", "consumer"))
import looked_at  # noqa: E402
FLAGS = ["-O1", "-Wall", "-Wextra", "-Werror", "-pthread"]
PRINTS = re.compile(r"/\* prints:\n((?: \*[^\n]*\n)*) \*/\n\Z")
SHORTEST, LONGEST = 10, 80


def run(command, **options):
    """(output, None, what it said beside), or (None, why it failed, "")."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
    return (done.stdout, None, done.stderr) if done.returncode == 0 else (None, done.stdout + done.stderr, "")


def installed(build, work):
    """Library: the flags of a program that uses it of the installed weft; None where it was not built."""
    subprocess.run(["cmake", "--install", build, "--prefix", work + "/prefix"], check=True, capture_output=True)
    pc = os.path.dirname(glob.glob(work + "/prefix/**/weft.pc", recursive=True)[0])
    flags = {}
    for library in ("weft-scene", "weft-shard", "weft-inspect"):
        found, *_ = run(["pkg-config", "--cflags", "--libs", library], env={**os.environ, "PKG_CONFIG_PATH": pc})
        flags[library] = found and [*found.split(), "-Wl,-rpath," + os.path.dirname(pc), "-lm"]
    flags["looked_at"] = looked_at.header(work + "/prefix/include", work)
    return flags


def library_of(text):
    """What a program has to be linked with."""
    named = re.search(r"#include <weft/(shard|ranks|inspect)\.h>", text)
    return {None: "weft-scene", "inspect": "weft-inspect"}.get(named and named[1], "weft-shard")


def compilers(name, cc):
    """The commands that compile an example."""
    if not name.endswith(".cpp"):
        return [[cc, "-std=c11"]]
    there = [[found, "-std=c++17"] for found in map(shutil.which, ("g++", "clang++")) if found]
    turn = os.environ.get("WEFT_TURN")
    return there if turn is None or not there else [there[int(turn) // 2 % len(there)]]


def ways_to_run(program, library):
    """Its commands, each of which has to print the same."""
    if library == "weft-shard" and shutil.which("mpirun"):
        return [[program], ["mpirun", "-np", "2", program]]
    return [[program]]


def check(name, work, cc, flags, prints):
    """None, or what is wrong with an example."""
    with open(os.path.join(EXAMPLES, name), encoding="utf-8") as file:
        text = file.read()
    expected = PRINTS.search(text)
    if not expected and not prints:
        return "it does not end with /* prints: ... */"
    body = text[:expected.start()] if expected else text
    lines = len([line for line in body.split("\n") if re.search(r"\w", line)])
    if not SHORTEST <= lines <= LONGEST:
        return f"it has {lines} lines of code; examples have {SHORTEST} to {LONGEST}"
    folder = os.path.join(work, name.replace("/", "_"))
    os.mkdir(folder)
    program = os.path.join(folder, "example")
    library = library_of(text)
    if flags[library] is None:
        print(f"{name}: skipped, lib{library} is not built")
        return None
    for number, compiler in enumerate(compilers(name, cc)):
        looks = flags["looked_at"] if name.endswith(".c") else []  # C++: an error is an exception
        _, why, warnings = run([*compiler, *FLAGS, *looks, os.path.join(EXAMPLES, name), "-o", program, *flags[library]])
        if why is not None:
            return f"it does not compile ({compiler[0]})\n{why}"
        for command in ways_to_run(program, library):
            printed, why, errors = run(command, cwd=folder, env={**ENVIRONMENT, "TMPDIR": folder})  # mpirun shares none
            if why is not None:
                return f"it fails ({os.path.basename(command[0])})\n{why}"
            unseen = looked_at.faults(errors, looked_at.dropped(warnings))
            if unseen:
                return "\n".join(unseen)
            if prints:
                print(f"== {name}\n{printed}" if number == 0 else "", end="")
            elif printed != (wanted := re.sub(r"^ \* ?", "", expected[1], flags=re.M)):
                return f"it prints ({compiler[0]}, {os.path.basename(command[0])})\n{printed}instead of\n{wanted}"
    return None


def main():
    build, cc = sys.argv[1:3]
    prints = "--print" in sys.argv
    with open(os.path.join(EXAMPLES, "README.md"), encoding="utf-8") as file:
        index = file.read()
    names = sorted(os.path.relpath(path, EXAMPLES) for path in glob.glob(EXAMPLES + "/*/*.c") + glob.glob(EXAMPLES + "/*/*.cpp")
                   if not os.path.exists(os.path.join(os.path.dirname(path), "README.md")))
    names = [name for name in names if not name.startswith("solar/")]  # a program of its own, built by CMake
    wrong = [f"{name}: no line in docs/examples/README.md" for name in names if f"({name})" not in index]
    wrong += [f"docs/examples/README.md: {name} does not exist" for name in re.findall(r"\((\w+/\w+\.c(?:pp)?)\)", index)
              if not os.path.exists(os.path.join(EXAMPLES, name))]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work, concurrent.futures.ThreadPoolExecutor(2) as threads:
        flags = installed(build, work)
        results = threads.map(lambda name: (name, check(name, work, cc, flags, prints)), names)
        wrong += [f"{name}: {why}" for name, why in results if why]
    print(*wrong, sep="\n")
    print(f"{len(names) - len(wrong)} examples passed, {len(wrong)} failed")
    sys.exit(1 if wrong or not names else 0)


if __name__ == "__main__":
    main()
