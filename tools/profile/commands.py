# SPDX-License-Identifier: MIT
"""The commands of weft-perf: each gets the parsed arguments and returns the exit status."""
import json
import os
import re
import subprocess
import sys

import deep
import flame as graph
import frames
import probes
import recording
import schedule
import spans
from recording import Refused, perf, say, shown

SOFTWARE = ["task-clock",  # milliseconds
            "context-switches", "cpu-migrations", "page-faults"]
HARDWARE = ["cycles", "instructions", "branch-misses", "cache-references", "cache-misses",
            "dTLB-load-misses", "stalled-cycles-backend"]


def write(path, text):
    """The whole file or none."""
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(path + ".new", path)


def print_table(rows, unit, is_json):
    if not is_json:
        print(f"{'system':40} {unit:>9} {'share':>8} {'threads':>8} {'busiest':>8}")
    for row in rows:
        if is_json:
            print(json.dumps({"system": row.system, unit: round(row.count, 3), "share": round(row.share, 4),
                              "threads": row.threads, "busiest": round(row.busiest, 4)}))
        else:
            print(f"{graph.clip(row.system, 40):40} {row.count:9,.0f} "
                  f"{100 * row.share:7.2f}% {row.threads:8} {100 * row.busiest:7.1f}%")


def folder_of(arguments, kind):
    """Each kind of recording has a folder of its own: "samples", "trace" or "sched"."""
    return os.path.join(arguments.output, kind)


def must_exist(path, arguments):
    if not os.path.exists(path):
        raise Refused(f"no recording in {arguments.output}: name a COMMAND after --, or its folder with -o")


def record(arguments):
    folder = folder_of(arguments, "samples")
    status = recording.record(folder, arguments.command, arguments.stacks, arguments.stack_bytes,
                              arguments.hertz)
    data = os.path.join(folder, "perf.data")
    if not os.path.exists(data) or os.path.getsize(data) == 0:
        raise Refused("perf recorded nothing; why, it says above" +
                      ("" if arguments.stacks == "dwarf" else "; --stacks dwarf (the default) works everywhere"))
    if status:
        say(f"the command ended with status {status}")
    say(f"recording: {data}; next: weft-perf flame -o {arguments.output}, or perf report -i {data}")
    return 1 if status else 0


# ---- flame

def draw(arguments, root, note, unit):
    path = os.path.join(arguments.output, "flame.svg")
    write(path, graph.svg(root, "Time by system", note, unit))
    say(f"flame graph: {path}")


def flame_of_samples(arguments):
    samples = recording.read_samples(folder_of(arguments, "samples"))
    if not samples:
        raise Refused("no samples: the command ran too short, or perf could not sample it")
    if all(s.system.startswith("(") for s in samples):
        say("no sample of a system: the command ran too short, makes no world of weft, or starts what does in a way "
            "that drops the environment (WEFT_SYSTEMS)")
    root = graph.Node()
    for s in samples:
        is_system = not s.system.startswith("(")
        root.add([s.system, *([s.thread] if arguments.threads and is_system else []), *s.frames])
    print_table(recording.table((s.system, f"{s.thread} {s.tid}", 1) for s in samples), "samples", arguments.json)
    warning = recording.explain_broken(samples)
    if warning:
        say(warning)
    threads = len({s.tid for s in samples})
    draw(arguments, root, f"{len(samples):,} samples, threads: {threads}. The second row from below is the system; "
         f"what it calls stands above it.", "samples")


def flame_of_spans(arguments):
    root, found = graph.Node(), spans.read(folder_of(arguments, "trace"))
    for system, row, below, us in found:
        root.add([system, *([row] if arguments.threads or system.startswith("(") else []), *below], us)
    print_table(recording.table((system, row, us / 1000) for system, row, _, us in found), "ms", arguments.json)
    draw(arguments, root, "Wall time by the trace of the program. The second row from below is the system; there are "
         "no functions without perf.", "us")


def can_sample(arguments):
    """Whether perf may sample; if not, why, and what is done instead."""
    if arguments.without_perf:
        return False
    try:
        recording.check_access("cpu-clock")
        return True
    except Refused as reason:
        say(f"{reason}\nso: times by system out of the trace of the program, without the functions below them")
        return False


def run_traced(arguments):
    folder = recording.make_folder(folder_of(arguments, "trace"))
    return recording.run([], arguments.command, spans.environment(folder))


def flame(arguments):
    is_traced = arguments.without_perf or not os.path.isdir(folder_of(arguments, "samples"))
    if arguments.command:
        is_traced = not can_sample(arguments)
        if run_traced(arguments) if is_traced else record(arguments):
            return 1
    else:
        must_exist(folder_of(arguments, "trace" if is_traced else "samples"), arguments)
    (flame_of_spans if is_traced else flame_of_samples)(arguments)
    return 0


# ---- stat

def read_counts(path):
    """event -> number, or None where the machine has no such counter."""
    values = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            fields = line.rstrip("\n").split(",")
            if len(fields) > 2:
                is_number = re.match(r"^[\d.]+$", fields[0])
                values[re.sub(r":\w+$", "", fields[2])] = float(fields[0]) if is_number else None
    return values


def print_counts(values, events, is_json):
    for event in events:
        value = values.get(event)
        if is_json:
            print(json.dumps({"event": event, "value": value}))
        else:
            print(f"{event:24} {f'{value:,.2f}'.rstrip('0').rstrip('.') if value is not None else '-':>20}")


def counted_events():
    hardware = [e for e in HARDWARE if recording.is_counted(e)]
    say("counters: " + (f"hardware ({len(hardware)} of {len(HARDWARE)}) and software" if hardware
                        else "software only (this machine offers no hardware counters)"))
    return SOFTWARE + hardware


def stat(arguments):
    folder = recording.make_folder(folder_of(arguments, "trace"))
    environment = {"WEFT_COUNTERS": "1"} if arguments.count else spans.environment(folder)
    command, path, events = [], os.path.join(folder, "stat.csv"), []
    try:
        recording.check_access("task-clock")
        events = counted_events()
        command = [perf(), "stat", "-x,", "-o", path, "-e", ",".join(events)]
    except Refused as reason:
        say(f"{reason}\nso: no counters of the whole program")
    status = recording.run(command, arguments.command, environment)
    if events:
        print_counts(read_counts(path), SOFTWARE + HARDWARE, arguments.json)
    if not arguments.count:
        found = spans.read(folder_of(arguments, "trace"))
        if not arguments.json:
            print()
        print_table(recording.table((system, row, us / 1000) for system, row, _, us in found), "ms", arguments.json)
    return 1 if status else 0


# ---- trace

def us(ns):
    return "-" if ns is None else f"{ns / 1000:,.1f}"


def print_frames(profile, rows, arguments):
    """The report of one trace."""
    times = sorted(ns for _, ns in profile.frames)
    if arguments.json:
        print(json.dumps({"kind": "frames", "first": profile.frames[0][0], "last": profile.frames[-1][0], "frames": len(times),
                          "mean_us": sum(times) / len(times) / 1000, "lost": profile.lost,
                          **{f"p{part}_us": frames.quantile(times, part / 100) / 1000 for part in (50, 95, 99)}}))
        for row in rows:
            print(json.dumps({key: round(value, 3) if isinstance(value, float) else value for key, value in row.items()}))
    else:
        print(f"frames {profile.frames[0][0]} to {profile.frames[-1][0]}, {len(times)} of them: mean "
              f"{us(sum(times) / len(times))} us, p50 {us(frames.quantile(times, .5))}, p95 {us(frames.quantile(times, .95))}, "
              f"p99 {us(frames.quantile(times, .99))}, max {us(times[-1])}")
        for kind, title in (("row", "us a frame, all threads"), ("zone", "zones")):
            if any(row["kind"] == kind for row in rows):
                print(f"\n{title:28} {'frames':>7} {'mean':>9} {'p50':>9} {'p95':>9} {'p99':>9} {'max':>9} {'frame':>7} "
                      f"{'commands':>9}")
            for row in rows:
                if row["kind"] == kind:
                    print(f"{graph.clip(row['row'], 28):28} {row['frames']:7,}", *(f"{row[key]:9,.1f}" for key in (
                        "mean_us", "p50_us", "p95_us", "p99_us", "max_us")), f"{row['max_frame']:7} "
                        f"{row['commands'] or '-':>9}")
    print_worst(profile, arguments)
    print_waits(profile, arguments)
    if profile.lost:
        say(f"{profile.lost:,} events were lost: the rings were full; times are too short, and frames may lack systems")


def print_worst(profile, arguments):
    if arguments.worst and not arguments.json:
        print("\nworst frames, and the rows that took longer than mostly")
    for number, ns, more in frames.worst(profile, arguments.worst):
        if arguments.json:
            print(json.dumps({"kind": "worst", "frame": number, "us": ns / 1000,
                              "more": [{"row": name, "us": extra / 1000} for name, extra in more]}))
        else:
            print(f"{number:10} {us(ns):>11} us  " + ", ".join(f"{name} +{us(extra)}" for name, extra in more))


def print_waits(profile, arguments):
    whole = sum(ns for _, ns in profile.frames)
    if profile.waits and not arguments.json:
        print(f"\n{'waits in frames':28} {'for':28} {'ms':>9} {'share':>8}")
    for (thread, reason), of in sorted(profile.waits.items(), key=lambda e: (e[0][0], -sum(e[1]))):
        ns = sum(of)
        if arguments.json:
            print(json.dumps({"kind": "wait", "thread": thread, "for": reason, "ms": ns / 1e6, "share": round(ns / whole, 4)}))
        elif ns * 1000 >= whole:
            print(f"{graph.clip(thread, 28):28} {graph.clip(reason, 28):28} {ns / 1e6:9,.2f} {100 * ns / whole:7.1f}%")


def print_comparison(old, new, arguments):
    changes, common = frames.compare(old, new)
    whole = frames.typical([ns for _, ns in old.frames]), frames.typical([ns for _, ns in new.frames])
    if not arguments.json:
        if all(whole):
            print(f"a frame: {us(whole[0].typical)} us before, {us(whole[1].typical)} now, x {whole[1].typical / whole[0].typical:.2f}")
        if abs(common - 1) > frames.LEAST_CHANGE:
            print(f"half of all rows are x {common:.2f} or more: the machine was busier, or is another one; rows are judged beside that")
        print(f"{'us a frame':28} {'before':>10} {'now':>10} {'x':>6} {'noise':>7}")
    for change in changes:
        if arguments.json:
            print(json.dumps({"kind": "change", "row": change.row, "old_us": change.old and change.old / 1000, "verdict": change.verdict,
                              "new_us": change.new and change.new / 1000, "ratio": change.ratio and round(change.ratio, 4),
                              "noise": change.noise and round(change.noise, 4)}))
        else:
            print(f"{graph.clip(change.row, 28):28} {us(change.old):>10} {us(change.new):>10} "
                  + (f"{change.ratio:6.2f} {100 * change.noise:6.1f}%" if change.ratio else f"{'-':>6} {'-':>7}")
                  + f"  {change.verdict}".rstrip())
    slower = [c for c in changes if c.verdict == "slower"]
    if not arguments.json:
        print(f"slower: {', '.join(c.row for c in slower) or 'none'}")
    limit = arguments.fail_over
    return 1 if limit is not None and any(c.ratio > common * (1 + limit / 100) for c in slower) else 0


def trace(arguments):
    """Frames of a trace, or of the program that is run: percentiles, worst frames, waits; or two of them compared."""
    source = arguments.name or arguments.output
    if arguments.command and run_traced(arguments):
        say("the command failed; what it left of its trace follows")
    if arguments.command and not os.path.exists(os.path.join(source, "trace", "trace.pftrace")):
        raise Refused("the command wrote no trace: it makes no world of weft, or drops the environment (WEFT_TRACE)")
    profile = frames.read(source)
    other = frames.read(arguments.compare) if arguments.compare else None
    if arguments.save:
        frames.save(profile, arguments.save)
    if arguments.frames:
        first, last = frames.range_of(arguments.frames)
        profile = frames.cut(profile, first, last)
        other = other and frames.cut(other, first, last)
    if other is not None:
        return print_comparison(other, profile, arguments)
    print_frames(profile, frames.describe(profile), arguments)
    return 0


# ---- annotate

def annotate(arguments):
    if arguments.command and record(arguments):
        return 1
    must_exist(os.path.join(folder_of(arguments, "samples"), "perf.data"), arguments)
    samples = recording.read_samples(folder_of(arguments, "samples"))
    mine = [s for s in samples if s.system == arguments.name]
    if not mine:
        names = sorted({s.system for s in samples if not s.system.startswith("(")})
        raise Refused(f"no sample of a system '{arguments.name}'; there are: {', '.join(names) or 'none'}")
    leaves = {}
    for s in mine:
        leaf = s.frames[-1] if s.frames else arguments.name
        leaves[leaf] = leaves.get(leaf, 0) + 1
    ordered = sorted(leaves.items(), key=lambda e: (-e[1], e[0]))
    if arguments.json:
        for name, count in ordered:
            print(json.dumps({"function": name, "samples": count, "share": round(count / len(mine), 4)}))
        return 0
    print(f"{len(mine)} samples of {arguments.name}, {100 * len(mine) / len(samples):.2f} % of all")
    print(f"{'function':60} {'samples':>9} {'share':>8}")
    for name, count in ordered[:20]:
        print(f"{name:60} {count:9,} {100 * count / len(mine):7.2f}%")
    print(flush=True)
    data = os.path.join(folder_of(arguments, "samples"), "perf.data")
    done = subprocess.run(shown([perf(), "annotate", "--stdio", "-i", data, f"--symbol={ordered[0][0]}"]),
                          capture_output=True, text=True, errors="replace")
    print(re.split(rf"^.*for {deep.EVENT} \(", done.stdout, maxsplit=1, flags=re.M)[0], end="")
    if done.returncode:
        say(f"perf annotate: {done.stderr.strip()[-300:]} (it needs objdump: apt-get install binutils)")
    return 1 if done.returncode else 0


# ---- sched

def processes_of(folder):
    """The program that was started, and every process that listed systems."""
    with open(os.path.join(folder, "process"), encoding="utf-8") as f:
        return {int(f.read())} | {process for process, _ in recording.read_systems(folder)}


def sched(arguments):
    folder = recording.make_folder(folder_of(arguments, "sched"))
    data, process = os.path.join(folder, "sched.data"), os.path.join(folder, "process")
    wrapped = ["sh", "-c", 'echo $$ >"$0" && exec "$@"', process, *arguments.command]
    command = [perf(), "sched", "record", "-q", "-k", "mono", "-o", data]
    done = subprocess.run(shown(command + ["--", *wrapped], {"WEFT_SYSTEMS": folder}), stdout=sys.stderr,
                          env={**os.environ, "WEFT_SYSTEMS": folder})
    if not os.path.exists(process):
        raise Refused("perf sched needs root and tracefs (mount -t tracefs tracefs /sys/kernel/tracing)")
    listing = subprocess.run(shown([perf(), "sched", "timehist", "--state", "-i", data]), stderr=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, text=True, errors="replace")
    threads, others = schedule.read(listing.stdout.split("\n"), processes_of(folder))
    if not threads:
        raise Refused("no switches of the program: it ran too short")
    if not arguments.json:
        print(f"{'thread':20} {'run ms':>8} {'preempted':>9} {'wakes':>7} {'mean ms':>8} {'p99':>8} {'max':>8} {'moves':>5}")
    for thread in threads:
        row = schedule.summary(thread)
        if arguments.json:
            print(json.dumps(row))
        else:
            name = graph.clip(f"{row['thread']} {row['tid']}", 20)
            print(f"{name:20} {row['run_ms']:8,.1f} {row['preempted_ms']:9,.1f} {row['wakes']:7,} "
                  f"{row['wake_mean_ms']:8.3f} {row['wake_p99_ms']:8.3f} {row['wake_max_ms']:8.3f} {row['migrations']:5}")
    path = os.path.join(arguments.output, "sched.svg")
    write(path, schedule.svg(threads))
    say(f"{others} tasks of other programs are left out\ntime line: {path}")
    return 1 if done.returncode else 0


# ---- probe

def probe(arguments):
    return probes.run(arguments.output, arguments.name, arguments.command)
