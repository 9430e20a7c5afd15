#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""does_not_compile.py COMPILER FLAG ...: what C++ cannot mean as a component, an argument or a command does not
compile, and the compiler's first errors hold the sentence that says why. The first row compiles: else the
others would say nothing."""
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

STRUCT = "a component is a struct of its own"
ARGUMENT = "an argument is a component"
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
    ("w.each([](P &, weft::parent &above) { (void)above; });", "Parent is const as a term"),
    ("w.each([](P &, weft_frame &frame) { (void)frame; });", ARGUMENT),
    ("w.lookup<P>();", "lookup<const T>() reads"),
    ("w.lookup<const Stop>();", "are not looked up by entity"),
    ("w.rows<P, Tag>();", "rows are filled by values in columns"),
    ("w.query().each([](P &, weft::commands &c) { c.create(); }).in_parallel();", "commands are recorded on one thread"),
    ("w.query().view<P>().set_all(Argument(3));", "values are copied as bytes"),
    ("Argument *a = nullptr; w.set_many(nullptr, 0, a);", "values are copied as bytes"),
    ('w.observe<P>("o").removed([](int n) { (void)n; });', "an observer's function takes"),
)
PROGRAM = """#include <weft/weft.hpp>
struct P { float x; };
struct Tag {};
struct Shared { int n; };
struct Begun { int n = 3; };
struct Text { std::string s; };
struct Ending { ~Ending() {} };
struct Throwing { Throwing() : v(3) {} std::vector<int> v; };
struct Stop { int n; };
struct Sparse { int n; };
struct Fixed { Fixed() noexcept : v(0) {} explicit Fixed(int n) : v(n) {} ~Fixed() {} const int v; };
struct Argument { explicit Argument(int n) : v(n) {} std::vector<int> v; };
namespace weft {
template <> struct component_traits<Shared> : component_defaults<Shared> { static constexpr uint32_t flags = WEFT_SHARED; };
template <> struct component_traits<Stop> : component_defaults<Stop> { static constexpr uint32_t flags = WEFT_BUFFER; };
template <> struct component_traits<Sparse> : component_defaults<Sparse> { static constexpr uint32_t flags = WEFT_SPARSE; };
template <> struct component_traits<Fixed> : component_defaults<Fixed> { static constexpr bool is_relocatable = true; };
template <> struct component_traits<Begun> : component_defaults<Begun> { static constexpr uint32_t flags = WEFT_SHARED; };
template <> struct component_traits<Ending> : component_defaults<Ending> { static constexpr bool is_relocatable = true; };
template <> struct component_traits<Throwing> : component_defaults<Throwing> { static constexpr bool is_relocatable = true; };
template <> struct component_traits<Argument> : component_defaults<Argument> { static constexpr bool is_relocatable = true; };
}
void f(weft::world &w);
void f(weft::world &w) { %s }
"""


def tried(compiler, row):
    source = PROGRAM % row[0]
    done = subprocess.run([*compiler, "-std=c++17", "-fsyntax-only", "-x", "c++", "-"], input=source,
                          capture_output=True, text=True, check=False)
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    if row[1] is None:
        return "" if done.returncode == 0 else "it does not compile: " + "\n".join(errors[:3])
    if done.returncode == 0:
        return "it compiles"
    return "" if any(row[1] in line for line in errors[:4]) else "its errors do not say so: " + "\n".join(errors[:4])


def main():
    compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        named = os.path.join(folder, "first.hpp")
        with open(named, "w", encoding="utf-8") as file:
            file.write("#include <weft/weft.hpp>\n")
        if "clang" not in os.path.basename(compiler[0]):  # gcc finds first.hpp.gch by itself
            subprocess.run([*compiler, "-std=c++17", "-x", "c++-header", named, "-o", named + ".gch"], check=True)
            compiler = [*compiler, "-include", named]
        with ThreadPoolExecutor(2) as threads:
            found = list(threads.map(lambda row: tried(compiler, row), ROWS))
    failed = 0
    for row, why in zip(ROWS, found):
        if why:
            failed += 1
            print(f"FAILED: {row[0]}\n  {why}")
    print(f"{len(ROWS)} programs, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
