# SPDX-License-Identifier: MIT
"""Runs a recipe of bpftrace over weft's static probes. bpftrace attaches to the file itself, so nothing stays behind
in the kernel when it ends."""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys

from recording import Refused, shown

NOTICE = "__BPFTRACE_NOTIFY_PROBES_ATTACHED"  # what bpftrace prints when it is ready
RECIPES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recipes")


def names():
    return sorted(os.path.basename(path)[:-3] for path in glob.glob(os.path.join(glob.escape(RECIPES), "*.bt")))


def has_probes(path):
    with open(path, "rb") as f:
        data = f.read()
    return b"stapsdt\0" in data and b"weft\0system\0" in data


def find_file(program):
    """The program, or the libweft.so that it loads: what has the probes in it."""
    path = os.path.realpath(shutil.which(program))
    if has_probes(path):
        return path
    done = subprocess.run(["ldd", path], capture_output=True, text=True)
    for found in re.findall(r"=> (\S*libweft\.so\S*) ", done.stdout):
        if has_probes(os.path.realpath(found)):
            return os.path.realpath(found)
    raise Refused(f"no probes in {path} nor in a libweft.so that it loads: build weft with sys/sdt.h installed "
                  f"(package systemtap-sdt-dev)")


def tool():
    found = os.environ.get("WEFT_BPFTRACE") or shutil.which("bpftrace")
    if not found or not shutil.which(found):
        raise Refused("bpftrace is not installed: apt-get install bpftrace")
    return found


def wait_for_probes(tracer):
    """Returns when all probes are attached; Refused when bpftrace ends instead."""
    reason = []
    for line in tracer.stderr:
        if line.strip() == NOTICE:
            return
        if "RLIMIT_MEMLOCK" not in line:
            reason.append(line.strip())
    raise Refused("bpftrace may not be used (it needs root, and a kernel with uprobes and BPF): "
                  + " ".join(reason)[:300])


def run(folder, recipe, command):
    """Writes the recipe for this program into the folder and runs the program under it; the status of bpftrace."""
    if recipe not in names():
        raise Refused(f"there is no recipe '{recipe}'; there are: {', '.join(names())}")
    if os.path.realpath(folder) == os.path.realpath(RECIPES):
        raise Refused(f"{folder} holds the recipes, which would be written over: name another folder with -o")
    with open(os.path.join(RECIPES, recipe + ".bt"), encoding="utf-8") as f:
        text = f.read().replace("usdt:FILE:", f"usdt:{find_file(command[0])}:")
    os.makedirs(folder, exist_ok=True)
    script = os.path.join(folder, recipe + ".bt")
    with open(script, "w", encoding="utf-8") as f:
        f.write(text)
    environment = {**os.environ, NOTICE: "1"}
    with subprocess.Popen(shown([tool(), script]), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=environment) as tracer:
        try:
            wait_for_probes(tracer)
            status = subprocess.run(shown(command), stdout=sys.stderr).returncode
        finally:
            tracer.send_signal(signal.SIGINT)
        output, _ = tracer.communicate()
    print(re.sub(r"^Attaching .*\n", "", output).strip())
    return 1 if status else 0
