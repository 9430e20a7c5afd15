#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""man_pages.py DIR HEADER...: writes DIR/man3/weft_<name>.3, a man page for each public header: what it is for, then each
declaration with its comment, under the headings of the header."""
import os
import re
import sys

TOKEN = re.compile(r"/\*.*?\*/|^#define[^\n]*(?:\\\n[^\n]*)*|^(?:typedef|WEFT_API|static inline|struct|enum)\b", re.S | re.M)
CODE_LINE = re.compile(r"^ {4}")


def roff(text):
    """Text without a meaning for troff."""
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"), flags=re.M)


def said(comment):
    """The lines of a comment."""
    return [re.sub(r"^\s*\*? ?", "", line, count=1).rstrip() for line in comment[2:-2].strip("\n").split("\n")]


def paragraphs(lines):
    """Lines as troff: code as it is, the rest filled."""
    out, in_code = [], False
    for line in lines:
        is_code = bool(CODE_LINE.match(line))
        if is_code and not in_code:
            out.append(".PP\n.nf")
        if in_code and line and not is_code:
            out.append(".fi\n.PP")
            in_code = False
        in_code = in_code or is_code
        out.append(roff(line if in_code else line.strip()) if line else ("" if in_code else ".PP"))
    return "\n".join([*out, ".fi"] if in_code else out)


def declaration(text, at):
    """Where the declaration that begins at `at` ends."""
    if text.startswith("#define", at):
        return re.compile(r"[^\n]*(?:\\\n[^\n]*)*").match(text, at).end()
    depth = 0
    for end in range(at, len(text)):
        depth += (text[end] in "{(") - (text[end] in "})")
        if depth == 0 and (text[end] == ";" or (text[end] == "}" and text.startswith("static inline", at))):
            return end + 1
    return len(text)


def shown(text):
    """A declaration as a reader wants it: inline functions without their bodies."""
    if text.startswith("static inline"):
        return text[:text.index("{")].strip() + ";"
    return text.removeprefix("WEFT_API ")


def page(path, text):
    """The man page of a header."""
    name = os.path.basename(path)[:-2]
    opener = re.search(r"/\* " + re.escape(name) + r"\.h: (.*?)\*/", text, re.S)
    lines = said("/*" + opener[1] + "*/")
    first = re.split(r"(?<=\.)\s", " ".join(lines), maxsplit=1)[0].rstrip(".")
    out = [f'.TH WEFT_{name.upper()} 3 "" "weft" "weft"', ".SH NAME", roff(f"weft/{name}.h - {first}"), ".SH SYNOPSIS",
           ".nf", f"#include <weft/{name}.h>", ".fi", ".SH DESCRIPTION", paragraphs(lines)]
    at, doc = opener.end(), None
    while found := TOKEN.search(text, at):
        piece = found[0]
        if piece.startswith("/* ----"):
            out.append(f".SH {roff(re.match(r'/. ---- (.*?) ----', piece)[1].upper())}")
            doc, at = None, found.end()
        elif piece.startswith("/*"):
            doc, at = said(piece), found.end()
        else:
            at = declaration(text, found.start())
            whole = text[found.start():at]
            if doc and not doc[0].startswith("Private") and not re.match(r"#define \w+_H$", whole):
                out += [".PP", ".nf", ".ft B", roff(shown(whole)), ".ft R", ".fi", ".RS 4", paragraphs(doc), ".RE"]
            doc = None if text.startswith("\n\n", at) else doc
    out += [".SH SEE ALSO", ".BR weft (1),", "the guide in docs/guide"]
    return "\n".join(out) + "\n"


def main():
    folder = os.path.join(sys.argv[1], "man3")
    os.makedirs(folder, exist_ok=True)
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(folder, f"weft_{os.path.basename(path)[:-2]}.3"), "w", encoding="utf-8") as file:
            file.write(page(path, text))


if __name__ == "__main__":
    main()
