#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""conjunctions.csv must be the same file for any number of workers.

usage: same_file.py WEFT CATALOGUE HOURS WORKERS [EXPECTED_SHA256]

WORKERS is a list such as 1,2,3,8. With a hash the file must be the one all builds have made (gcc, clang, sanitizers). The
brute-force check runs along.
"""
import hashlib
import os
import subprocess
import sys
import tempfile

weft, catalogue, hours, counts = sys.argv[1:5]
if not os.path.exists(catalogue):
    print("%s is not here: skipped" % catalogue)
    sys.exit(77)
files = {}
with tempfile.TemporaryDirectory(prefix="weft_same_file_") as folder:
    for workers in counts.split(","):
        out = os.path.join(folder, workers)
        done = subprocess.run([weft, "screen", catalogue, "--hours", hours, "--workers", workers, "--out", out,
                               "--verify", "8"], capture_output=True, text=True)
        print(done.stdout, done.stderr)
        if done.returncode != 0:
            sys.exit("weft screen ended with status %d" % done.returncode)
        with open(os.path.join(out, "conjunctions.csv"), "rb") as f:
            content = files[workers] = f.read()
digests = {workers: hashlib.sha256(content).hexdigest() for workers, content in files.items()}
print(digests, "%d lines" % content.count(b"\n"))
if len(set(digests.values())) != 1:
    sys.exit("the files differ between worker counts")
if len(sys.argv) > 5 and digests[workers] != sys.argv[5]:
    sys.exit("the file is %s, every other build made %s" % (digests[workers], sys.argv[5]))
