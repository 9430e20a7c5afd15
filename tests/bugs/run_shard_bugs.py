#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Seeded bugs of shards, which only runs on several ranks show: run_shard_bugs.py SOURCE BUILD FILE.bugs [--only NAME]
[--share N]

Entries are those of run_bugs.py, with `caught shard MODE`: shard_model (for some modes another of PROGRAMS) is linked
with the bug in it, and tests/shard/run_shard.py MODE must fail. It compares the program with itself on other numbers of
ranks; the other programs are those of the build. Built and run the same way without the bug, MODE must pass. `caught test
FILE`: as in run_bugs.py.
"""
import os
import shlex
import subprocess
import sys
import tempfile

import run_bugs

PROGRAMS = {"refused": "shard_refused", "kinds": "shard_kinds", "programs": "shard_programs"}
WHOLE = ("refused", "programs")  # modes that must not be quick to find them
UNCHANGED_SECONDS = 1500  # nothing ends it early, as a bug does
TRIES = 3  # which rank has which sector is decided by measured times: a busy machine may hide a bug once


def link_words(tree, program):
    for line in subprocess.run(["ninja", "-C", tree.top, "-t", "commands", program], capture_output=True,
                               text=True).stdout.splitlines():
        if f" -o tests/shard/{program} " in line:
            return shlex.split(line.split("&&")[1])
    sys.exit(f"the build does not tell how {program} is linked")


def build(tree, entry, copy, text):
    """Puts the programs into the folder `copy`: the one of the mode with this text of the entry's file."""
    run_bugs.copy_sources(tree, entry, text, copy)
    mode = entry["caught"].split()[1]
    program = PROGRAMS.get(mode, "shard_model")
    source = os.path.join(tree.source, entry["file"])
    changed = os.path.join(copy, "changed.o")
    words = run_bugs.command_in(tree, entry, copy, source, changed)
    out = run_bugs.run(words)
    if out.returncode != 0:
        return "does not compile: " + out.stderr[:500]
    own = "/" + os.path.basename(source) + ".o"  # where the sources are linked, and no library of them
    words = [word for word in link_words(tree, program) if not word.endswith(own)]
    words[words.index("-o") + 1] = os.path.join(copy, program)
    at = next(i for i, word in enumerate(words) if word.endswith(".c.o"))
    out = subprocess.run(words[:at + 1] + [changed] + words[at + 1:], capture_output=True, text=True, cwd=tree.top)
    built = os.path.join(tree.top, "tests/shard")
    for other in os.listdir(built):
        if other.startswith("shard_") and other != program:
            # One rank without mpirun has the bug as well; `faults` wants a program without MPI.
            of_mode = mode == "hashes" and other == "shard_model_one"
            os.symlink(program if of_mode else os.path.join(built, other), os.path.join(copy, other))
    return "" if out.returncode == 0 else "does not link: " + out.stderr[:500]


def run_mode(tree, mode, copy, is_quick, limit=run_bugs.LIMIT_SECONDS):
    script = os.path.join(tree.source, "tests/shard/run_shard.py")
    return run_bugs.run([sys.executable, script, mode, copy, *(["--quick"] if is_quick else [])], limit)


def last_line(out):
    return ([line for line in (out.stdout + out.stderr).splitlines() if line.strip("- ")] or [""])[-1][:100]


def fails_unchanged(tree, entry):
    """Why the entry's mode does not pass without the bug, or "": asked once for each mode."""
    mode = entry["caught"].split()[1]
    if mode not in tree.unchanged:
        with tempfile.TemporaryDirectory() as copy:
            tree.unchanged[mode] = build(tree, entry, copy, run_bugs.text_of(tree, entry))
            if not tree.unchanged[mode]:
                out = run_mode(tree, mode, copy, True, UNCHANGED_SECONDS)
                tree.unchanged[mode] = f"{mode} fails without the bug: {last_line(out)}" if out.returncode != 0 else ""
    return tree.unchanged[mode]


def check(tree, entry):
    text, reason = run_bugs.seeded_text(tree, entry)
    if text is None:
        return False, reason
    runner, mode = entry["caught"].split()
    if runner == "test":
        return run_bugs.check(tree, entry)
    reason = fails_unchanged(tree, entry)
    if reason:
        return False, reason
    with tempfile.TemporaryDirectory() as copy:
        reason = build(tree, entry, copy, text)
        if reason:
            return False, reason
        for _ in range(TRIES):
            try:
                out = run_mode(tree, mode, copy, mode not in WHOLE,
                               UNCHANGED_SECONDS if mode in WHOLE else run_bugs.LIMIT_SECONDS)
            except subprocess.TimeoutExpired as late:
                return False, f"NOT CAUGHT by {mode} in {late.timeout} s"
            if out.returncode != 0 and "TimeoutExpired" in out.stderr:  # a slow machine: what hangs, an alarm ends
                return False, f"NOT CAUGHT by {mode}: a run of it took too long"
            if out.returncode != 0:
                return True, last_line(out)
    return False, "NOT CAUGHT by " + mode


def main():
    arguments = sys.argv[1:]
    only, parts = run_bugs.option(arguments, "--only"), run_bugs.option(arguments, "--share")
    tree = run_bugs.Tree(os.path.abspath(arguments[0]), os.path.abspath(arguments[1]))
    entries = [e for e in run_bugs.parse(arguments[2]) if only in (None, e["name"])]
    check_one = lambda e: check(tree, e)
    if parts is not None:
        entries = run_bugs.share_now(tree, entries, int(parts))
        if not os.environ.get("WEFT_DEEP"):
            check_one = run_bugs.until(run_bugs.SHARE_SECONDS, check_one)
    return run_bugs.report(entries, map(check_one, entries))


if __name__ == "__main__":
    sys.exit(main())
