#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""shell_blocks.py BUILD_DIR: the ```sh blocks of README.md, CONTRIBUTING.md and docs. Those of embedding.md (six_ways.py),
python.md (tests/python/wheel.sh) and profiling.md (tests/profile) are run by these tests. The others build for minutes, need
root, a browser or a cluster, or stand for a program of the reader's: here they are read by the shell, and what they name has
to exist: commands and options of weft and weft-perf, presets and options of CMake, packages of pkg-config, variables
WEFT_..., files of this tree."""
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Programs that need not be there: of the system, and of the reader.
OTHERS = set("""apt-get c++ cat cc cd clang cpack ctest curl diff env/bin/pip env/bin/python export find git grep less mkdir mpirun
objdump perf pkg-config python3 sh srun weft-simulate ./a.out ./app ./birds ./game ./my_program ./program app/build/app solar
awk dirname echo ldd""".split())
WRAPPERS = {"mpirun": {"-np", "--hostfile", "--map-by", "--bind-to", "-x"}, "srun": set()}


def text_of(pattern):
    found = (p for p in glob.glob(os.path.join(SOURCE, pattern), recursive=True) if os.path.isfile(p))
    return "\n".join(open(p, encoding="utf-8", errors="replace").read() for p in found)


class Checker:
    def __init__(self, build):
        self.build, self.helps, self.wrong, self.seen = build, {}, [], 0
        self.presets = {p["name"] for p in json.loads(text_of("CMakePresets.json"))["configurePresets"]}
        self.cmake = text_of("CMakeLists.txt") + text_of("tools/cmake/*") + text_of("*/**/CMakeLists.txt")
        sources = ("jobs/**/*.[ch]", "ecs/**/*.[ch]", "scheduler/**/*.[ch]", "perf/**/*.[ch]", "tools/**/*", "tests/support/*.[ch]")
        self.variables = set(re.findall(r"\bWEFT_[A-Z_]+\b", "".join(text_of(s) for s in sources)))

    def help_of(self, *command):
        if command not in self.helps:
            done = subprocess.run([*command, "--help"], capture_output=True, text=True)
            self.helps[command] = done.stdout + done.stderr if done.returncode == 0 else None
        return self.helps[command]

    def options(self, page, words, text):
        name = " ".join(words[:2])
        if text is None:
            self.wrong.append(f"{page}: {name}: there is no such command")
            return
        for word in words[1:]:
            option = re.match(r"--[a-z][a-z-]*", word)
            if option and not re.search(re.escape(option[0]) + r"(?![a-z-])", text):
                self.wrong.append(f"{page}: {name} has no option {option[0]}")

    def cmake_words(self, page, words):
        for before, word in zip([""] + words, words):
            if before == "--preset" and word not in self.presets:
                self.wrong.append(f"{page}: there is no preset {word}")
            option = re.match(r"-D(WEFT_\w+)=", word)
            if option and not re.search(r"(option|set)\(" + option[1] + r"\b", self.cmake):
                self.wrong.append(f"{page}: CMake knows no {option[1]}")

    def command(self, page, words):
        while words and re.match(r"\w+=", words[0]):
            name = words.pop(0).split("=")[0]
            if name.startswith("WEFT_") and name not in self.variables:
                self.wrong.append(f"{page}: no source reads {name}")
        if not words:
            return
        self.seen += 1
        program = words[0]
        if program in WRAPPERS:
            rest = words[1:]
            while rest and rest[0].startswith("-"):
                rest = rest[2 if rest[0] in WRAPPERS[program] else 1:]
            return self.command(page, rest)
        if program in ("weft", "build/release/weft"):
            weft = os.path.join(self.build, "weft")
            self.options(page, ["weft", *words[1:]], self.help_of(weft, words[1]) if len(words) > 1 else None)
        elif program in ("weft-perf", "tools/weft-perf"):
            own = words[:words.index("--")] if "--" in words else words
            self.options(page, own, self.help_of(os.path.join(SOURCE, "tools", "weft-perf")))
            if "--" in words:
                self.command(page, words[words.index("--") + 1:])
        elif program == "cmake":
            self.cmake_words(page, words[1:])
        elif program not in OTHERS and not shutil.which(program) and not re.match(r"\.?/|tools/|weft/tools/|build/", program):
            self.wrong.append(f"{page}: which program is {program}?")
        elif program == "pkg-config":
            for word in words[1:]:
                if re.match(r"weft[a-z-]*$", word) and not os.path.exists(os.path.join(self.build, word + ".pc")):
                    self.wrong.append(f"{page}: there is no {word}.pc")

    def block(self, page, text):
        done = subprocess.run(["sh", "-n"], input=text, capture_output=True, text=True)
        if done.returncode != 0:
            self.wrong.append(f"{page}: {done.stderr.strip()}")
            return
        text = re.sub(r"<<END\n.*?\nEND\n", "\n", text.replace("\\\n", " "), flags=re.S)
        while inner := re.search(r"\$\(([^()]*)\)", text):
            text = f"{text[:inner.start()]}substituted{text[inner.end():]}{inner[1]}\n"
        for line in text.splitlines():
            line = re.sub(r"[<>]+ *\S+", "", re.sub(r"(^|\s)#.*", "", line))
            lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
            lexer.whitespace_split = True
            words = []
            try:
                tokens = list(lexer)
            except ValueError:
                continue  # a text in quotes over several lines
            for token in [*tokens, ";"]:
                if re.fullmatch(r"[();|&]+", token):
                    self.command(page, words)
                    words = []
                else:
                    words.append(token)
        for path in re.findall(r"(?<![\w/.])(?:weft/)?((?:tools|tests|docs)/[\w./-]+\w)", text):
            if not glob.glob(os.path.join(SOURCE, path + "*")):
                self.wrong.append(f"{page}: there is no {path}")


def main():
    checker = Checker(sys.argv[1])
    pages = ["README.md", "CONTRIBUTING.md", *sorted(glob.glob("docs/**/*.md", recursive=True, root_dir=SOURCE))]
    for page in pages:
        for text in BLOCK.findall(text_of(page)):
            checker.block(page, text)
    # What it must not accept.
    wanted = ["weft nonsense", "weft bench --nonsense", "cmake --preset nonsense", "WEFT_NONSENSE=1 ./game", "tools/nonsense", "nonsense",
              "cc a.c $(pkg-config --libs weft-nonsense)", "weft-perf flame --nonsense -- ./game", "if"]
    seeded = Checker(sys.argv[1])
    for line in wanted:
        seeded.block(line, line + "\n")
    missed = [line for line in wanted if not any(w.startswith(line) for w in seeded.wrong)]
    print(*checker.wrong, *(f"accepted: {line}" for line in missed), sep="\n")
    print(f"{checker.seen} commands, {len(checker.wrong)} wrong")
    sys.exit(1 if checker.wrong or missed or checker.seen < 50 else 0)


if __name__ == "__main__":
    main()
