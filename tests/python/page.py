# SPDX-License-Identifier: MIT
"""page.py PAGE: the ```python blocks of a page are run behind each other, in one namespace; what they
print has to be the ```text block that follows them."""
import contextlib
import io
import re
import sys

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        blocks = BLOCK.findall(file.read())
    names, count = {}, 0
    for i, (kind, text) in enumerate(blocks):
        if kind != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(text, f"{sys.argv[1]}, block {i}", "exec"), names)
        wanted = blocks[i + 1][1] if i + 1 < len(blocks) and blocks[i + 1][0] == "text" else ""
        if printed.getvalue() != wanted:
            sys.exit(f"FAILED: block {i} prints\n{printed.getvalue()}instead of\n{wanted}")
        count += 1
    print(f"{sys.argv[1]}: {count} blocks")
    if count == 0:
        sys.exit("FAILED: no ```python block")


if __name__ == "__main__":
    main()
