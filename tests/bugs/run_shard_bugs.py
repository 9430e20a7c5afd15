#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Seeded bugs of shards, which only runs on several ranks show: run_shard_bugs.py SOURCE BUILD FILE.bugs [--only NAME]
[--share N]

Entries are those of run_bugs.py, with `caught shard MODE`: shard_model (for some modes another of PROGRAMS) is linked
with the bug in it, and tests/shard/run_shard.py MODE must fail. It compares the program with itself on other numbers of
ranks. `caught test FILE`: as in run_bugs.py.
"""
import os
import shlex
import subprocess
import sys
import tempfile

import run_bugs

PROGRAMS = {"refused": "shard_refused", "kinds": "shard_kinds"}
TRIES = 3  # which rank has which sector is decided by measured times: a busy machine may hide a bug once


def link_words(tree, program):
    for line in subprocess.run(["ninja", "-C", tree.top, "-t", "commands", program], capture_output=True,
                               text=True).stdout.splitlines():
        if f" -o tests/shard/{program} " in line:
            return shlex.split(line.split("&&")[1])
    sys.exit(f"the build does not tell how {program} is linked")


def build(tree, entry, copy, program):
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
    os.symlink(program, os.path.join(copy, "shard_model_one"))
    return "" if out.returncode == 0 else "does not link: " + out.stderr[:500]


def check(tree, entry):
    text, reason = run_bugs.seeded_text(tree, entry)
    if text is None:
        return False, reason
    runner, mode = entry["caught"].split()
    if runner == "test":
        return run_bugs.check(tree, entry)
    with tempfile.TemporaryDirectory() as copy:
        run_bugs.copy_sources(tree, entry, text, copy)
        reason = build(tree, entry, copy, PROGRAMS.get(mode, "shard_model"))
        if reason:
            return False, reason
        script = os.path.join(tree.source, "tests/shard/run_shard.py")
        for _ in range(TRIES):
            out = run_bugs.run([sys.executable, script, mode, copy, *([] if mode == "refused" else ["--quick"])])
            if out.returncode != 0:
                break
    last = (out.stdout.strip().splitlines() or [""])[-1]
    return out.returncode != 0, last[:100] if out.returncode != 0 else "NOT CAUGHT by " + mode


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
