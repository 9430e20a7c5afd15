# SPDX-License-Identifier: MIT
"""zones_off.py ZONES_OFF: a zone costs at most so many instructions in a program that is not traced, calls
through the table of the shared library counted: one call, a load and a branch. A thread-local of the shared
library that is read before the flag of the process takes 20 more."""
import re
import subprocess
import sys

MOST = 20  # of 1,000 zones each
environment = {"PATH": "/usr/bin:/bin"}
done = subprocess.run(["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=zones_body",
                       "--callgrind-out-file=/dev/null", sys.argv[1]], capture_output=True, text=True, env=environment)
found = re.search(r"Collected : (\d+)", done.stderr)
if done.returncode or not found:
    sys.exit(f"valgrind: {done.stderr[-500:]}")
each = int(found[1]) / 1000
print(f"{each:.1f} instructions a zone")
sys.exit(0 if each <= MOST else f"FAILED: more than {MOST}")
