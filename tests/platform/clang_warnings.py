#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clang_warnings.py BUILD_DIR: reads every source of a configured build with its compiler (-fsyntax-only) and fails with what
it says; nothing is compiled, and what a build makes (page_files.c) is not read. For commits with which ./check does not build with clang: its warnings are those of the front end."""
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys


def reading(command):
    """The command without ccache and without what it would write."""
    words = shlex.split(command)
    if os.path.basename(words[0]) == "ccache":
        del words[0]
    at = words.index("-o")
    return words[:at] + words[at + 2:] + ["-fsyntax-only"]


def main():
    with open(os.path.join(sys.argv[1], "compile_commands.json"), encoding="utf-8") as file:
        sources = {entry["file"]: entry for entry in json.load(file) if os.path.exists(entry["file"])}  # each once
    read = lambda entry: subprocess.run(reading(entry["command"]), cwd=entry["directory"], capture_output=True, text=True, check=False)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, done in zip(sources, pool.map(read, sources.values())):
            if done.returncode or done.stderr:
                failed += 1
                print(f"FAILED: {path}:\n{done.stderr[:4000]}")
    print(f"{len(sources)} sources read, {failed} with words")
    return 1 if failed or not sources else 0


sys.exit(main())
