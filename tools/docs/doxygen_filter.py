#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""doxygen_filter.py FILE: prints a public header or a page as Doxygen wants it.

Headers keep plain comments. Here a comment in front of a declaration becomes a documentation comment, one behind a
member documents that member, the opener documents the file, and a heading ("---- ... ----") becomes a group. What
words of a comment mean to Doxygen is taken away: they are plain text. In pages links to other pages stay; links to
sections (#...) and to README.md become text, because Doxygen names these otherwise."""
import re
import sys

HEADING = re.compile(r"^/\* ---- (.*?) ---- \*/$", re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
SECTIONS = ("Threads:", "Errors:", "Cost:")


def plain(text):
    """Text in which no character has a meaning for Doxygen."""
    text = re.sub(r"([\\@#<>&%$])", lambda m: {"<": "&lt;", ">": "&gt;", "&": "&amp;"}.get(m[1], "\\" + m[1]), text)
    return text.replace("*/", "* /").replace("::", ":\\:")


def body(comment):
    """The lines of a comment without its marks; code (four spaces more) as a code block."""
    lines = [re.sub(r"^\s*\*? ?", "", line, count=1) for line in comment[2:-2].split("\n")]
    out, in_code = [], False
    for line in lines:
        is_code = line.startswith("    ") and line.strip()
        if is_code and not in_code:
            out.append("\\verbatim")
        if in_code and not is_code and line.strip():
            out.append("\\endverbatim")
        in_code = is_code or (in_code and not line.strip())
        out.append(line[4:] if in_code else plain(line))
    if in_code:
        out.append("\\endverbatim")
    text = "\n".join(out).strip()
    for section in SECTIONS:
        text = re.sub(rf"(?<!\w){section} ", f"\n\n<b>{section[:-1]}.</b> ", text)
    return text


def header(text, name):
    """A header with documentation comments."""
    text = text.replace("/* SPDX-License-Identifier: MIT */\n", "", 1)
    groups = iter(range(1000))
    stem = re.sub(r"\W", "_", name)
    opener = COMMENT.match(text)
    out, at, is_open = [], 0, False
    if opener:
        said = re.sub(rf"^{re.escape(name)}: ", "", body(opener[0]))
        out.append(f"/** \\file\n{said} */")
        at = opener.end()
    for found in COMMENT.finditer(text, at):
        out.append(text[at:found.start()])
        at = found.end()
        heading = HEADING.match(found[0])
        line_before = text[text.rfind("\n", 0, found.start()) + 1:found.start()].strip()
        if heading:
            out.append(("/** @} */\n" if is_open else "") +
                       f"/** \\defgroup {stem}_{next(groups)} {plain(heading[1])} ({name})\n@{{ */")
            is_open = True
        elif line_before:  # behind something on its line
            out.append(f"/**< {body(found[0])} */")
        else:
            out.append(f"/** {body(found[0])} */")
    rest = text[at:]
    if is_open:
        end = rest.rfind("#ifdef __cplusplus")
        end = end if end >= 0 else rest.rfind("#endif")
        rest = rest[:end] + "/** @} */\n" + rest[end:]
    return "".join(out) + rest


def page(text):
    """A page of the documentation."""
    text = re.sub(r"\]\(([^)#]+\.md)#[^)]*\)", r"](\1)", text)
    text = re.sub(r"\[([^\]]+)\]\((?:#[^)]*|[^)]*README\.md)\)", r"\1", text)  # several pages have this name
    return text.replace("#define", "&#35;define")


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    name = path.rsplit("/", 1)[-1]
    sys.stdout.write(page(text) if path.endswith(".md") else header(text, name))


if __name__ == "__main__":
    main()
