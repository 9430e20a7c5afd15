# SPDX-License-Identifier: MIT
"""Files that a script writes: complete or not there, and never one that it reads. What tools/cli_file.h is for commands."""
import contextlib
import os
import shutil
import sys


def stop_if_read(tool, out, inputs):
    """Ends with status 2 when writing `out`, or the part beside it, would write over an input."""
    for path in (out, out + ".part"):
        for given in inputs:
            if os.path.isfile(path) and os.path.exists(given) and os.path.samefile(path, given):
                print(f"{tool}: {path} and {given} are one file, which would be written over: name another file to "
                      "write to", file=sys.stderr)
                sys.exit(2)


@contextlib.contextmanager
def part_of(out):
    """The path to write to instead of `out`: beside it, and renamed at the end, or removed when that is an error. A
    symbolic link stays and its file is replaced; a FIFO or device is written into as it is."""
    place = os.path.realpath(out)
    part = out if os.path.exists(out) and not os.path.isfile(out) else place + ".part"
    try:
        yield part
        if part != out:
            if os.path.exists(place):
                shutil.copymode(place, part)
            os.replace(part, place)
    except BaseException:
        if part != out:
            with contextlib.suppress(OSError):
                os.remove(part)
        raise
