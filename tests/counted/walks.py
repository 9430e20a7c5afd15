#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""walks.py WALKS: how many source files of the library (ecs, jobs, scheduler) each way of walks.c
enters a function of, inlined ones included: callgrind collects, the line table says the file. A way
that goes through more than its limit fails; --list prints the files."""
import os
import re
import subprocess
import sys
import tempfile

LIMITS = {"create": 30, "add": 40, "command": 55, "step": 65, "fill": 55}
FILE = re.compile(r"^(?:fl|fi|fe)=\((\d+)\)(?: (.*))?$")
OURS = re.compile(r"(?:^|/)((?:ecs|jobs|scheduler)/[\w/]+\.[ch])$")


def files_of(walks, name, folder):
    """The files of the library in the profile of one way."""
    out = os.path.join(folder, name)
    subprocess.run(["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=walk_body",
                    f"--callgrind-out-file={out}", walks, name], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    names, entered = {}, set()
    with open(out, encoding="utf-8", errors="replace") as profile:
        for line in profile:
            found = FILE.match(line)
            if not found:
                continue
            if found.group(2):
                names[found.group(1)] = os.path.normpath(found.group(2))
            entered.add(names.get(found.group(1), ""))
    return sorted(m.group(1) for m in map(OURS.search, entered) if m)


def main():
    walks = sys.argv[1]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in subprocess.run([walks], check=True, capture_output=True, text=True).stdout.split():
            files = files_of(walks, name, folder)
            print(f"{name:<8} {len(files):>3} files, at most {LIMITS[name]}")
            if "--list" in sys.argv:
                print("\n".join("    " + file for file in files))
            if not files or len(files) > LIMITS[name]:
                failed += 1
                print(f"FAILED: {name}: " + " ".join(files))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
