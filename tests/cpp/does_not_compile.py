#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""does_not_compile.py COMPILER FLAG ...: what C++ cannot mean as a component, an argument or a command does not
compile, and the compiler's only error is the sentence that says why; with clang and without exceptions, too. The
first row compiles: else the others would say nothing."""
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

STRUCT = "a component is a struct of its own"
ARGUMENT = "an argument is a component"
NOT_AUTO = "the function's arguments need types: not auto"
RUN = "run() takes a function void (weft_slice &)"
FILLED = "rows are filled by a function of references"
ROWS_OF = "auto rows = w.rows<P, Q>(); w.each([&](P &, weft::commands &c) { "
GRID = "struct At { float x, y; }; weft::grid<At> grid(weft::grid_box(0, 100, 2)); "
POOL = "weft::pool pool = weft::pool::borrow(weft_world_pool(w.get())); "
ROWS = (
    ("w.each([](P &p, weft::entity e, const float &dt, weft::commands c) { c.set(e, P{p.x + dt}); });", None),
    ("P p{1}; w.set(w.create(), &p);", STRUCT),
    ('w.create("text", P{1});', STRUCT),
    ("w.set(w.create(), 5);", STRUCT),
    ("w.read<float>(w.create());", STRUCT),
    ("w.has<P *>(w.create());", STRUCT),
    ("enum class E { a }; w.query().with<E>();", STRUCT),
    ("w.query().with<weft::entity>();", "weft's own types are no components"),
    ("w.each([](weft::entity &e, P &) { (void)e; });", ARGUMENT),
    ("w.each([](weft::commands *c, P &) { (void)c; });", ARGUMENT),
    ("w.each([](weft_slice *s, P &) { (void)s; });", ARGUMENT),
    ("w.each([](double dt, P &) { (void)dt; });", ARGUMENT),
    ("w.each([](P &&p) { (void)p; });", ARGUMENT),
    ("w.each([](auto &p) { (void)p; });", "the function's arguments need types: not auto"),
    ("w.each([](Tag &t) { (void)t; });", "a tag has no value"),
    ("w.read<Tag>(w.create());", "a tag has no value"),
    ("w.each([](weft::resource<P> r) { (void)r; });", "flags = WEFT_RESOURCE is missing"),
    ("w.resource<P>();", "flags = WEFT_RESOURCE is missing"),
    ("w.each([](Shared &s) { (void)s; });", "a shared value is const"),
    ("w.write<Shared>(w.create());", "SHARED: set()"),
    ("w.add<Text>(w.create());", "a component moves as bytes"),
    ("w.add<Ending>(w.create());", "its constructor and destructor would not run"),
    ("w.add<Throwing>(w.create());", "the constructor of a component may not throw"),
    ("w.add<Argument>(w.create());", "needs a constructor without arguments"),
    ("w.add<Begun>(w.create());", "SHARED and CHUNK values begin as zero"),
    ("w.each([](weft::commands &c, weft::entity e, P &p) { c.append(e, &p, 1); });", "flags = WEFT_BUFFER is missing"),
    ("w.each([](weft::buffer<P> b) { (void)b; });", "flags = WEFT_BUFFER is missing"),
    ("w.each([](Stop &s) { (void)s; });", "buffers: weft::buffer<T>"),
    ("w.each([](weft::buffer<Stop> &b) { (void)b; });", ARGUMENT),
    ("w.each([](weft::buffer<const Stop> b) { b.clear(); });", "a weft::buffer<const T> only reads"),
    ("w.each([](P &, weft::lookup<Stop> l) { (void)l; });", "weft::lookup<weft::buffer<T>>"),
    ("w.each([](P &, weft::lookup<const Shared> l) { (void)l; });", "are not looked up by entity"),
    ("w.read<Stop>(w.create());", "BUFFER: buffer<T>()"),
    ("w.archetype<P, Sparse>();", "belong to no archetype"),
    ("w.set(w.create(), Fixed(3));", "it needs both"),
    ("w.set(w.create(), w.entity(w.create()));", "weft's own types are no components"),
    ("w.query().view<P>().only(P{1});", "flags = WEFT_SHARED is missing"),
    ("w.each([](P &, weft::parent &above) { (void)above; });", "Parent and InstanceOf are const as a term"),
    ("w.each([](P &, weft_frame &frame) { (void)frame; });", ARGUMENT),
    ("w.lookup<P>();", "lookup<const T>() reads"),
    ("w.lookup<const Stop>();", "are not looked up by entity"),
    ("w.rows<P, Tag>();", "rows are filled by values in columns"),
    ("w.query().each([](P &, weft::commands &c) { c.create(); }).in_parallel();", "commands are recorded on one thread"),
    ("w.query().view<P>().set_all(Vector{});", "values are copied as bytes"),
    ("Vector *a = nullptr; w.set_many(nullptr, 0, a);", "values are copied as bytes"),
    ('w.observe<P>("o").removed([](int n) { (void)n; });', "an observer's function takes"),
    ('w.observe<Sparse>("o").removed([](weft::entity) {});', "tags and components in columns are observed"),
    ('w.observe<P>("o").removed([](P &p) { (void)p; });', "an observer's function takes"),
    ('w.observe<P>("o").removed([](auto e) { (void)e; });', NOT_AUTO),
    ('w.system("s").each([](double dt) { (void)dt; });', ARGUMENT),
    ('w.system("s").each([](weft::world &v, P &) { (void)v; });', ARGUMENT),
    ('w.system("s").each([](weft_world *v, P &) { (void)v; });', ARGUMENT),
    ('w.system("s").each([](Undefined &u) { (void)u; });', ARGUMENT),
    ('w.system("s").each([](auto &p) { (void)p; });', NOT_AUTO),
    ('w.system("s").each(5);', NOT_AUTO),
    ('w.system("s").each([](weft::buffer<int> b) { (void)b; });', STRUCT),
    ("w.each(w);", NOT_AUTO),
    ('w.system("s").over<P>().run([](P &p) { (void)p; });', RUN),
    ('w.system("s").run([](weft_slice *s) { (void)s; });', RUN),
    ('w.system("s").run([](weft_slice s) { (void)s; });', RUN),
    ('w.system("s").run([] {});', RUN),
    ('w.system("s").run([](weft_slice &, float dt) { (void)dt; });', RUN),
    ('auto f = [o = std::make_unique<int>()](weft_slice &) {}; w.system("s").run(f);', "a function is kept by value"),
    ('auto f = [o = std::make_unique<int>()](P &) {}; w.system("s").each(f);', "a function is kept by value"),
    ("auto f = [o = std::make_unique<int>()](P &) {}; w.each(f);", "a function is kept by value"),
    ('w.system("s").run_if([] { return P{}; });', "run_if() takes a function bool ()"),
    ('w.system("s").run_if([] {});', "run_if() takes a function bool ()"),
    ('w.system("s").run_if([](weft::world &) { return true; });', "run_if() takes a function bool ()"),
    ('w.system("s").run_if([] { return f; });', "run_if() takes a function bool ()"),
    ('w.system("s").run_if([o = std::make_unique<int>()] { return true; });', "run_if() takes a function bool ()"),
    ('w.system("s").run_if(true);', "run_if() takes a function bool ()"),
    ('w.system("s").range([] {});', "range() takes a function uint32_t ()"),
    ('w.system("s").range([] { return std::string(); });', "range() takes a function uint32_t ()"),
    ('w.system("s").range(40);', "range() takes a function uint32_t ()"),
    (ROWS_OF + "c.create_rows(rows, 5, [](uint32_t, Q &, P &) {}); });", FILLED),
    (ROWS_OF + "c.create_rows(rows, 5, [](uint32_t, P, Q &) {}); });", FILLED),
    (ROWS_OF + "c.create_rows(rows, 5, [](P &) {}); });", FILLED),
    (ROWS_OF + "c.create_rows(rows, 5, [](P *, Q *) {}); });", FILLED),
    (POOL + "pool.submit([](int n) { return n; });", "a job's function takes nothing"),
    (POOL + "pool.submit(5);", "a job's function takes nothing"),
    (POOL + "int n = 0; pool.submit([&]() -> int & { return n; });", "a job gives a value"),
    (POOL + "auto f = [o = std::make_unique<int>()] {}; pool.submit(f);", "a job keeps its function by value"),
    (POOL + "auto a = pool.submit([] {}); pool.submit([] {}, a.handle());", "each is a weft::future"),
    (POOL + "pool.parallel_for(9, [] {});", "a loop's function takes the number of the item"),
    (POOL + "pool.parallel_for(9, [](P &p) { (void)p; });", "a loop's function takes the number of the item"),
    (POOL + "pool.parallel_for(9, [](uint32_t &i) { i++; });", "a loop's function takes the number of the item"),
    (POOL + "pool.parallel_for(9, [](uint32_t, uint32_t) {});", "a loop's function takes the number of the item"),
    ("weft::parallel_for(weft_job_pool_owner(weft_world_pool(w.get())), 9, [](P &) {});",
     "a loop's function takes the number of the item"),
    (POOL + "pool.parallel_reduce(9, 0.0, [] { return 1.0; }, std::plus<>());", "a reduction's function takes uint32_t"),
    (POOL + "pool.parallel_reduce(9, 0, [](uint32_t) { return 0.5; }, std::plus<>());", "0.0 where they have fractions"),
    (POOL + "pool.parallel_reduce(9, 0.0, [](uint32_t) { return P{}; }, std::plus<>());", "a reduction's function takes"),
    (POOL + "pool.parallel_reduce(9, 0.0, [](uint32_t) { return 1.0; }, [](double a) { return a; });", "a reduction combines"),
    (POOL + "pool.parallel_reduce(9, 0, [](uint32_t) { return 1; }, [](double a, double b) { return a + b; });",
     "a reduction combines"),
    ('weft::graph g; g.add("n", [](int) {});', "a node's function takes nothing"),
    ('weft::graph g; g.add("n", 5);', "a node's function takes nothing"),
    ('weft::graph g; g.add("n", [o = std::make_unique<int>()] {});', "a node's function takes nothing"),
    (GRID + "grid.around({}, [](int n) { (void)n; });", "around() calls a function of"),
    (GRID + "grid.pairs([](const auto &n) { (void)n; });", "pairs() calls a function of"),
    (GRID + "grid.pairs([](uint32_t &a, const auto &n) { a = n.point; });", "pairs() calls a function of"),
    ("w.add<Saved>(w.create());", "traits for files are both"),
    ("w.add<Signed>(w.create());", "traits for files are both"),
)
TYPES = """struct P { float x; };
struct Q { int n; };
struct Tag {};
struct Saved { int n; };
struct Signed { int n; };
struct Shared { int n; };
struct Begun { int n = 3; };
struct Text { std::string s; };
struct Ending { ~Ending() {} };
struct Throwing { Throwing() : v(3) {} std::vector<int> v; };
struct Stop { int n; };
struct Sparse { int n; };
struct Fixed { Fixed() noexcept : v(0) {} explicit Fixed(int n) : v(n) {} ~Fixed() {} const int v; };
struct Vector { std::vector<int> v; };
struct Undefined;
struct Argument { explicit Argument(int n) : v(n) {} std::vector<int> v; };
"""
RELOCATABLE = "static constexpr bool is_relocatable = true;"
TRAITS = {
    "Shared": "static constexpr uint32_t flags = WEFT_SHARED;",
    "Stop": "static constexpr uint32_t flags = WEFT_BUFFER;",
    "Sparse": "static constexpr uint32_t flags = WEFT_SPARSE;",
    "Begun": "static constexpr uint32_t flags = WEFT_SHARED;",
    "Fixed": RELOCATABLE, "Ending": RELOCATABLE, "Throwing": RELOCATABLE, "Vector": RELOCATABLE, "Argument": RELOCATABLE,
    "Saved": "static std::size_t save(const TYPE &, void *, std::size_t) { return 0; }",
    "Signed": "static int save(const TYPE &, void *) { return 0; }"
              "static bool load(TYPE &, const void *, std::size_t) { return true; }",
}
TOGETHER = 16  # programs for one run of a compiler, each in a namespace of its own


def source_of(rows):
    source = "#include <weft/grid.hpp>\n"
    for number, (body, _) in enumerate(rows):
        traits = "".join(f"template <> struct component_traits<n{number}::{name}> : component_defaults<n{number}::{name}> {{ "
                         + text.replace("TYPE", f"n{number}::{name}") + " };\n" for name, text in TRAITS.items())
        source += (f"namespace n{number} {{\n{TYPES}}}\nnamespace weft {{\n{traits}}}\nnamespace n{number} {{\n"
                   f"void f(weft::world &w);\nvoid f(weft::world &w) {{ {body} }}\n}}\n")
    return source


# the compiler's errors
def errors_of(compiler, rows):
    done = subprocess.run([*compiler, "-std=c++17", "-fsyntax-only", "-x", "c++", "-"], input=source_of(rows),
                          capture_output=True, text=True, check=False)
    return [line for line in done.stderr.splitlines() if "error:" in line]


def tried(compiler, rows):
    """(row, what is wrong) of those that are wrong. One compiler says a sentence about the same type once: halves then."""
    errors = errors_of(compiler, rows)
    wanted = [row[1] for row in rows if row[1] is not None]
    if len(errors) == len(wanted) and all(sum(one in error for error in errors) == wanted.count(one) for one in wanted):
        return []
    if len(rows) > 1:
        return tried(compiler, rows[0::2]) + tried(compiler, rows[1::2])
    return [(rows[0], f"{len(errors)} errors, wanted: {rows[0][1]}\n    " + "\n    ".join(errors[:4]))]


def failures(compiler, folder):
    """How many of ROWS this compiler takes for something else."""
    headers = os.path.join(folder, "first.hpp")
    compiled = headers + ".gch" if "clang" not in compiler[0] else headers + ".pch"
    subprocess.run([*compiler, "-std=c++17", "-x", "c++-header", headers, "-o", compiled], check=True)
    if "clang" in compiler[0]:  # gcc finds first.hpp.gch by itself
        compiler = [*compiler, "-ferror-limit=0", "-include-pch", compiled]
    else:
        compiler = [*compiler, "-include", headers]
    count = -(-len(ROWS) // TOGETHER)
    parts = [ROWS[first::count] for first in range(count)]  # neighbours are alike: not together
    with ThreadPoolExecutor(2) as threads:
        found = [one for part in threads.map(lambda rows: tried(compiler, rows), parts) for one in part]
    for row, why in found:
        print(f"FAILED: {compiler[0]}: {row[0]}\n  {why}")
    return len(found)


def main():
    compilers = [sys.argv[1:]]
    if "clang" not in sys.argv[1] and shutil.which("clang++"):
        compilers.append(["clang++", "-fno-exceptions", *sys.argv[2:]])
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "first.hpp"), "w", encoding="utf-8") as file:
            file.write("#include <weft/grid.hpp>\n")
        for compiler in compilers:
            failed += failures(compiler, folder)
    print(f"{len(ROWS)} programs, {len(compilers)} compilers, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
