#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""man_pages.py DIR FILE...: writes a man page of each file. Of a header of C, DIR/man3/weft_<name>.3 (weft.3 of weft.h):
what it is for, then each declaration with its comment, under the headings of the header; the name of each function leads
to it. Of a header of C++, DIR/man3/<name>.hpp.3: what it is for. Of a command in Python, DIR/man1/<name>.1: its docstring."""
import ast
import os
import re
import sys
import textwrap

TOKEN = re.compile(r"/\*.*?\*/|^#define[^\n]*(?:\\\n[^\n]*)*|^(?:typedef|WEFT_API|WEFT_API_DATA|static inline|struct|enum)\b", re.S | re.M)
CODE_LINE = re.compile(r"^ {2}")


def roff(text):
    """Text without a meaning for troff."""
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"), flags=re.M)


def wrapped(text, width, first, rest):
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)


def narrow(text, width):
    """Code as it fits a terminal of 80 columns: a comment behind a line that is too long goes above it, what is too long is
    broken at blanks."""
    text = re.sub(r"(/\*(?:(?!\*/).)*)\n\s+(?:\* )?(?=(?:(?!/\*).)*?\*/)", r"\1 ", text, flags=re.S) if "\n" in text else text
    while (joined := re.sub(r"(/\*(?:(?!\*/)[^\n])*)\n\s*(?:\* )?", r"\1 ", text)) != text:
        text = joined
    out = []
    for line in text.split("\n"):
        if len(line) <= width:
            out.append(line)
            continue
        indent = re.match(r"\s*", line)[0][:8]
        behind = re.fullmatch(r"(.*?\S)\s*(/\*.*\*/)(\s*\\?)", line)
        if behind:
            out += wrapped(behind[2], width, indent, indent + "   ")
            line = behind[1] + behind[3]
        elif line.lstrip().startswith("/*"):
            out += wrapped(line.strip(), width, indent, indent + "   ")
            continue
        if len(line) > width:
            line = indent + re.sub(r" {2,}", "  ", line.strip())
        out += [line] if len(line) <= width else wrapped(line.strip(), width, indent, indent + "    ")
    return "\n".join(out)


def said(comment):
    """The lines of a comment."""
    return [re.sub(r"^\s*\*? ?", "", line, count=1).rstrip() for line in comment[2:-2].strip("\n").split("\n")]


def paragraphs(lines, width=72):
    """Lines as troff: code as it is where it fits, the rest filled."""
    out, in_code = [], False
    for line in lines:
        is_code = bool(CODE_LINE.match(line))
        if is_code and not in_code:
            out.append(".PP\n.nf")
        if in_code and line and not is_code:
            out.append(".fi\n.PP")
            in_code = False
        in_code = in_code or is_code
        out.append(roff(narrow(line, width) if in_code else line.strip()) if line else ("" if in_code else ".PP"))
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
    text = re.sub(r"__attribute__\(\(.*?\)\)\s*", "", text)
    if text.startswith("static inline"):
        return text[:text.index("{")].strip() + ";"
    return re.sub("^WEFT_API(_DATA)? ", "", text)


def title_of(header):
    """The name of a header's page."""
    return "weft_" + header[:-2] if header.endswith(".h") and header != "weft.h" else header.removesuffix(".h")


def page(header, text):
    """The man page of a header, and the functions that it declares."""
    text = re.sub(r"^WEFT_\w*INLINE\b", "static inline", text, flags=re.M)
    opener = re.search(r"/\* " + re.escape(header) + r": (.*?)\*/", text, re.S)
    lines = said("/*" + opener[1] + "*/")
    first = re.split(r"(?<=\.)\s", " ".join(lines), maxsplit=1)[0].rstrip(".")
    out = [f'.TH {title_of(header).upper()} 3 "" "weft" "weft"', ".SH NAME", f"weft/{roff(header)} \\- {roff(first)}", ".SH SYNOPSIS",
           ".nf", f"#include <weft/{header}>", ".fi", ".SH DESCRIPTION", paragraphs(lines)]
    at, doc, functions = opener.end(), None, []
    while found := header.endswith(".h") and TOKEN.search(text, at):
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
                functions += re.findall(r"^[^(]*?\b(weft_\w+)\(", shown(whole))
                out += [".PP", ".nf", ".ft B", roff(narrow(shown(whole), 72)), ".ft R", ".fi", ".RS 4", paragraphs(doc, 68), ".RE"]
            doc = None if text.startswith("\n\n", at) else doc
    out += [".SH SEE ALSO", ".BR weft (1),", "the guide in docs/guide"]
    return "\n".join(out) + "\n", functions


def command_page(name, text):
    """The man page of a command, whose docstring begins with `name: what it does.`, then its usage."""
    first, usage, *rest = ast.get_docstring(ast.parse(text)).split("\n\n")
    out = [f'.TH {name.upper()} 1 "" "weft" "weft"', ".SH NAME", roff(name) + " \\- " + roff(first.removeprefix(name + ": ").rstrip(".")),
           ".SH SYNOPSIS", ".nf", roff(re.sub(r"^(usage:|      ) ", "", usage, flags=re.M)), ".fi", ".SH DESCRIPTION"]
    for part in rest:
        title = re.match(r"(options|examples):\n", part)
        if title:
            out += [f".SH {title[1].upper()}", ".nf", roff(narrow(part[title.end():], 73)), ".fi"]
        else:
            out += [roff(part), ".PP"]
    out += [".SH SEE ALSO", ".BR weft (1)"]
    return "\n".join(out) + "\n"


def write(folder, section, name, content):
    os.makedirs(os.path.join(folder, f"man{section}"), exist_ok=True)
    with open(os.path.join(folder, f"man{section}", f"{name}.{section}"), "w", encoding="utf-8") as file:
        file.write(content)


def main():
    folder = sys.argv[1]
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        name = os.path.basename(path)
        if not re.search(r"\.(h|hpp)$", name):
            write(folder, 1, name, command_page(name, text))
            continue
        content, functions = page(name, text)
        write(folder, 3, title_of(name), content)
        for function in functions:
            if function != title_of(name):
                write(folder, 3, function, f".so man3/{title_of(name)}.3\n")


if __name__ == "__main__":
    main()
