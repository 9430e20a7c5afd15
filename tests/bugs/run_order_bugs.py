#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Seeded bugs whose effect depends on the order of execution, against `weft stress`: it must name system, component and
entity, and the line that it prints must repeat the failure every time.

usage: run_order_bugs.py SOURCE BUILD FILE.bugs [OTHER.bugs --also NAME,...] [--only NAME,...] [--repeats N] [--survey]

Entries are those of run_bugs.py. The command line is linked with the bug and runs three scenarios with a fixed seed until one
fails, then the line after "repeat:" ten times. All entries with WEFT_DEEP=1, else the first four. Of other files only those named by --also are run. --survey says what happens and fails
nothing.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

import run_bugs

ROUNDS = 8
SHORT = 4  # entries without WEFT_DEEP in the environment
SCENARIOS = ("order", "playback", "scheduler")
# What a difference of command order may not have: a component of its own (destroy), an entity (query-wide commands).
NAMED = re.compile(r"first difference: step \d+, .*system ('[^'\n]*)'[^\n]*\n  component (\S+), entity (\S+)\n  [^\n]*: [^\n]+\n  "
                   r"[^\n]*: [^\n]+\n")


def link_words(tree):
    """The words that link the command line."""
    for line in subprocess.run(["ninja", "-C", tree.top, "-t", "commands", "weft_cli"], capture_output=True,
                               text=True).stdout.splitlines():
        if " -o weft " in line:
            return shlex.split(line.split("&&")[1])
    sys.exit("the build does not tell how the command line is linked")


def build(tree, entry, copy):
    """The command line with the bug in it; objects of the changed sources go before the archives."""
    sources = [s for s in tree.commands if os.path.relpath(s, tree.source).startswith(tuple(run_bugs.LAYERS))]
    objects = []
    for number, source in enumerate(run_bugs.changed_sources(tree, entry, sources)):
        objects.append(os.path.join(copy, "%d.o" % number))
        out = run_bugs.run(run_bugs.command_in(tree, entry, copy, source, objects[-1]))
        if out.returncode != 0:
            return None, "does not compile: " + out.stderr[:500]
    binary = os.path.join(copy, "weft")
    words = link_words(tree)
    words[words.index("-o") + 1] = binary
    at = next(i for i, word in enumerate(words) if word.endswith("main.c.o"))
    out = subprocess.run(words[:at + 1] + objects + words[at + 1:], capture_output=True, text=True, cwd=tree.top)
    return (binary, "") if out.returncode == 0 else (None, "does not link: " + out.stderr[:500])


def stress(binary, arguments, folder):
    return subprocess.run([binary, *arguments], capture_output=True, text=True, cwd=folder, timeout=300)


def check(tree, entry, repeats):
    text, reason = run_bugs.seeded_text(tree, entry)
    if text is None:
        return False, reason
    with tempfile.TemporaryDirectory() as copy:
        run_bugs.copy_sources(tree, entry, text, copy)
        binary, reason = build(tree, entry, copy)
        if binary is None:
            return False, reason
        try:
            for scenario in SCENARIOS:
                out = stress(binary, ["stress", scenario, "--seed", "1", "--rounds", str(ROUNDS)], copy)
                if out.returncode != 0:
                    break
        except subprocess.TimeoutExpired:
            return False, "hangs"
        if out.returncode == 0:
            return False, "NOT CAUGHT"
        named = NAMED.search(out.stderr)
        repeat = re.search(r"^repeat: weft (stress --replay \S+)$", out.stderr, re.M)
        if not named or not repeat:
            return False, "caught, not named or not repeated:\n" + out.stderr[-700:]
        again = [stress(binary, repeat.group(1).split(), copy) for _ in range(repeats)]
    count = sum(1 for a in again if a.returncode == 1 and named.group(1) in a.stderr)
    note = "system %s component %s entity %s; repeated %d of %d" % (*named.groups(), count, repeats)
    return count == repeats, note


def main():
    arguments = sys.argv[1:]
    options = {"--only": None, "--also": "", "--repeats": "10"}
    is_survey = "--survey" in arguments
    if is_survey:
        arguments.remove("--survey")
    for name in options:
        if name in arguments:
            at = arguments.index(name)
            options[name] = arguments[at + 1]
            del arguments[at:at + 2]
    tree = run_bugs.Tree(os.path.abspath(arguments[0]), os.path.abspath(arguments[1]))
    entries = run_bugs.parse(arguments[2])
    for path in arguments[3:]:
        entries += [e for e in run_bugs.parse(path) if e["name"] in options["--also"].split(",")]
    if not os.environ.get("WEFT_DEEP") and not options["--only"]:
        entries = entries[:SHORT]
    if options["--only"]:
        entries = [e for e in entries if e["name"] in options["--only"].split(",")]
    failed = 0
    for entry in entries:
        good, note = check(tree, entry, int(options["--repeats"]))
        failed += not good
        print("%-8s %-36s %s" % ("named" if good else "FAILED", entry["name"], note))
        sys.stdout.flush()
    print("%d seeded order bugs, %d named and repeated" % (len(entries), len(entries) - failed))
    return 1 if (failed and not is_survey) or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
