#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""explain_names.py ROOT WEFT: every weft_ and WEFT_ name in a page of `weft explain` is declared in a
public header; comments do not count."""
import glob
import re
import subprocess
import sys

NAME = re.compile(r"\b(?:weft|WEFT)_\w+")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def declared(root):
    names = set()
    for pattern in ("*/include/weft/*.h", "*/*/include/weft/*.h"):
        for path in glob.glob(f"{root}/{pattern}"):
            with open(path, encoding="utf-8") as file:
                names.update(NAME.findall(COMMENT.sub(" ", file.read())))
    return names


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main():
    root, weft = sys.argv[1:]
    known = declared(root)
    codes = re.findall(r"^E\d{4}", run(weft, "explain"), re.MULTILINE)
    failed = named = 0
    for code in codes:
        for name in NAME.findall(run(weft, "explain", code)):
            named += 1
            if name not in known:
                failed += 1
                print(f"weft explain {code}: {name} is in no public header")
    print(f"{len(codes)} pages, {named} names, {failed} unknown")
    return 1 if failed != 0 or len(codes) < 20 or named < len(codes) else 0


if __name__ == "__main__":
    sys.exit(main())
