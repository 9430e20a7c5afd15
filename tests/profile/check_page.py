# SPDX-License-Identifier: MIT
"""docs/guide/profiling.md as written: its program is built against an installed weft, and its commands run from
top to bottom. Commands that this machine refuses (perf, root, bpftrace, tracefs) are left out, with the reason.

usage: check_page.py PAGE BUILD_FOLDER CC
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

PAGE, BUILD, CC = sys.argv[1:4]
failures = []


def blocks(text):
    """(language, content) of every code block."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.S | re.M)


def succeeds(*command):
    with tempfile.TemporaryDirectory() as place:
        try:
            return subprocess.run(command, cwd=place, capture_output=True).returncode == 0
        except OSError:
            return False


def refusals():
    """Pattern of commands -> why they cannot run here."""
    found = {r"^apt-get": "installs packages"}
    if not succeeds("perf", "record", "-e", "cpu-clock", "true"):
        found[r"^perf |weft-perf (annotate|record)"] = "perf may not sample"
    if not os.access("/sys/kernel/tracing/trace", os.R_OK) or "perf may not sample" in found.values():
        found[r"weft-perf sched|^perf (probe|trace|stat -e 'sdt|buildid)"] = "no access to /sys/kernel/tracing"
    if not succeeds("bpftrace", "-e", "BEGIN { exit(); }"):
        found[r"weft-perf probe"] = "bpftrace may not run"
    if not os.path.exists("/usr/include/x86_64-linux-gnu/sys/sdt.h"):
        found[r"weft-perf probe|^perf (probe|stat -e 'sdt|buildid)"] = "no sys/sdt.h: weft has no probes"
    return found


def run(line, folder, prefix):
    environment = {**os.environ, "PATH": f"{folder}/bin:{prefix}/bin:{os.environ['PATH']}", "HOME": folder,
                   "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig:{prefix}/lib/x86_64-linux-gnu/pkgconfig",
                   "LD_LIBRARY_PATH": f"{prefix}/lib:{prefix}/lib/x86_64-linux-gnu"}
    done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, capture_output=True, text=True,
                          errors="replace")
    if done.returncode:
        failures.append(line)
        print(f"failed: {line}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    with open(PAGE, encoding="utf-8") as f:
        found = blocks(f.read())
    prefix = os.path.join(folder, "prefix")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    os.mkdir(os.path.join(folder, "bin"))
    os.symlink(shutil.which(CC), os.path.join(folder, "bin", "cc"))
    refused, left_out = refusals(), {}
    for language, content in found:
        if language == "c":
            with open(os.path.join(folder, "game.c"), "w", encoding="utf-8") as f:
                f.write(content)
        for line in content.splitlines() if language == "sh" else []:
            reason = next((why for pattern, why in refused.items() if re.search(pattern, line)), None)
            if reason is not None:
                left_out[reason] = left_out.get(reason, 0) + 1
                continue
            output = run(line, folder, prefix)
            if line.startswith("weft-perf flame -- "):
                if not output.split("\n")[1].startswith("recharge "):
                    failures.append("the first row")
                    print(f"failed: recharge is not the first row:\n{output}")
    for reason, count in left_out.items():
        print(f"left out: {count} commands: {reason}")
    if sum(language == "sh" for language, _ in found) < 5:
        failures.append("the page has no commands")
sys.exit(1 if failures else 0)
