# SPDX-License-Identifier: MIT
"""A folder with one recording of a program: perf.data, the lists of systems that the program wrote
(WEFT_SYSTEMS), or its trace where perf may not be used; and what the samples say by system."""
import collections
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys

import deep
import perf_data

CALLER = re.compile(r"^weft__system_calls?$")  # dispatch.h: the frame below each system
BOTTOM = re.compile(r"^(_start|_dl_start.*|__libc_start.*|main|clone3?|start_thread|thread_start)$|^\\[unknown\\]$|"
                    r"^(ret_from_fork|asm_|entry_SYSCALL)")
WAITING = re.compile(r"^weft__worker_spin$|futex|^do_epoll_wait$")
DEEP = 16  # one whole stack for so many samples
ENGINE, HOST, WAIT = "(engine)", "(host)", "(waiting)"
WORKS = {name: f"({name})" for name in ("relations", "playback", "observers", "hashing")}  # spans of a trace
WORK = re.compile(r"^weft__(relations)_settle|^weft_(relation)_settle$|^weft__(playback)_run$|^weft__(observers)_play$|"
                  r"^weft__(hash)_log_")  # the functions below which the same is done
HEAD = re.compile(r"^(.*?)\s+(-?\d+)/(-?\d+)\s+(\d+)\.(\d{9}):\s*$")
FRAME = re.compile(r"^\s+[0-9a-f]+ (.*?)(?:\+0x[0-9a-f]+)?(?: \(([^()]*)\))?$")

Sample = collections.namedtuple("Sample", "pid tid thread time system frames is_broken")
System = collections.namedtuple("System", "name stage")


class Refused(Exception):
    """perf, or what it needs, cannot be used here; the text says why and what to do."""


def say(text):
    print(text, file=sys.stderr)


def shown(command, environment=None):
    """Prints the command to stderr, so that one can learn it, and returns it."""
    extra = [f"{k}={shlex.quote(v)}" for k, v in (environment or {}).items()]
    say("$ " + " ".join(extra + [shlex.quote(c) for c in command]))
    return command


def perf():
    tool = os.environ.get("WEFT_PERF") or shutil.which("perf")
    if not tool:
        raise Refused("perf is not installed: apt-get install linux-perf")
    if not shutil.which(tool):
        raise Refused(f"{tool} (WEFT_PERF) cannot be run")
    return tool


def is_counted(event):
    done = subprocess.run([perf(), "stat", "-x,", "-e", event, "true"], capture_output=True, text=True)
    return done.returncode == 0 and "<not" not in done.stderr and event.split(":")[0] in done.stderr


def check_access(event):
    done = subprocess.run([perf(), "stat", "-e", event, "true"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Refused(f"perf may not count {event}: run as root, or: sysctl kernel.perf_event_paranoid=1 "
                      f"({done.stderr.strip()[:200]})")


def make_folder(folder):
    """An empty folder for a new recording: files of an older one would mix with it."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


def run(command, arguments, environment):
    """Runs a tool before `arguments`, with the lists of systems going to the folder; its status."""
    whole = command + ["--", *arguments] if command else arguments
    done = subprocess.run(shown(whole, environment), stdout=sys.stderr,
                          env={**os.environ, **environment})
    return done.returncode


def record(folder, arguments, stacks="dwarf", stack_bytes=4096, hertz=997):
    """Samples the program into folder/perf.data; the status of perf, which is that of the program."""
    check_access("cpu-clock")
    event = "cycles" if is_counted("cycles") else "cpu-clock"
    say(f"event: {event}" + ("" if event == "cycles" else
                             " (software clock: this machine offers no hardware counters)"))
    data = os.path.join(make_folder(folder), "perf.data")
    return run([perf(), "record", "-N", "-k", "mono", *events(event, stacks, stack_bytes, hertz), "-o", data],
               arguments, {"WEFT_SYSTEMS": folder})


def events(event, stacks, stack_bytes, hertz):
    """Options of perf record. Copies that hold whole stacks at the full rate cost too much, so a second event takes a
    few: deep.py."""
    if stacks != "dwarf":
        return ["-e", event, "-F", str(hertz), "--call-graph", stacks]
    def one(rate, size, name):
        return ["-e", f"{event}/freq={rate},call-graph=dwarf,stack-size={size},name={name}/"]
    whole = one(max(1, hertz // DEEP), deep.STACK_BYTES, deep.EVENT) if stack_bytes < deep.STACK_BYTES else []
    return one(hertz, stack_bytes, event) + whole


def read_systems(folder):
    """(process, address of the name) -> System, out of the lists in the folder. Systems of one name in two
    worlds are told apart."""
    found = {}
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "systems-*"))):
        process, world = (int(n) for n in os.path.basename(path).split("-")[1:3])
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                words = line.rstrip("\n").split(" ", 3)
                if len(words) == 4 and words[0] == "system":
                    found[process, int(words[1], 16)] = (words[3], int(words[2]), world)
    worlds = collections.defaultdict(set)
    for name, _, world in found.values():
        worlds[name].add(world)
    return {key: System(name if len(worlds[name]) == 1 else f"{name} [world {world}]", stage)
            for key, (name, stage, world) in found.items()}


def read_script(lines):
    """(pid, tid, thread, time in ns, [(function, file)] from the root) of every sample in the output of perf
    script -F comm,pid,tid,time,ip,sym,dso --ns."""
    head, frames = None, []
    for line in lines:
        match = HEAD.match(line)
        if match:
            thread, pid, tid, seconds, rest = match.groups()
            head, frames = (int(pid), int(tid), thread.strip(), int(seconds) * 10**9 + int(rest)), []
        elif not line.strip():
            if head is not None:
                yield (*head, frames[::-1])
            head = None
        elif head is not None:
            frame = FRAME.match(line)
            name = re.sub(r"@+GLIBC\w*[\d.]*$", "", frame.group(1)) if frame else "[unknown]"
            frames.append((name, (frame.group(2) or "") if frame else ""))
    if head is not None:
        yield (*head, frames[::-1])


def below_system(frames):
    """Index of the first frame of the innermost system; None: no system calls it."""
    for i in range(len(frames) - 1, -1, -1):
        if CALLER.match(frames[i][0]):
            return i + 1
    return None


def begins_in_vdso(frames):
    """Whether perf gave up in a call of the kernel through the vdso (clock_gettime), which it cannot unwind."""
    return frames[:1] != [] and frames[0][1] == "[vdso]"


def place(thread, frames, marked):
    """(system, frames below it, whether the stack is broken). `marked`: what the marker says; None: there was no
    copy of the stack, so the function is the system's name."""
    at = below_system(frames)
    names = [name for name, _ in frames]
    if marked:
        return marked, names[at:] if at is not None else names[-1:], at is None and not begins_in_vdso(frames)
    if marked is None and at is not None and at < len(names):
        return names[at], names[at + 1:], False
    if any(WAITING.search(name) for name in names):
        return WAIT, [thread], False
    for i, name in enumerate(names):
        found = WORK.match(name)
        if found:
            start = next(filter(None, found.groups()))
            return next(row for row in WORKS.values() if row.startswith("(" + start)), [thread] + names[i:], False
    is_engine = any(name.startswith("weft_") for name in names)
    return ENGINE if is_engine else HOST, [thread] + names, not any(BOTTOM.match(name) for name in names[:4])


def read_markers(folder):
    """(tid, time) -> perf_data.Sample, or None where stacks were not copied."""
    try:
        samples, lost = perf_data.read_samples(os.path.join(folder, "perf.data"))
    except perf_data.Unreadable as reason:
        say(f"systems by function: {reason}")
        return None
    if lost:
        say(f"perf lost {lost} samples: the disk or this machine was too slow")
    return {(s.tid, s.time): s for s in samples}


def script_lines(folder):
    data = os.path.join(folder, "perf.data")
    if not os.path.exists(data):
        raise Refused(f"{data} does not exist: name a COMMAND after --, or the folder of a recording with -o")
    done = subprocess.run(shown([perf(), "script", "-i", data, "-F", "comm,pid,tid,time,ip,sym,dso",
                                 "--no-inline", "--ns"]), capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise Refused(f"perf script cannot read {data}: {done.stderr.strip()[:300]}")
    return done.stdout.split("\n")


def name_of(systems, marker):
    """What the marker of a sample says: a system, or "" for none."""
    found = systems.get((marker.pid, marker.system))
    return found.name if found else f"system at {marker.system:#x}" if marker.system else ""


def read_samples(folder):
    """[Sample] of the recording in the folder."""
    systems, markers = read_systems(folder), read_markers(folder)
    samples, whole, room = [], deep.Stacks(), 0
    if markers:
        room = min(marker.room for marker in markers.values())
    for pid, tid, thread, time, frames in read_script(script_lines(folder)):
        marker = markers.get((tid, time)) if markers is not None else None
        marked = name_of(systems, marker) if marker else None if markers is None else ""
        sample = Sample(pid, tid, thread, time, *place(thread, frames, marked))
        if marker and marker.room > room:
            if marker.depth >= room:
                whole.learn(sample.system if marked else None, sample.frames)
        else:
            samples.append(sample)
    return [s._replace(**whole.complete(s)) for s in samples]


def explain_broken(samples):
    """What to do about stacks that end too early; None: few do."""
    broken = sum(s.is_broken for s in samples)
    if broken * 20 <= len(samples):
        return None
    return (f"{broken} of {len(samples)} stacks end too early: their callers are missing, and without copies of "
            f"stacks (--stacks fp, lbr) their systems, too. Use --stacks dwarf (the default) and keep unwind tables (no "
            f"-fno-asynchronous-unwind-tables); give deep stacks more room (--stack-bytes 32768); or compile the "
            f"program and its libraries with -fno-omit-frame-pointer")


Row = collections.namedtuple("Row", "system count share threads busiest")


def table(pairs):
    """Rows by system out of (system, thread, count), largest first; those in brackets last."""
    by_system = collections.defaultdict(collections.Counter)
    for system, thread, count in pairs:
        by_system[system][thread] += count
    whole = max(1, sum(sum(threads.values()) for threads in by_system.values()))
    rows = [Row(name, sum(threads.values()), sum(threads.values()) / whole, len(threads),
                max(threads.values()) / max(1, sum(threads.values()))) for name, threads in by_system.items()]
    return sorted(rows, key=lambda r: (r.system.startswith("("), -r.count, r.system))
