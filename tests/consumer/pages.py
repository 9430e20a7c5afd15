#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pages.py BUILD_DIR CC [CXX]: compiles the C of README.md and docs/guide against an installed weft.

A ```c block with a main is a program: it is compiled as strict C11 with warnings as errors, run,
and has to print the ```text block that follows it; no result that it drops may be another than WEFT_OK (looked_at.py). Other ```c blocks of a page are compiled
together behind pages_prelude.h, which declares what they use: paragraphs that define types or
functions at file scope, each of the others in a function of its own. ```cpp blocks are compiled and
run the same way as C++17, where there is a compiler for it; one that begins with an #include stands alone. A ```json block that begins with the line
"// NAME" is the file NAME of the folder where the programs of its page run."""
import glob
import os
import re
import subprocess
import sys
import tempfile

import looked_at

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_SCOPE = re.compile(r"(?:/\*[^\n]*\*/\n)?(?:typedef |#include|WEFT_KERNEL |void \w+\(weft_slice|static [\w *]+\()")
WARNINGS = ["-O1", "-Wall", "-Wextra", "-Werror"]
FLAGS = ["-std=c11", *WARNINGS]


def both_of(what, command, **options):
    """The output and the errors of a command; what it was doing, and both, when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"FAILED: {what}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def run(what, command, **options):
    """The output alone."""
    return both_of(what, command, **options)[0]


def fragments_of(blocks):
    """One C file with the fragments of a page."""
    scope, bodies = ['#include "pages_prelude.h"'], []
    for number, block in enumerate(blocks):
        body = []
        for paragraph in re.split(r"\n\s*\n(?=\S)", block.strip()):
            (scope if FILE_SCOPE.match(paragraph) else body).append(paragraph)
        if body:
            bodies.append(f"void fragment_{number}(void);\nvoid fragment_{number}(void)\n{{\n"
                          + "\n".join(body) + "\n}")
    return "\n".join(scope + bodies) + "\n"


def compile_fragments(page, source, texts, command):
    """Compiles the fragments of a page, as one file `source`."""
    if texts:
        with open(source, "w", encoding="utf-8") as file:
            file.write(fragments_of(texts))
        run(f"{page}: a fragment does not compile",
            [*command, "-Wno-unused", "-Wno-unused-parameter", "-I", os.path.dirname(__file__), "-c", source,
             "-o", source + ".o"])


def check(page, work, compilers, flags):
    """Compiles and runs what a page holds; how many programs, how many fragments."""
    cc, cxx = compilers
    with open(os.path.join(SOURCE, page), encoding="utf-8") as file:
        blocks = BLOCK.findall(file.read())
    stem = os.path.join(work, page.replace("/", "_"))
    for name, text in [(re.match(r"// (\S+)\n", text), text) for kind, text in blocks if kind == "json"]:
        if name:
            with open(os.path.join(work, name[1]), "w", encoding="utf-8") as file:
                file.write(text)
    commands = {"c": [cc, *FLAGS], "cpp": [cxx, "-std=c++17", *WARNINGS]}
    if cxx is None:
        blocks = [(kind, text) for kind, text in blocks if kind != "cpp"]
    programs = [i for i, (kind, text) in enumerate(blocks) if kind in commands and "int main(" in text]
    for i in programs:
        source = f"{stem}.{blocks[i][0]}"
        with open(source, "w", encoding="utf-8") as file:
            file.write(blocks[i][1])
        looks = looked_at.header(os.path.join(work, "prefix", "include"), work) if blocks[i][0] == "c" else []
        _, warnings = both_of(f"{page}: its program does not compile",
                              [*commands[blocks[i][0]], *looks, source, "-o", stem, *flags, "-lm"])
        if i + 1 < len(blocks) and blocks[i + 1][0] == "sh":
            continue  # the page runs it by its commands: a test of its own does so, too (tests/profile)
        printed, errors = both_of(f"{page}: its program fails", [stem], cwd=work)
        unseen = looked_at.faults(errors, looked_at.dropped(warnings))
        if unseen:
            sys.exit(f"FAILED: {page}: " + "\n".join(unseen))
        if i + 1 == len(blocks) or blocks[i + 1][0] != "text":
            sys.exit(f"FAILED: {page}: put what the program prints behind it, in a ```text block")
        if printed != blocks[i + 1][1]:
            sys.exit(f"FAILED: {page}: its program prints\n{printed}instead of\n{blocks[i + 1][1]}")
    fragments = [text for i, (kind, text) in enumerate(blocks) if kind == "c" and i not in programs]
    compile_fragments(page, stem + "_fragments.c", fragments, [cc, *FLAGS, *flags])
    plus = [text for i, (kind, text) in enumerate(blocks) if kind == "cpp" and i not in programs]
    alone = [text for text in plus if text.startswith("#include")]
    compile_fragments(page, stem + "_fragments.cpp", [text for text in plus if text not in alone],
                      [*commands["cpp"], *flags])
    for text in alone:
        with open(stem + "_alone.cpp", "w", encoding="utf-8") as file:
            file.write(text)
        run(f"{page}: a fragment does not compile", [*commands["cpp"], "-fsyntax-only", *flags, stem + "_alone.cpp"])
    return len(programs), len(fragments) + len(plus)


def main():
    build, cc, cxx = [*sys.argv[1:4], None][:3]
    with tempfile.TemporaryDirectory() as work:
        run("the installation", ["cmake", "--install", build, "--prefix", work + "/prefix"])
        pc = os.path.dirname(glob.glob(work + "/prefix/**/weft.pc", recursive=True)[0])
        def flags_of(library):
            flags = run("pkg-config", ["pkg-config", "--cflags", "--libs", library],
                        env={**os.environ, "PKG_CONFIG_PATH": pc}).split()
            return [*flags, "-Wl,-rpath," + os.path.dirname(pc)]

        flags = flags_of("weft-scene")
        guide = sorted(glob.glob("docs/guide/*.md", root_dir=SOURCE))
        for page in ["README.md", *guide]:
            own = flags_of("weft-shard") if page == "docs/guide/shards.md" else flags
            programs, fragments = check(page, work, (cc, cxx), own)
            print(f"{page}: {programs} programs, {fragments} fragments")
            if page == "README.md" and programs != 1:
                sys.exit("FAILED: README.md holds no C program")


if __name__ == "__main__":
    main()
