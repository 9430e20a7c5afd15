#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How many rounds of `weft stress everything` find each seeded fault.

usage: hunt.py SOURCE BUILD CATALOGUE.bugs ... [--only NAME,...] [--names FILE] [--seeds N] [--least N] [--shrink SECONDS]

Entries are those of ../bugs/run_bugs.py; --names: only those that a file names, one a line (what is before the name is what the
line is about). The command line is linked with one fault at a time and runs from a fixed seed until a round fails, crashes or
hangs, at most --seeds rounds (10,000). A round counts only when it passes in the build without the fault. It is then shrunk, for
at most --shrink seconds (300; 0: not). Fails when fewer than --least are found (all, without it).
"""
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bugs"))
import run_bugs  # noqa: E402
import run_order_bugs  # noqa: E402

SEED = "0x5eed"
PIECE = 250  # rounds of a process, so that what hangs ends soon
HANG_SECONDS = 120  # of a piece, beside other work; it takes two
ROUND = re.compile(r"round (\d+)[: ]")


def stress(binary, first, rounds, folder):
    """(round, reason) of the first of some rounds that fails; None: all pass."""
    words = [binary, "stress", "everything", "--seed", SEED, "--workers", "2", "--from", str(first), "--rounds", str(rounds)]
    try:
        out = subprocess.run(words, capture_output=True, text=True, errors="replace", cwd=folder, timeout=HANG_SECONDS)
    except subprocess.TimeoutExpired:
        return hung(binary, first, rounds, folder), "hangs"
    if out.returncode == 0:
        return None
    failed = re.search(r"^weft stress: round (\d+): (?:everything: )?(.*)$", out.stderr, re.M)
    if failed:
        return int(failed[1]), failed[2]
    found = ROUND.findall(out.stderr)
    return int(found[-1]) if found else first, "ends with status %d" % out.returncode


def hung(binary, first, rounds, folder):
    """The round that hangs, among some of which one does."""
    while rounds > 1:
        half = rounds // 2
        if stress(binary, first, half, folder) is None:
            first, rounds = first + half, rounds - half
        else:
            rounds = half
    return first


def hunt(tree, binary, seeds, folder):
    """(round, reason) of the first round that fails with the fault and not without; None: none of them."""
    first = 0
    while first < seeds:
        found = stress(binary, first, min(PIECE, seeds - first), folder)
        if found is None:
            first += PIECE
        elif stress(os.path.join(tree.top, "weft"), found[0], 1, folder) is None:
            return found
        else:
            print("         round %d fails without the fault, too" % found[0])
            first = found[0] + 1
    return None


def calls_of(binary, found, folder, seconds):
    """How many calls a failing round has when it is shrunk; "-": not known."""
    words = [binary, "stress", "everything", "--shrink", "--seed", SEED, "--from", str(found), "--rounds", "1"]
    if seconds == 0:
        return "-"
    try:
        out = subprocess.run(words, capture_output=True, text=True, errors="replace", cwd=folder, timeout=seconds)
    except subprocess.TimeoutExpired:
        return "-"
    return str(len(re.findall(r"\{ /\* \d+: ", out.stdout)) or "-")


def look(tree, entry, seeds, seconds):
    """Whether a fault is found, and its line."""
    start = time.time()
    text, reason = run_bugs.seeded_text(tree, entry)
    if text is None:
        return False, reason
    with tempfile.TemporaryDirectory() as folder:
        run_bugs.copy_sources(tree, entry, text, folder)
        binary, reason = run_order_bugs.build(tree, entry, folder)
        if binary is None:
            return False, reason
        found = hunt(tree, binary, seeds, folder)
        spent = time.time() - start
        if found is None:
            return False, "NOT FOUND in %d rounds, %.0f s" % (seeds, spent)
        calls = calls_of(binary, found[0], folder, seconds)
    return True, "%5d rounds %3s calls %4.0f s  %s" % (found[0] + 1, calls, spent, found[1][:90])


def named(path):
    with open(path) as file:
        return [line.split()[-1] for line in file if line.strip() and not line.startswith("#")]


def main():
    arguments = sys.argv[1:]
    only, names, seeds, least, seconds = (run_bugs.option(arguments, "--" + name)
                                          for name in ("only", "names", "seeds", "least", "shrink"))
    tree = run_bugs.Tree(os.path.abspath(arguments[0]), os.path.abspath(arguments[1]))
    entries = [e for path in arguments[2:] for e in run_bugs.parse(path)]
    wanted = named(names) if names else only.split(",") if only else [e["name"] for e in entries]
    unknown = set(wanted) - {e["name"] for e in entries}
    if unknown:
        sys.exit("no such faults: " + " ".join(sorted(unknown)))
    entries = [e for e in entries if e["name"] in wanted]
    found = 0
    for entry in entries:
        good, note = look(tree, entry, int(seeds or 10000), int(300 if seconds is None else seconds))
        found += good
        print("%-7s %-56s %-40s %s" % ("found" if good else "MISSED", entry["name"], entry["file"], note))
        sys.stdout.flush()
    print("%d faults, %d found" % (len(entries), found))
    return 1 if found < int(least or len(entries)) or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
