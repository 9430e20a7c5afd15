#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""reference.py ROOT: every public function, type and macro of the headers is in docs/reference.

The names are found here by themselves, not by tools/weft-reference, which makes the pages. Then the
checkers are checked: with an invented name in a copy of the headers they must fail and name it."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HEADERS = ("jobs/base/include/weft", "jobs/include/weft", "ecs/include/weft", "ecs/blob/include/weft",
           "ecs/scene/include/weft", "scheduler/include/weft",
           "scheduler/shard/include/weft")
UNRULED = "must be one of the rules"
INVENTED = (
    ("jobs/include/weft/jobs.h", "/* Invented. Threads: any. */\nWEFT_API void weft_job_invented(void);"),
    ("ecs/include/weft/query.h", "/* An invented type. */\ntypedef struct weft_invented {\n    int x;\n} weft_invented;"),
    ("scheduler/include/weft/system.h", "/* An invented macro. */\n#define WEFT_INVENTED(x) (x)"),
    ("ecs/blob/include/weft/blob.h", "/* Invented, inline. */\nstatic inline int weft_blob_invented(int x)\n"
                                     "{\n    return x;\n}"),
    ("ecs/include/weft/entity.h", "WEFT_API void weft_entity_undocumented(void);", "weft_entity_undocumented"),
    ("ecs/include/weft/finder.h", "/* Invented, without a rule. */\nWEFT_API void weft_finder_invented(void);",
     "weft_finder_invented has no rule of threads"),
    ("jobs/include/weft/jobs.h", "/* Invented. Threads: owner, mostly. */\nWEFT_API void weft_job_invented(void);", UNRULED),
    ("ecs/include/weft/world.h", "/* Invented. Threads: any. Threads: owner. */\nWEFT_API void weft_world_invented(void);",
     UNRULED),
)


def declared(code):
    """The names that code without comments declares."""
    names = set(re.findall(r"^#define (WEFT_\w+)", code, re.M))
    names |= set(re.findall(r"^\}\s*(weft_\w+);", code, re.M))
    names |= set(re.findall(r"^typedef int \(\*(weft_\w+)\)", code, re.M))
    for line in re.findall(r"^(?:WEFT_API|static inline|WEFT_FINDER_INLINE|extern inline)[^;{]*", code, re.M):
        found = re.search(r"\b(weft_\w+)\s*\(", line)
        names |= {found[1]} if found else set()
    return {name for name in names if not name.endswith(("_", "_H"))}


def names_of(text):
    """The public names that a header declares: without those whose comment begins with Private."""
    private = set(re.findall(r"^#define (WEFT_\w+).*/\* private", text, re.M))
    for found in re.finditer(r"^/\* Private(?:(?!\*/).)*\*/\n(.*?)(?=^/\*|\Z)", text, re.S | re.M):
        private |= declared(re.sub(r"/\*.*?\*/", "", found[1].split("\n\n")[0], flags=re.S))
    return declared(re.sub(r"/\*.*?\*/", "", text, flags=re.S)) - private


def missing(root):
    """Public names that no page of the reference has."""
    pages = ""
    for path in glob.glob(os.path.join(root, "docs/reference/*.md")):
        with open(path, encoding="utf-8") as file:
            pages += file.read()
    shown = set(re.findall(r"`((?:weft|WEFT)_\w+)", pages))
    found, count = [], 0
    for folder in HEADERS:
        for path in glob.glob(os.path.join(root, folder, "*.h")):
            with open(path, encoding="utf-8") as file:
                names = names_of(file.read())
            count += len(names)
            found += [f"{os.path.relpath(path, root)}: {name}" for name in sorted(names - shown)]
    return found, count


def made(root):
    """What tools/weft-reference says of the pages: (exit status, text)."""
    done = subprocess.run([sys.executable, os.path.join(root, "tools/weft-reference"), "--check"],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def try_invented(root):
    """Each invented name must be found by both."""
    failures = []
    with tempfile.TemporaryDirectory() as copy:
        for folder in HEADERS + ("docs/reference", "tools"):
            shutil.copytree(os.path.join(root, folder), os.path.join(copy, folder))
        for header, declaration, *expected in INVENTED:
            path = os.path.join(copy, header)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            name = re.search(r"(?:weft|WEFT)_\w*(?:invented|undocumented|INVENTED)\w*", declaration)[0]
            end = text.rindex("#ifdef __cplusplus\n}")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text[:end] + declaration + "\n\n" + text[end:])
            if not any(line.endswith(" " + name) for line in missing(copy)[0]):
                failures.append(f"{name} is not missed on the pages")
            status, said = made(copy)
            if status == 0 or any(text not in said for text in expected):
                failures.append(f"tools/weft-reference --check accepts {name}: {said}")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    return failures


def main():
    root = os.path.abspath(sys.argv[1])
    absent, count = missing(root)
    failures = [f"{line} is not in docs/reference: run tools/weft-reference" for line in absent]
    if count < 350:
        failures.append(f"only {count} names were found in the headers")
    status, said = made(root)
    if status != 0:
        failures.append(said.strip())
    failures += try_invented(root)
    print("\n".join(failures) or f"{count} names are in docs/reference")
    sys.exit(1 if failures else 0)


main()
