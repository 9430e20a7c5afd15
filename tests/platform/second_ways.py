#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""second_ways.py ROOT: every second way has a row in the table of docs/design/verification.md ("Second ways").

Where the library does the same in two ways, something in the sources decides which: a named constant that a size is compared with, or a
condition of the preprocessor; and where the public headers offer two forms, their names say so (FORMS). second_ways.txt names each with
the row that it belongs to, or with the reason why it makes no second way; weft_x_* are all public functions that no line names. What the
sources have and the list has not fails, as does what only the list has; each row needs a test that exists, a number of scripts, and what it leaves out.
"""
import fnmatch
import os
import re
import subprocess
import sys

LIST, PAGE = "tests/platform/second_ways.txt", "docs/design/verification.md"
REASONS = {"limit": "more is refused, with a result", "piece": "work is done in pieces of so much, by one code",
           "kind": "a number of a kind, a bit or a format", "room": "what is kept at most; what is beyond it is made again or forgotten",
           "pace": "when to wait, to look or to fetch; no result depends on it", "build": "tests, checkers and compilers only", "name": "a public function whose name only looks like a second form"}
COMMENT = re.compile(r"/\*.*?\*/", re.S)
CONSTANT = re.compile(r"^#define ([A-Z]\w+)[ \t]+(?![^\n]*\\\n)(?=[-(\d A-Z])[^\n\"{]*$|\b([A-Z][A-Z_0-9]{2,}|WEFT__[A-Z_0-9]+) *= *[^,}\n=]", re.M)
COMPARED = re.compile(r"(?:[^-=<>](?:<=|>=|<|>)[ (]*(?:\(?size_t\)|\(?uint64_t\))?[ (]*([A-Z]\w+)\b(?!\())|(?:\b([A-Z]\w+)(?: \* [\w.>-]+)? (?:<=|>=|<|>) )")
NO_BRANCH = re.compile(r"for \(|static_assert|WEFT_ASSERT|WEFT__ASSERT")
CONDITION = re.compile(r"^# *(?:if|elif|ifdef|ifndef)\b(.*)$", re.M)
PUBLIC = re.compile(r"^WEFT_API [^;({]*?\b(weft_\w+)\(", re.M)
FORMS = re.compile(r"_(many|unordered|memory|json|parallel|values)$|_rows|^weft_recorder_|^weft_query_(add|remove|set|enable|destroy)|^weft_scene_fill$|^weft_live_start$")


def sources(root):
    listed = subprocess.run(["git", "ls-files", "ecs", "jobs", "scheduler"], cwd=root, capture_output=True, text=True).stdout.split()
    for name in listed:
        if name.endswith((".c", ".h")) and os.path.exists(os.path.join(root, name)):
            with open(os.path.join(root, name), encoding="utf-8") as file:
                yield name, COMMENT.sub("", file.read())


def collect(texts):
    """{name: where} of what decides between ways, or names a second form."""
    constants, found = set(), {}
    for text in texts.values():
        constants |= {m[1] or m[2] for m in CONSTANT.finditer(text)}
    for name, text in texts.items():
        for line in text.split("\n"):
            if not NO_BRANCH.search(line):
                for m in COMPARED.finditer(line):
                    if (m[1] or m[2]) in constants:
                        found.setdefault(m[1] or m[2], name)
        for condition in CONDITION.findall(text):
            for word in re.findall(r"[A-Za-z_]\w+", condition):
                if word != "defined" and not word.endswith("_H"):
                    found.setdefault(word, name)
        if "/include/" in name:
            for function in PUBLIC.findall(text):
                if FORMS.search(function):
                    found.setdefault(function, name)
    return found


def read_list(path):
    """{name: row or reason}, and the wrong lines."""
    told, wrong = {}, []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.split("#")[0].split()
            for name in words[1:]:
                if name in told:
                    wrong.append(f"{LIST}:{number}: {name} stands twice")
                told[name] = words[0].rstrip(":")
    return told, wrong


def read_rows(text):
    """{id: cells} of the table below "## Second ways"."""
    part = text.partition("\n## Second ways\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.split("\n") if line.startswith("| `")]
    return {row[0].strip("`"): row for row in rows}


def check(root, texts, page):
    found, (told, wrong), rows = collect(texts), read_list(os.path.join(root, LIST)), read_rows(page)
    for pattern in [name for name in told if "*" in name]:
        family = [name for name in found if name not in told and fnmatch.fnmatchcase(name, pattern)]
        told.update(dict.fromkeys(family or [pattern], told.pop(pattern)))
    wrong += [f"{where}: {name} decides between two ways: give it a row in {LIST}" for name, where in sorted(found.items()) if name not in told]
    wrong += [f"{LIST}: {name} is in no source" for name in sorted(told) if name not in found]
    wrong += [f"{LIST}: {name}: {row} is neither a row of {PAGE} nor a reason" for name, row in sorted(told.items())
              if row not in rows and row not in REASONS]
    for row, cells in rows.items():
        if len(cells) != 5:
            wrong.append(f"{PAGE}: {row}: {len(cells)} cells, not 5")
            continue
        tests = re.findall(r"`([\w./]+)`", cells[2])
        named = [t for t in tests if any(os.path.exists(os.path.join(root, p)) for p in (t, "tests/" + t, "tests/" + t + ".c"))]
        wrong += [f"{PAGE}: {row}: {t} does not exist" for t in tests if t not in named]
        if not named and not cells[4]:
            wrong.append(f"{PAGE}: {row}: no test, and nothing is said to be missing")
        if named and not re.search(r"\d|fixed", cells[3]):
            wrong.append(f"{PAGE}: {row}: how many scripts?")
    return found, rows, wrong


def seeded(root, texts, page):
    """What the check must notice, on the same sources with a change."""
    name = "ecs/src/commands/playback.c"
    more = dict(texts)
    more[name] += "\n#define ROWS_ANEW 77u\nstatic bool is_new(uint32_t count)\n{\n    return count > ROWS_ANEW;\n}\n"
    more["ecs/include/weft/query.h"] += "\n#if WEFT_ANEW\n#endif\nWEFT_API weft_result weft_entity_anew_many(void);\n"
    wrong = check(root, more, page)[2]
    for word in ("ROWS_ANEW", "WEFT_ANEW", "weft_entity_anew_many"):
        if not any(f": {word} decides" in line for line in wrong):
            yield f"self test: {word} was not noticed"
    row = next(iter(read_rows(page)))
    if not any(f": {row} is neither" in line or row in line for line in check(root, texts, page.replace(f"| `{row}` |", "| gone |"))[2]):
        yield f"self test: the row {row} may go"
    if not any("test_none does not exist" in line for line in check(root, texts, page.replace("`ecs/test_commands_agree`", "`ecs/test_none`"))[2]):
        yield "self test: a test may go"


def main():
    root = sys.argv[1]
    texts = dict(sources(root))
    if not texts:
        print("no git: skipped")
        return 77
    with open(os.path.join(root, PAGE), encoding="utf-8") as file:
        page = file.read()
    found, rows, wrong = check(root, texts, page)
    wrong += seeded(root, texts, page)
    print(*wrong, sep="\n")
    print(f"{len(found)} deciders, {len(rows)} rows, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
