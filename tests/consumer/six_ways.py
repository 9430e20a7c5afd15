#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""six_ways.py [WAY ...]: from `git clone` to an own program that runs, in each of the six ways of
docs/guide/embedding.md, by the commands of that page and nothing else. The program is that of README.md
(C), docs/guide/cpp.md or docs/guide/python.md. Prints the seconds of each way. It compiles the library
five times: only with WEFT_DEEP in the environment, or with the ways named (file, pkg-config, cmake,
fetch, cpp, python)."""
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Way: the sections whose commands it takes, in order; the file of its program.
WAYS = {
    "file": (["One file"], "app.c"),
    "pkg-config": (["Install", "pkg-config"], "app.c"),
    "cmake": (["Install", "CMake, installed"], "app/app.c"),
    "fetch": (["CMake, a part of your build"], "app/app.c"),
    "cpp": (["C++"], "app.cpp"),
    "python": (["Python"], "app.py"),
}


def read(page):
    with open(os.path.join(SOURCE, page), encoding="utf-8") as file:
        return file.read()


def program(kind):
    """The program of a page, and what it prints."""
    page = {"c": "README.md", "cpp": "docs/guide/cpp.md", "python": "docs/guide/python.md"}[kind]
    blocks = BLOCK.findall(read(page))
    at = next(i for i, (k, text) in enumerate(blocks) if k == kind)
    return blocks[at][1], blocks[at + 1][1]


def sections():
    """Title: the blocks of docs/guide/embedding.md."""
    parts = re.split(r"^## (.+)\n", read("docs/guide/embedding.md"), flags=re.MULTILINE)
    return {title: BLOCK.findall(text) for title, text in zip(parts[1::2], parts[2::2])}


def written(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def walk(way, pages, folder):
    """Goes one way in an empty folder; what its program printed."""
    titles, name = WAYS[way]
    source, wanted = program({".c": "c", ".cpp": "cpp", ".py": "python"}[os.path.splitext(name)[1]])
    if way == "file":
        source = source.replace("<weft/weft.h>", '"weft.h"')
    if way == "cpp":
        source = source.replace("<weft/weft.hpp>", '"weft.hpp"')
    written(os.path.join(folder, name), source)
    printed = ""
    for title in titles:
        for kind, text in pages[title]:
            # WEFT: where the reader clones from; this tree, as it is committed.
            text = re.sub(r"\bWEFT\b", "file://" + SOURCE, text) if kind == "sh" else \
                text.replace("GIT_REPOSITORY WEFT GIT_TAG main", f"GIT_REPOSITORY file://{SOURCE} GIT_TAG {COMMIT}")
            if kind == "cmake":
                written(os.path.join(folder, "app", "CMakeLists.txt"), text)
            elif kind == "sh":
                done = subprocess.run(["sh", "-e"], input=text, cwd=folder, capture_output=True, text=True, env=SYSTEM)
                if done.returncode != 0:
                    sys.exit(f"FAILED: {way}, {title}:\n{text}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
                printed = done.stdout
    if not printed.endswith(wanted):
        sys.exit(f"FAILED: {way}: the program printed\n{printed[-500:]}instead of\n{wanted}")


def main():
    ways = sys.argv[1:] or list(WAYS)
    if not sys.argv[1:] and not os.environ.get("WEFT_DEEP"):
        print("skipped: only with WEFT_DEEP")
        sys.exit(77)
    pages = sections()
    for way in ways:
        with tempfile.TemporaryDirectory() as folder:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            begin, spent = time.monotonic(), used.ru_utime + used.ru_stime
            walk(way, pages, folder)
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            print(f"{way}: {time.monotonic() - begin:.0f} s, {used.ru_utime + used.ru_stime - spent:.0f} s of processor time",
                  flush=True)


SYSTEM = {**os.environ, "PATH": "/usr/bin:" + os.environ["PATH"]}  # the python3 of the system's packages
COMMIT = subprocess.run(["git", "-C", SOURCE, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
if __name__ == "__main__":
    main()
