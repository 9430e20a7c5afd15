#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""machines.py [--list] [--quick] [--bugs] [--work DIR] [--seeds N] [--only STEP,...] [MACHINE ...]: weft on other
machines than the one that builds it, and built otherwise than usual.

arm64, riscv64 and ppc64el by Debian's cross compilers, under qemu-user; musl, clang, -O0, -Os, LTO, a char
without sign and pages of 64 KiB on the machine itself. On each:

  cmake      (cross compilers) CMake configures weft for it without Concurrency Kit, which is for x86-64
  library    weft.c of tools/amalgamate compiles without a warning, and has no fused multiply-add
  consumer   a stranger's program runs; so does the self test of tools/amalgamate
  worlds     random worlds (machine_worlds.c): hashes, texts, and files byte for byte as x86-64 makes them
  tests      the tests that tests/amalgamation lists, and the golden files of tests/ecs
  stress     `weft stress` from tools/, linked with weft.c: the hashes that x86-64 prints

A machine whose compiler or emulator is missing is skipped, with a sentence and exit status 77 when no other
ran. --quick: what every day checks, in seconds: targets that are refused, headers, and musl where it is
installed. --bugs: these checks find the bugs of tests/bugs/machines.bugs.
What is not shown: emulation on x86-64 orders memory as x86-64 does (docs/design/verification.md)."""
import argparse
import concurrent.futures
import contextlib
import fcntl
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
HERE = os.path.dirname(os.path.abspath(__file__))
LAYERS = ("jobs/base", "jobs", "ecs/blob", "ecs", "scheduler", "ecs/scene", "scheduler/shard")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
SENTENCE = "weft needs a 64-bit little-endian machine"
STEPS = ("library", "consumer", "worlds", "tests", "stress")
CROSS_STEPS = ("cmake",) + STEPS
SEEDS = 200
# Headers of the kernel for musl-gcc of Debian, as docs/guide/embedding.md says.
KERNEL_HEADERS = ["-idirafter", "/usr/include", "-idirafter", "/usr/include/x86_64-linux-gnu"]
# An instruction that multiplies and adds with one rounding, in the words of each disassembler.
FUSED = re.compile(r"\t(?:v?fn?m(?:add|sub)|fml[as]|x[sv]n?m(?:add|sub)|vn?m(?:add|sub)fp)[a-z0-9.]*\s")


# Prints digests of normal numbers, and of sums of products, which a compiler may fuse.
NORMAL = """#include "weft.h"
#include <stdio.h>
static double joined(double a, double b) { return a * b + 0.1; }
static unsigned long long add(unsigned long long all, double value)
{
    unsigned long long bits;
    memcpy(&bits, &value, sizeof bits);
    return (all ^ bits) * 0x100000001b3ull;
}
int main(void)
{
    unsigned long long all = 0, control = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        weft_random random = weft_random_of(1, i, 0, 0);
        all = add(all, weft_random_normal(&random));
        control = add(control, joined(weft_random_double(&random), weft_random_double(&random)));
    }
    printf("%llx %llx\\n", all, control);
    return 0;
}
"""


class Failed(Exception):
    """A step that failed; the text says what is to be seen."""


class Machine:
    """How to compile for a machine and to run what was compiled."""

    def __init__(self, name, compiler, packages, flags=(), link=(), emulator=None, objdump="objdump", steps=STEPS,
                 preload=None):
        self.name, self.flags, self.link, self.steps = name, list(flags), list(link), steps
        self.compiler, self.packages, self.objdump, self.preload = compiler, packages, objdump, preload
        self.emulator, self.runner = emulator, []
        if emulator is not None:
            self.runner = [emulator, "-L", "/usr/" + compiler.removesuffix("-gcc")]

    def missing(self):
        """Why it cannot be tried: programs that are not installed, or another processor. None: it can."""
        absent = [tool for tool in (self.compiler, self.emulator) if tool is not None and not shutil.which(tool)]
        if absent:
            return f"{', '.join(absent)} not installed (Debian: {self.packages})"
        if "-march=x86-64-v3" in self.flags and not {"fma", "avx2"} <= set(read("/proc/cpuinfo").split()):
            return "this processor has no AVX2 and FMA"
        return None


def cross(name, tuple_, qemu):
    return Machine(name, tuple_ + "-gcc", f"gcc-{tuple_} qemu-user", ["-O2"], emulator="qemu-" + qemu,
                   objdump=tuple_ + "-objdump", steps=CROSS_STEPS)


REFERENCE = Machine("x86-64", "gcc", "gcc", ["-O2"])
MACHINES = [
    cross("arm64", "aarch64-linux-gnu", "aarch64"),
    cross("riscv64", "riscv64-linux-gnu", "riscv64"),
    cross("ppc64el", "powerpc64le-linux-gnu", "ppc64le"),
    Machine("musl", "musl-gcc", "musl-tools linux-libc-dev", ["-O2", *KERNEL_HEADERS]),
    Machine("clang", "clang", "clang", ["-O2"]),
    Machine("O0", "gcc", "gcc", ["-O0"]),
    Machine("Os", "gcc", "gcc", ["-Os"]),
    Machine("LTO", "gcc", "gcc", ["-O2", "-flto=2"], ["-O2", "-flto=2"]),
    Machine("v3", "gcc", "gcc", ["-O2", "-march=x86-64-v3"]),
    Machine("clang-v3", "clang", "clang", ["-O2", "-march=x86-64-v3"], steps=("library", "worlds")),
    Machine("unsigned-char", "gcc", "gcc", ["-O1", "-funsigned-char"]),
    Machine("pages-64K", "gcc", "gcc", ["-O1"], preload="large_pages.c"),
]


def run(command, what, env=None, cwd=None, timeout=3600):
    """What a command prints; Failed where it fails, prints an error or hangs."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=cwd, timeout=timeout,
                              env={**os.environ, **(env or {})})
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{what}: no end after {timeout} s") from error
    if done.returncode != 0:
        said = (done.stderr + done.stdout).strip().split("\n")
        raise Failed(f"{what}: exit status {done.returncode}\n" + "\n".join(said[:5] + said[-15:]))
    return done.stdout


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def include_options():
    """-I of all headers, public and private: file names are unique in the repository."""
    folders = []
    for layer in LAYERS:
        folders += [f"{layer}/include", f"{layer}/engine"]
        folders += sorted({os.path.dirname(os.path.relpath(path, SOURCE)) for path in
                           glob.glob(f"{SOURCE}/{layer}/src/**/*.h", recursive=True)})
    folders += ["tools", "tools/everything", "tools/endurance", "tests/support"]
    return [f"-I{SOURCE}/{folder}" for folder in folders if os.path.isdir(f"{SOURCE}/{folder}")]


class Build:
    """The objects and programs of one machine, in a folder of its own."""

    def __init__(self, machine, work, amalgamated, jobs):
        self.machine, self.amalgamated, self.jobs = machine, amalgamated, jobs
        self.folder = os.path.join(work, machine.name)
        os.makedirs(self.folder, exist_ok=True)
        self.library = os.path.join(self.folder, "weft.o")
        self.env = {"WEFT_SOURCE_DIR": SOURCE}
        launcher = os.environ.get("CMAKE_C_COMPILER_LAUNCHER", "")
        self.cc = [launcher] * bool(launcher) + [machine.compiler, *machine.flags]
        if machine.preload is not None:
            self.env["LD_PRELOAD"] = os.path.join(self.folder, "preload.so")
            run(["gcc", "-O1", "-shared", "-fPIC", f"{HERE}/{machine.preload}", "-o", self.env["LD_PRELOAD"]],
                machine.preload)

    def compile(self, source, options, out=None):
        """The object of a source."""
        out = out or os.path.join(self.folder, re.sub(r"\W", "_", os.path.relpath(source, SOURCE)) + ".o")
        run(self.cc + options + ["-c", source, "-o", out], f"compiling {os.path.relpath(source, SOURCE)}")
        return out

    def inner(self, sources, more=()):
        """The objects of sources that see private headers, made in parallel."""
        options = ["-std=gnu17", "-w", "-ffp-contract=off", "-D_GNU_SOURCE", "-DWEFT_ATOMICS_BUILTIN=1", *more,
                   f"-I{HERE}", *include_options()]
        level = [] if self.machine.flags[0] != "-O2" else ["-O1"]  # half the time; the library is what counts
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(lambda source: self.compile(source, options + level), sources))

    def link(self, objects, name):
        out = os.path.join(self.folder, name)
        run([self.machine.compiler, *self.machine.link, *objects, self.library, "-o", out, "-lpthread", "-lm", "-ldl"],
            f"linking {name}")
        return out

    def run(self, program, *arguments, cwd=None, timeout=3600):
        words = [*self.machine.runner, program, *arguments]
        return run(words, " ".join([os.path.basename(program), *arguments]), self.env, cwd, timeout)


# ---- steps ----

def step_library(build, warnings=tuple(WARNINGS)):
    """Its object, and that nothing in it is fused. As users compile it: gcc itself fuses nothing with -std=c11."""
    build.compile(f"{build.amalgamated}/weft.c", list(warnings), build.library)
    if "-flto=2" in build.machine.flags:
        return "compiled; instructions come with the link"
    listing = run([build.machine.objdump, "-d", "--no-show-raw-insn", build.library], build.machine.objdump)
    fused = [line.strip() for line in listing.split("\n") if FUSED.search(line)]
    if fused:
        raise Failed(f"{len(fused)} fused multiply-adds, the first: {fused[0]}")
    return f"{listing.count(chr(10))} lines of instructions, none fused"


def step_cmake(build):
    """Only what lies in the folder of the other machine is found: nothing of this one."""
    machine, folder = build.machine, f"{build.folder}/cmake"
    shutil.rmtree(folder, ignore_errors=True)
    root = machine.runner[-1]
    words = {"SYSTEM_NAME": "Linux", "SYSTEM_PROCESSOR": os.path.basename(root).split("-")[0], "FIND_ROOT_PATH": root,
             "FIND_ROOT_PATH_MODE_INCLUDE": "ONLY", "FIND_ROOT_PATH_MODE_LIBRARY": "ONLY",
             "FIND_ROOT_PATH_MODE_PACKAGE": "ONLY", "C_COMPILER": machine.compiler, "BUILD_TYPE": "Release"}
    run(["cmake", "-G", "Ninja", "-S", SOURCE, "-B", folder, "-DWEFT_BUILD_TESTS=OFF",
         *(f"-DCMAKE_{name}={value}" for name, value in words.items())], "cmake")
    if "manual.sh" in read(f"{folder}/build.ninja"):
        raise Failed("the build would run programs of the other machine")
    return "configured, with builtin atomics"


def step_consumer(build):
    text = read(f"{SOURCE}/tests/consumer/consumer.c").replace("<weft/weft.h>", '"weft.h"')
    write(f"{build.folder}/consumer.c", text)
    program = build.link([build.compile(f"{build.folder}/consumer.c", [f"-I{build.amalgamated}"])], "consumer")
    said = build.run(program).strip()
    if said != "WEFT_OK":
        raise Failed(f"the program printed {said!r}")
    compiler = " ".join([build.machine.compiler, *build.machine.flags])
    run([sys.executable, f"{SOURCE}/tests/amalgamation/self_test.py", compiler, *build.machine.runner], "self_test.py")
    return "WEFT_OK; the self test of tools/amalgamate"


def worlds_of(build, seeds, folder):
    """The lines of machine_worlds."""
    source = f"{HERE}/machine_worlds.c"
    objects = [build.compile(source, ["-std=c11", *WARNINGS, "-Wno-missing-field-initializers", "-ffp-contract=off",
                                      f"-I{build.amalgamated}"])]
    return build.run(build.link(objects, "machine_worlds"), "1", str(seeds), folder).strip().split("\n")


def stress_sources():
    """The sources of `weft stress`, and what they need of the libraries beside libweft."""
    tools = f"{SOURCE}/tools"
    names = ["cli.c", "cli_file.c", "cli_ranks.c", "diverge.c", "inspect_option.c", "json.c", "cmd_stress.c", "main.c"]
    sources = [f"{tools}/{name}" for name in names] + sorted(glob.glob(f"{tools}/stress_*.c"))
    beside = sorted(glob.glob(f"{tools}/everything/*.c"))
    text = "".join(read(path) for path in beside)
    sources += beside
    if re.search(r"<weft/(scene|live)", text):
        sources += sorted(glob.glob(f"{SOURCE}/ecs/scene/src/**/*.c", recursive=True))
    if "<weft/shard.h>" in text:
        sources += [path for path in sorted(glob.glob(f"{SOURCE}/scheduler/shard/src/**/*.c", recursive=True))
                    if not path.endswith("/transport_mpi.c")]
    return sources


def table(build, name, header, kind, variable, names):
    """A table as CMake makes it (tools/cmake/WeftTargets.cmake)."""
    path = os.path.join(build.folder, name)
    write(path, f'#include "{header}"\n' + "".join(f"extern const {kind} {each}[];\n" for each in names) +
          f"const {kind} *const {variable}[] = {{" + "".join(f"{each}, " for each in names) + "0};\n")
    return path


def stress_program(build):
    sources = stress_sources()
    text = "".join(read(path) for path in sources)
    scenarios = sorted(set(re.findall(r"^const weft_stress_scenario (weft_stress_scenarios_\w+)\[\] = ", text, re.M)))
    operations = [os.path.basename(path)[:-2] for path in sorted(glob.glob(f"{SOURCE}/tools/everything/ops_*.c"))]
    # Not there: endurance, which measures a process by the hour, and the text of programs that --shrink prints.
    write(f"{build.folder}/endurance.c", '#include "endurance.h"\nconst unsigned char walk_rows_text[1];\n'
          "const unsigned walk_rows_text_bytes = 0;\n"
          "int endurance_command(int count, char **words)\n{\n    return count + words[0][0];\n}\n")
    sources += [f"{build.folder}/endurance.c",
                table(build, "everything_table.c", "everything_table.h", "everything_op", "everything_table",
                      [f"everything_{name}" for name in operations]),
                table(build, "stress_table.c", "stress.h", "weft_stress_scenario", "weft_stress_table", scenarios),
                table(build, "cli_table.c", "cli.h", "weft_cli_command", "weft_cli_table", ["weft_cli_commands_stress"])]
    words = [f'-DWEFT_CLI_{name}="{name.lower()}"' for name in ("VERSION", "WITH", "WITHOUT")]
    return build.link(build.inner(sources, words), "weft")


def stress_lines(build, seeds):
    """What is compared: scenario, arguments, hash."""
    program = stress_program(build)
    listed = re.findall(r'"scenario": *"(\w+)"', build.run(program, "stress", "--list", "--json"))
    plans = [["determinism", "--rounds", "1"], ["relations", "--rounds", "1"], ["playback", "--rounds", "1"],
             ["scheduler", "--rounds", "1"], ["jobs", "--rounds", "2"], ["churn", "--rounds", "2"],
             ["commands", "--rounds", "2"], ["systems", "--rounds", "2"],
             ["everything", "--rounds", str(seeds)]]
    lines = []
    for plan in plans:
        if plan[0] not in listed:
            continue
        said = build.run(program, "stress", *plan, "--seed", "1", "--workers", "2", "--json")
        found = re.search(r'"hash": *"?([^",}]+)', said)
        if found is None:
            raise Failed(f"stress {plan[0]}: no hash in {said!r}")
        lines.append(" ".join([*plan, found[1]]))
    return lines


def test_names():
    """LAYER, NAME of the tests that tests/amalgamation links with weft.c, and the golden files."""
    listed = re.search(r"foreach\(test (.*?)\)", read(f"{SOURCE}/tests/amalgamation/CMakeLists.txt"), re.S)[1]
    return [name.split(".") for name in listed.split() + ["ecs.golden"]]


def step_tests(build):
    support = [path for path in glob.glob(f"{SOURCE}/tests/support/*.c") if not path.endswith("plain_main.c")]
    common = build.inner(sorted(support))
    plain, criterion = build.inner([f"{SOURCE}/tests/support/plain_main.c", f"{HERE}/criterion/criterion_main.c"])
    sources = [f"{SOURCE}/tests/{layer}/test_{name}.c" for layer, name in test_names()]
    count, failures = 0, []
    for source, made in zip(sources, build.inner(sources)):
        main = criterion if "<criterion/" in read(source) else plain
        name = os.path.basename(source)[:-2]
        program = build.link([made, main, *common], name)
        try:
            with tempfile.TemporaryDirectory() as folder:
                said = build.run(program, cwd=folder)
            count += int(re.findall(r"(\d+) passed", said)[-1])
        except Failed as error:
            failures.append(str(error))
        os.remove(program)
    if failures:
        raise Failed(f"{len(failures)} of {len(sources)} programs:\n" + "\n".join(failures))
    return f"{count} tests in {len(sources)} programs"


# ---- the reference: x86-64, once per state of the sources ----

@contextlib.contextmanager
def locked(work):
    os.makedirs(work, exist_ok=True)
    with open(f"{work}/lock", "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def state_of(amalgamated, seeds):
    """A hash of all that the reference is made from."""
    state = hashlib.sha256(str(seeds).encode())
    for path in [f"{amalgamated}/weft.c", f"{amalgamated}/weft.h", f"{HERE}/machine_worlds.c", os.path.abspath(__file__),
                 *stress_sources()]:
        state.update(read(path).encode())
    return state.hexdigest()


def reference(work, amalgamated, what, seeds, jobs, make):
    """The lines of `what` that x86-64 prints; its files stay in work/x86-64."""
    path = f"{work}/{REFERENCE.name}/{what}.txt"
    with locked(work):
        state = f"# {state_of(amalgamated, seeds)}"
        if os.path.exists(path) and read(path).split("\n")[0] == state:
            return read(path).strip().split("\n")[1:]
        build = Build(REFERENCE, work, amalgamated, jobs)
        step_library(build)
        lines = make(build)
        write(path, "\n".join([state, *lines]) + "\n")
        return lines


def compare(name, made, wanted):
    different = [(a, b) for a, b in zip(made, wanted) if a != b]
    if len(made) != len(wanted) or different:
        first = f"\n  {name}: {different[0][0]}\n  x86-64: {different[0][1]}" if different else ""
        raise Failed(f"{len(different)} of {len(wanted)} lines differ{first}")


def step_worlds(build, work, seeds):
    golden = f"{work}/{REFERENCE.name}/worlds"

    def make(on):
        shutil.rmtree(golden, ignore_errors=True)
        os.makedirs(golden)
        return worlds_of(on, seeds, golden)

    wanted = reference(work, build.amalgamated, "worlds", seeds, build.jobs, make)
    compare(build.machine.name, worlds_of(build, seeds, golden), wanted)
    return f"{seeds} worlds: hashes, files, texts and section files as on x86-64"


def step_stress(build, work, seeds):
    wanted = reference(work, build.amalgamated, "stress", seeds, build.jobs, lambda on: stress_lines(on, seeds))
    compare(build.machine.name, stress_lines(build, seeds), wanted)
    return "; ".join(line.rsplit(" ", 1)[0] for line in wanted)


# ---- targets that are refused, and the quick part ----

def step_refused(amalgamated, folder):
    """One sentence, before any other error, for 32 bits and for big-endian machines."""
    write(f"{folder}/refused.c", '#include "weft.h"\n')
    ways = [["gcc", "-m32"], ["gcc", "-mx32"], ["gcc", "-U__BYTE_ORDER__", "-D__BYTE_ORDER__=4321"],
            ["gcc", "-U__SIZEOF_POINTER__", "-D__SIZEOF_POINTER__=4"], ["clang", "--target=i686-linux-gnu"],
            ["clang", "--target=s390x-linux-gnu"], ["clang", "--target=powerpc64-linux-gnu"],
            ["clang", "--target=arm-linux-gnueabihf"], ["powerpc64-linux-gnu-gcc"]]
    count = 0
    for way in ways:
        if not shutil.which(way[0]):
            continue
        for file in (f"{folder}/refused.c", f"{amalgamated}/weft.c"):
            done = subprocess.run([*way, f"-I{amalgamated}", "-fsyntax-only", file], capture_output=True, text=True)
            errors = [line for line in done.stderr.split("\n") if "error:" in line]
            if done.returncode == 0 or not errors or SENTENCE not in errors[0]:
                raise Failed(f"{' '.join(way)} {os.path.basename(file)}: not refused by the sentence: {errors[:1]}")
            count += 1
    if count < 8:
        raise Failed(f"only {count} targets were tried")
    return f"{count} compilations refused by the sentence"


def step_headers(amalgamated, folder):
    """Of what programs compile themselves: kinds of char in C++, and products that must not be fused."""
    write(f"{folder}/char.cpp", '#include "weft.h"\nstruct A { char one; char text[4]; };\n'
          'static_assert(WEFT_KIND_OF_(A, one) == WEFT_FIELD_I8 && WEFT_KIND_OF_(A, text) == WEFT_FIELD_TEXT, "as in C");\n')
    write(f"{folder}/char.c", '#include "weft.h"\ntypedef struct A { char one; char text[4]; } A;\n'
          'static const weft_field field = WEFT_FIELD(A, one);\n'
          '_Static_assert(WEFT_KIND_OF_(A, one) == WEFT_FIELD_I8 && WEFT_KIND_OF_(A, text) == WEFT_FIELD_TEXT, "");\n'
          'const weft_field *a_field(void) { return &field; }\n')
    for sign in ("-fsigned-char", "-funsigned-char"):
        for compiler, file in (("g++", "char.cpp"), ("clang++", "char.cpp"), ("gcc", "char.c"), ("clang", "char.c")):
            if shutil.which(compiler):
                run([compiler, sign, f"-I{amalgamated}", "-fsyntax-only", f"{folder}/{file}"], f"{compiler} {sign} {file}")
    if "fma" not in read("/proc/cpuinfo").split():
        return "char is I8 in C and C++; not tried: fused normal numbers, this processor has no FMA"
    write(f"{folder}/normal.c", NORMAL)
    for compiler in ("gcc", "clang"):
        if not shutil.which(compiler):
            continue
        said = []
        for options in (["-ffp-contract=off"], ["-mfma", "-ffp-contract=fast"]):
            run([compiler, "-O2", *options, f"-I{amalgamated}", f"{folder}/normal.c", "-o", f"{folder}/normal", "-lm"], compiler)
            said.append(run([f"{folder}/normal"], "normal").split())
        if said[0][1] == said[1][1]:
            raise Failed(f"{compiler} does not fuse: the check shows nothing")
        if said[0][0] != said[1][0]:
            raise Failed(f"{compiler}: weft_random_normal gives other numbers where products are fused")
    return "char is I8 in C and C++, normal numbers are the same where products are fused"


def with_bug(bug, amalgamated, folder):
    """The amalgamated files in a folder, with a bug: in them, or in tools/amalgamate, which makes them."""
    import run_bugs
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(amalgamated, folder)
    is_tool = bug["file"] == "tools/amalgamate"
    at = f"{folder}/amalgamate" if is_tool else f"{folder}/weft.h"
    if is_tool:
        shutil.copy(f"{SOURCE}/{bug['file']}", at)
    for old, new in bug["hunks"]:
        text, found = run_bugs.pattern(old).subn(lambda match, new=new: "\n".join(new), read(at))
        if found != 1:
            raise Failed(f"the old text is in {os.path.basename(at)} {found} times")
        write(at, text)
    if is_tool:
        run([sys.executable, at, "--root", SOURCE, folder], "tools/amalgamate with the bug")


def seeded(work, amalgamated):
    """Each bug: its step must fail. What compiles the library: with WEFT_DEEP only."""
    sys.path.insert(0, f"{SOURCE}/tests/bugs")
    sys.dont_write_bytecode = True
    import run_bugs
    folder, v3 = f"{work}/bugs", next(machine for machine in MACHINES if machine.name == "v3")
    steps = {"refused": lambda: step_refused(folder, folder), "headers": lambda: step_headers(folder, folder),
             "library": lambda: step_library(Build(v3, work, folder, 2), ["-w"])}
    for bug in run_bugs.parse(f"{SOURCE}/tests/bugs/machines.bugs"):
        def check(bug=bug):
            with_bug(bug, amalgamated, folder)
            try:
                said = steps[bug["caught"]]()
            except Failed as error:
                return f"caught: {str(error).split(chr(10))[0]}"
            raise Failed(f"not caught by {bug['caught']}: {said}")
        is_left_out = bug["caught"] == "library" and not os.environ.get("WEFT_DEEP")
        yield bug["name"], "left out without WEFT_DEEP" if is_left_out else check


def quick(work, amalgamated, jobs):
    folder = f"{work}/quick"
    os.makedirs(folder, exist_ok=True)
    yield "refused", lambda: step_refused(amalgamated, folder)
    yield "headers", lambda: step_headers(amalgamated, folder)
    plain = Machine("quick", "gcc", "gcc", ["-O0"])
    musl = Machine("quick-musl", "musl-gcc", "musl-tools linux-libc-dev", ["-O0", "-funsigned-char", *KERNEL_HEADERS])
    if musl.missing():
        yield "musl", musl.missing()
        return

    def step_musl():
        lines = []
        for machine in (plain, musl):
            worlds = f"{folder}/worlds"
            if machine is plain:
                shutil.rmtree(worlds, ignore_errors=True)
                os.makedirs(worlds)
            build = Build(machine, work, amalgamated, jobs)
            step_library(build, ["-w"])  # a third of the time; amalgamation.single_file shows the warnings
            lines.append(worlds_of(build, 20, worlds))
        compare("musl", lines[1], lines[0])
        return f"{len(lines[0])} worlds by musl -O0 -funsigned-char as by glibc"

    yield "musl", step_musl


# ---- the command ----

def do(name, step, action):
    """Runs one step and prints how it went; whether it passed."""
    start = time.monotonic()
    try:
        said = action()
    except Failed as error:
        print(f"FAILED: {name}: {step}: {error}", flush=True)
        return False
    print(f"{name}: {step}: {said} ({time.monotonic() - start:.0f} s)", flush=True)
    return True


def steps_of(machine, work, amalgamated, args):
    build = Build(machine, work, amalgamated, args.jobs)
    actions = {"cmake": lambda: step_cmake(build), "library": lambda: step_library(build), "consumer": lambda: step_consumer(build),
               "worlds": lambda: step_worlds(build, work, args.seeds), "tests": lambda: step_tests(build),
               "stress": lambda: step_stress(build, work, args.seeds)}
    for step in machine.steps:
        if step == "library" or args.only is None or step in args.only.split(","):
            yield step, actions[step]


def main():
    parser = argparse.ArgumentParser(usage="machines.py [--list] [--quick] [--work DIR] [--seeds N] [--only STEP,...] [MACHINE ...]")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--bugs", action="store_true")
    parser.add_argument("--deep", action="store_true", help="only with WEFT_DEEP in the environment")
    parser.add_argument("--work")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only")
    parser.add_argument("machines", nargs="*")
    args = parser.parse_args()
    names = [machine.name for machine in MACHINES]
    if args.list:
        print("\n".join(f"{m.name}: {' '.join([m.compiler, *m.flags])} {' '.join(m.runner)}".rstrip() for m in MACHINES))
        return 0
    wrong = [name for name in args.machines if name not in names]
    if wrong:
        parser.error(f"no machine {wrong[0]}; there are {', '.join(names)}")
    if args.deep and not os.environ.get("WEFT_DEEP"):
        print("skipped: only with WEFT_DEEP")
        return 77
    with contextlib.ExitStack() as stack:
        work = os.path.abspath(args.work or stack.enter_context(tempfile.TemporaryDirectory()))
        with locked(work):
            amalgamated = f"{work}/amalgamated"
            run([sys.executable, f"{SOURCE}/tools/amalgamate", amalgamated], "tools/amalgamate")
        passed = failed = skipped = 0
        plans = [("quick", quick(work, amalgamated, args.jobs))] if args.quick else []
        plans += [("bugs", seeded(work, amalgamated))] if args.bugs else []
        for machine in MACHINES if not plans else []:
            if args.machines and machine.name not in args.machines:
                continue
            missing = machine.missing()
            if missing:
                print(f"{machine.name}: skipped: {missing}", flush=True)
                skipped += 1
                continue
            plans.append((machine.name, steps_of(machine, work, amalgamated, args)))
        for name, steps in plans:
            for step, action in steps:
                if isinstance(action, str):
                    print(f"{name}: {step}: skipped: {action}", flush=True)
                    skipped += 1
                    continue
                good = do(name, step, action)
                passed, failed = passed + good, failed + (not good)
                if not good and step == "library":
                    break
        print(f"{passed} passed, {failed} failed, {skipped} skipped")
        return 1 if failed else 77 if passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
