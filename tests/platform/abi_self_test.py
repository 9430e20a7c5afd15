#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""abi_self_test: plants one change per row in a tiny library and checks what tools/weft-abi makes of it.

usage: abi_self_test.py SOURCE_DIR CC. Skipped (77) without abigail-tools.
"""
import os
import shutil
import subprocess
import sys
import tempfile

HEADER = """#define WEFT_API __attribute__((visibility("default")))
#define WEFT_THING_SHIFT 3
typedef struct weft_thing weft_thing;
typedef enum weft_thing_kind { WEFT_THING_SMALL = 1, WEFT_THING_LARGE = 2 } weft_thing_kind;
typedef enum weft_result { WEFT_OK = 0, WEFT_RESULT_COUNT = 1 } weft_result;
typedef struct weft_thing_desc {
    weft_thing_kind kind;
    int size;
} weft_thing_desc;
typedef struct weft_thing_stats {
    long used;
    long free;
} weft_thing_stats;
typedef struct weft_thing_head {
    long first;
} weft_thing_head;
typedef void (*weft_thing_fn)(weft_thing *thing, int value);
WEFT_API weft_thing *weft_thing_create(const weft_thing_desc *desc);
WEFT_API void weft_thing_stats_get(const weft_thing *thing, weft_thing_stats *out, unsigned long out_bytes);
WEFT_API weft_result weft_thing_each(weft_thing *thing, weft_thing_fn fn);
static inline long weft_thing_first(const weft_thing *thing)
{
    return ((const weft_thing_head *)(const void *)thing)->first << WEFT_THING_SHIFT;
}
"""
SOURCE = """#include <weft/thing.h>
struct weft_thing {
    weft_thing_head head;
    int inside;
};
static weft_thing only;
weft_thing *weft_thing_create(const weft_thing_desc *desc)
{
    only.inside = desc->size;
    return &only;
}
void weft_thing_stats_get(const weft_thing *thing, weft_thing_stats *out, unsigned long out_bytes)
{
    if (out_bytes >= sizeof out->used) out->used = thing->inside;
}
weft_result weft_thing_each(weft_thing *thing, weft_thing_fn fn)
{
    fn(thing, thing->inside);
    return WEFT_OK;
}
"""
OLD = "libweft.so.0.1"
# name, text replaced in both files, replacement, SONAME, exit status, what the report must name
CASES = [
    ("nothing changed", "", "", OLD, 0, "compatible"),
    ("a field of a private struct", "    int inside;", "    int before;\n    int inside;", OLD, 0, "compatible"),
    ("an enumerator added", "WEFT_THING_LARGE = 2 }", "WEFT_THING_LARGE = 2, WEFT_THING_HUGE }", OLD, 0,
     "compatible"),
    ("a result code added", "WEFT_RESULT_COUNT = 1", "WEFT_NEW = 1, WEFT_RESULT_COUNT = 2", OLD, 0, "compatible"),
    ("a constant added", "#define WEFT_THING_SHIFT 3", "#define WEFT_THING_SHIFT 3\n#define WEFT_THING_MAX 9", OLD,
     0, "compatible"),
    ("a struct added", "typedef void (", "typedef struct weft_pair {\n    int a;\n} weft_pair;\ntypedef void (", OLD,
     0, "compatible"),
    ("a function added", "typedef void (", "WEFT_API int weft_thing_more(void);\ntypedef void (", OLD, 0,
     "compatible"),
    ("a filled struct grows at its end", "    long free;", "    long free;\n    long spare;", OLD, 0, "compatible"),
    ("a filled struct grows inside", "    long free;", "    long spare;\n    long free;", OLD, 1,
     "weft_thing_stats"),
    ("a filled struct shrinks", "    long free;\n", "", OLD, 1, "weft_thing_stats"),
    ("a descriptor grows", "    int size;", "    int size;\n    int spare;", OLD, 1, "weft_thing_desc"),
    ("a struct that inline functions read", "    long first;", "    int kind;\n    long first;", OLD, 1,
     "weft_thing_head"),
    ("a constant that inline functions use", "SHIFT 3", "SHIFT 4", OLD, 1, "WEFT_THING_SHIFT"),
    ("the value of an enumerator", "SMALL = 1", "SMALL = 3", OLD, 1, "WEFT_THING_SMALL"),
    ("a parameter of a function", "unsigned long out_bytes", "unsigned out_bytes", OLD, 1,
     "weft_thing_stats_get"),
    ("a parameter of a callback", "(*weft_thing_fn)(weft_thing *thing, int value)",
     "(*weft_thing_fn)(weft_thing *thing, long value)", OLD, 1, "weft_thing_fn"),
    ("a function removed", "WEFT_API weft_result weft_thing_each", "weft_result weft_thing_each", OLD, 1,
     "weft_thing_each"),
    ("a descriptor grows, with a higher SONAME", "    int size;", "    int size;\n    int spare;", "libweft.so.0.2",
     0, "was raised"),
    ("a lower SONAME", "", "", "libweft.so.0.0", 1, "never lowered"),
]


class Bed:
    """A folder with the tiny library, its headers and the record of its first version."""

    def __init__(self, work, root, cc):
        self.work, self.cc = work, cc
        self.tool = os.path.join(root, "tools", "weft-abi")
        os.makedirs(os.path.join(work, "include", "weft"))

    def build(self, header, source, soname):
        """Optimised, hidden but for WEFT_API, without debug information: as libweft is installed."""
        with open(os.path.join(self.work, "include", "weft", "thing.h"), "w", encoding="utf-8") as file:
            file.write(header)
        with open(os.path.join(self.work, "thing.c"), "w", encoding="utf-8") as file:
            file.write(source)
        subprocess.run([self.cc, "-O2", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{self.work}/include",
                        f"-Wl,-soname,{soname}", f"{self.work}/thing.c", "-o", f"{self.work}/thing.so"], check=True)

    def weft_abi(self, command, record="thing.abi.xz", path=None):
        """Exit status and output of tools/weft-abi."""
        environment = dict(os.environ, PATH=path) if path else None
        done = subprocess.run(
            [sys.executable, self.tool, command, f"{self.work}/thing.so", "--headers", f"{self.work}/include",
             "--record", os.path.join(self.work, record), "--cc", self.cc],
            capture_output=True, text=True, check=False, env=environment)
        return done.returncode, done.stdout + done.stderr


def main():
    root, cc = sys.argv[1:]
    if not (shutil.which("abidw") and shutil.which("abidiff")):
        print("skipped: apt-get install abigail-tools")
        return 77
    failed = 0

    def expect(name, got, status, text):
        nonlocal failed
        if got[0] != status or text not in got[1]:
            failed += 1
            print(f"FAILED: {name}: exit status {got[0]}, not {status} with '{text}':\n{got[1]}")

    with tempfile.TemporaryDirectory() as work:
        bed = Bed(work, root, cc)
        bed.build(HEADER, SOURCE, OLD)
        expect("a snapshot", bed.weft_abi("snapshot"), 0, OLD)
        for name, old, new, soname, status, text in CASES:
            if old not in HEADER + SOURCE:
                failed += 1
                print(f"FAILED: {name}: '{old}' is not in the tiny library")
                continue
            source = SOURCE.replace(old, new) if old else SOURCE
            if "weft_thing_more" in new:
                source += "int weft_thing_more(void) { return 1; }\n"
            bed.build(HEADER.replace(old, new) if old else HEADER, source, soname)
            expect(name, bed.weft_abi("check"), status, text)
        expect("a record over the library", bed.weft_abi("snapshot", record="thing.so"), 2, "would be written over")
        expect("a record over a header", bed.weft_abi("snapshot", record="include/weft/thing.h"), 2, "would be written over")
        bed.build(HEADER, SOURCE, OLD)
        expect("no record", bed.weft_abi("check", record="absent.xz"), 2, "tools/weft-abi snapshot")
        os.mkdir(os.path.join(work, "empty"))
        expect("no abidiff", bed.weft_abi("check", path=os.path.join(work, "empty")), 77, "abigail-tools")
    print(f"{len(CASES) + 5} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
