#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""api.py ROOT API_JSON CC LIBRARY...: share/weft/api.json says what the headers and the libraries have.

It is what tools/weft-api makes now; a C program that asserts each size, offset, value and type of it
compiles, and does not once one of them is another; each symbol that the libraries export is in it, and
the other way round; the page of docs/guide/bindings.md prints what the example prints."""
import json
import os
import re
import subprocess
import sys
import tempfile

SIDES = ("jobs/base", "jobs", "ecs/blob", "ecs", "ecs/scene", "scheduler", "scheduler/shard", "tools/inspect")
WRONG = (  # kinds of lines of the program, and what makes each false
    (r"^SAME\(sizeof\(weft_\w+\), (\d+)\)", lambda n: n + 8), (r"^SAME\(offsetof\(\w+, \w+\), (\d+)\)", lambda n: n + 4),
    (r"^SAME\(WEFT_\w+, (\d+)\)", lambda n: n + 1), (r"^_Static_assert\(_Generic\(weft_\w+, weft_result \(\*\)\((\w)", None),
)


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def compiles(root, cc, text):
    """What the compiler says of the program; empty: nothing."""
    flags = [f"-I{root}/{side}/include" for side in SIDES]
    return run([cc, "-std=gnu17", "-fsyntax-only", *flags, "-x", "c", "-"], input=text).stderr


def exported(library):
    names = run(["nm", "-D", "--defined-only", library]).stdout
    return {name.split("@")[0] for name in re.findall(r"\S+$", names, re.M)} - {""}


def main():
    root, path, cc, *libraries = sys.argv[1:]
    tool = [sys.executable, os.path.join(root, "tools/weft-api"), "--root", root]
    failures = []
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if run(tool).stdout != text:
        failures.append(f"{path} is not what tools/weft-api makes: build it again")
    api = json.loads(text)
    program = run([*tool, "--check-program"]).stdout
    if said := compiles(root, cc, program):
        failures.append("the compiler says otherwise:\n" + said[:2000])
    for pattern, change in WRONG:
        found = re.search(pattern, program, re.M)
        false = str(change(int(found[1]))) if change else "int, " + found[1]
        if not compiles(root, cc, program[:found.start(1)] + false + program[found.end(1):]):
            failures.append(f"the program accepts another {found[0]}")

    symbols = {thing["name"]: thing["library"] for kind in ("functions", "variables") for thing in api[kind]
               if not thing.get("is_inline")}
    for library in libraries:
        name = re.search(r"lib([\w-]+)\.so", os.path.basename(library))[1]
        has = {symbol for symbol in exported(library) if symbol.startswith("weft_") and not symbol.startswith("weft__")}
        says = {symbol for symbol, of in symbols.items() if of == name}
        failures += [f"{name} exports {symbol}, which is not in it" for symbol in sorted(has - says)]
        failures += [f"{name} does not export {symbol}" for symbol in sorted(says - has)]

    page = os.path.join(root, "docs/guide/bindings.md")
    with open(page, encoding="utf-8") as file:
        wanted = re.search(r"^```text\n(.*?)^```$", file.read(), re.S | re.M)[1]
    example = run([sys.executable, os.path.join(root, "docs/examples/bindings/ctypes_weft.py"), path, libraries[0]])
    if example.returncode != 0 or example.stdout != wanted:
        failures.append(f"the example prints\n{example.stdout}{example.stderr[-1500:]}instead of\n{wanted}")
    print(f"{len(api['functions'])} functions, {len(api['structs'])} structs, {len(libraries)} libraries, {len(failures)} failures")
    sys.exit("\n".join(["FAILED", *failures]) if failures else 0)


if __name__ == "__main__":
    main()
