# SPDX-License-Identifier: MIT
"""looked_at.py: runs programs of the docs with the result of each call looked at (used by pages.py and
run_examples.py).

A program that drops a result does not see that the call failed. So each function of the public headers that
returns a weft_result is replaced by a macro that says on standard error which call gave something else than
WEFT_OK, and where; the compiler tells which results are dropped. One that failed and was dropped is a fault;
what a program does with the others is in what it prints. A world that ends with a broken declaration as its
last error, which checked builds set in loops of the owner, is a fault as well."""
import glob
import os
import re

HEADER = "looked_at.h"
FUNCTION = re.compile(r"^WEFT_API weft_result\s+(weft_\w+)\(", re.MULTILINE)
IGNORED = re.compile(r":(\d+):\d+: warning: ignoring return value of .?looked_at", re.MULTILINE)
FAILED = re.compile(r"^looked_at: (\d+) (\w+) (\w+)$", re.MULTILINE)
MOST_LINES = 16  # of one call
TEXT = """\
static inline __attribute__((warn_unused_result, unused)) weft_result looked_at(int line, const char *what, weft_result result)
{
    if (result != WEFT_OK) fprintf(stderr, "looked_at: %%d %%s %%s\\n", line, what, weft_result_name(result));
    return result;
}
static inline __attribute__((unused)) weft_result looked_at_end(weft_world *world)
{
    if (world != NULL && weft_world_error(world)->code == WEFT_UNDECLARED_ACCESS)
        fprintf(stderr, "looked_at: 0 weft_world_destroy: %%s\\n", weft_world_error(world)->text);
    return weft_world_destroy(world);
}
%s
#undef weft_world_destroy
#define weft_world_destroy(world) looked_at(__LINE__, "weft_world_destroy", looked_at_end(world))
"""


def header(include, folder):
    """Writes the header for an installed include directory; the flags that make a C compiler use it."""
    paths = sorted(glob.glob(os.path.join(include, "weft", "*.h")))
    names = set()
    for path in paths:
        with open(path, encoding="utf-8") as file:
            names.update(FUNCTION.findall(file.read()))
    own = os.path.join(folder, HEADER)
    with open(own, "w", encoding="utf-8") as file:
        file.write("#include <stdio.h>\n")
        file.writelines(f"#include <weft/{os.path.basename(path)}>\n" for path in paths)
        file.write(TEXT % "\n".join(f'#define {name}(...) looked_at(__LINE__, "{name}", ({name})(__VA_ARGS__))'
                                     for name in sorted(names)))
    return ["-include", own, "-Wno-error=unused-result"]


def dropped(warnings):
    """The lines whose results are dropped, by what the compiler said."""
    return [int(line) for line in IGNORED.findall(warnings)]


def faults(errors, lines):
    """What went wrong unseen, by what the program wrote to standard error."""
    found = [line for line in errors.split("\n") if line.startswith("looked_at: 0 ")]
    for line, what, result in FAILED.findall(errors):
        if any(0 <= int(line) - at <= MOST_LINES for at in lines):
            found.append(f"line {line}: {what} gave {result}, which the program drops")
    return list(dict.fromkeys(found))
