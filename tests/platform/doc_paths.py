#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""doc_paths.py ROOT: every link of a page and every path of the tree that a page, a comment or a
script names leads to a file, and so does a source that a comment of the library names without its
folder. A path may hold * (at least one file) or {a,b}."""
import glob
import os
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")
PATH = re.compile(r"(?<![\w./-])((?:docs|jobs|ecs|scheduler|perf|tools|tests|cmake)/[\w./*{},-]+\."
                  r"(?:c|h|md|svg|pml|py|sh|bugs|txt|cmake|tle))(?![\w-])")
LIBRARY = re.compile(r"(?:ecs|jobs|scheduler)/.*\.[ch]$")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
BARE = re.compile(r"(?<![\w./<-])([a-z]\w+\.[ch])(?!\w)")
MADE = {"weft.c", "weft.h", "sdt.h"}  # by tools/amalgamate; of systemtap
READ = (".md", ".c", ".h", ".cpp", ".py", ".sh", ".txt", ".cmake", ".pml", "tidy.allow")
SKIPPED = ("tests/platform/tidy_self_test.py", "tests/platform/quick_self_test.py",
           "tests/bugs/bugs_self_test.py", "CHANGELOG.md")
PLACEHOLDER = re.compile(r"(^|/|_)x\.\w+$|frob|FILE")  # "perf/bench_x.c": a file you add


def alternatives(path):
    """The paths that {a,b} stands for."""
    braces = re.search(r"\{([^{}]*)\}", path)
    if not braces:
        return [path]
    return [path[:braces.start()] + part + path[braces.end():] for part in braces[1].split(",")]


def main():
    os.chdir(sys.argv[1])
    tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True).stdout.split("\n")
    names = [f for f in tracked if f.endswith(READ) or f in ("check", "run")]
    if not names:
        print("no git: skipped")
        return 77
    failed, sources = 0, {os.path.basename(f) for f in tracked} | MADE
    for name in names:
        if name in SKIPPED or not os.path.isfile(name):
            continue
        with open(name, encoding="utf-8", errors="replace") as file:
            text = file.read()
        wanted = [part for path in PATH.findall(text) for part in alternatives(path)]
        wanted = [(path, path) for path in wanted]
        if name.endswith(".md"):
            wanted += [(link, os.path.normpath(os.path.join(os.path.dirname(name), link)))
                       for link, _ in LINK.findall(text) if ":" not in link]
        if LIBRARY.match(name):
            gone = [bare for comment in COMMENT.findall(text) for bare in BARE.findall(comment) if bare not in sources]
            failed += len(gone)
            print("".join(f"{name}: {bare} does not exist\n" for bare in gone), end="")
        for shown, path in wanted:
            if not glob.glob(path) and not PLACEHOLDER.search(path):
                print(f"{name}: {shown} does not exist")
                failed += 1
    print(f"{len(names)} files, {failed} paths that lead nowhere")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
