# SPDX-License-Identifier: MIT
"""_compiled: weft.c("..."): systems as C source in a string.

The source is the body of a function that is called for slices of rows, by all workers. Around it goes what
the terms say: a struct for each dtype with fields, a pointer to each column, named as its component in small letters. The compiler
runs once for each text: the library is kept in the user's cache, under a hash of text, flags, compiler
and version of weft."""
import functools
import glob
import hashlib
import os
import re
import shlex
import subprocess
import tempfile

from . import _native
from ._errors import CLASSES
from ._query import Query
from ._systems import _names
from ._values import Component

TypeMismatchError = CLASSES["TYPE_MISMATCH"]

FLAGS = ("-O3", "-std=gnu17", "-fPIC", "-shared", "-ffp-contract=off", "-w")
TAKEN = set("""auto bool break case char const continue count default do double dt else entities enum extern float for goto
    if inline int long query register restrict return rows short signed sizeof slice static struct switch typedef union unsigned
    user void volatile while world commands""".split())
NUMBERS = {"f4": "float", "f8": "double", "b1": "bool", "i1": "int8_t", "i2": "int16_t", "i4": "int32_t", "i8": "int64_t",
           "u1": "uint8_t", "u2": "uint16_t", "u4": "uint32_t", "u8": "uint64_t"}
SYMBOL = "weft_compiled"


class CompileError(Exception):
    """The compiler refused a system. `lines`: (line of the source, what is wrong) of each error."""

    def __init__(self, text, lines=()):
        super().__init__(text)
        self.lines = list(lines)


def c_name(name):
    """The name of a column in C: MaxSpeed is max_speed."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", re.sub(r"\W", "_", name)).lower()
    return name + "_" if name in TAKEN or name[0].isdigit() else name


def c_number(dtype):
    """The type of one element in C, and what stands behind its name."""
    if dtype.metadata and dtype.metadata.get("weft") == "entity":
        return "weft_entity", ""
    if dtype.str[1:] in NUMBERS and dtype.isnative:
        return NUMBERS[dtype.str[1:]], ""
    if dtype.kind == "S":
        return "char", f"[{dtype.itemsize}]"
    return "unsigned char", f"[{dtype.itemsize}]"


def c_struct(name, dtype, is_made=True):
    """The struct of a dtype with fields; each field lies where NumPy has it. Not `is_made`: what compares its size."""
    check = f"_Static_assert(sizeof({name}) == {dtype.itemsize}, \"{name}: the size of its dtype\");"
    if not is_made:
        return check
    lines, at, pads, is_packed, named = [], 0, 0, False, {}
    for field in dtype.names:
        inner, offset = dtype.fields[field][:2]
        if offset > at:
            lines.append(f"    uint8_t pad{pads}[{offset - at}];")
            pads += 1
        kind, behind = c_number(inner.base)
        dims = "".join(f"[{n}]" for n in inner.shape)
        natural = 4 if kind == "weft_entity" else inner.base.alignment
        is_packed = is_packed or offset % max(natural, 1) != 0
        if named.setdefault(c_name(field), field) != field:
            raise ValueError(f"{name}: its fields {named[c_name(field)]} and {field} are both {c_name(field)} in C: rename one of them")
        lines.append(f"    {kind} {c_name(field)}{dims}{behind};")
        at = offset + inner.itemsize
    if dtype.itemsize > at:
        lines.append(f"    uint8_t pad{pads}[{dtype.itemsize - at}];")
    attribute = "__attribute__((packed)) " if is_packed or dtype.itemsize % max(dtype.alignment, 1) else ""
    return "\n".join([f"typedef struct {attribute}{{", *lines, f"}} {name};", check])


def column_call(component, is_written):
    """The function that gives the values of a slice."""
    if component.flags & (_native.BUFFER | _native.SPARSE):
        raise TypeMismatchError(f"{component.name}: buffers and sparse components have no column: go by `slice`, with "
                                "`having` and `handles`", component=component.name)
    if component.flags & _native.SHARED:
        if is_written:
            raise TypeMismatchError(f"{component.name} is shared: a system reads it", component=component.name)
        return "weft_slice_read_shared"
    return f"weft_slice_{'write' if is_written else 'read'}{'_chunk' * bool(component.flags & _native.CHUNK)}"


class Text:
    """The text of a system, as it goes to the compiler."""

    def __init__(self, has_structs):
        self.structs, self.starts, self.handles, self.has_structs = {}, [], [], has_structs
        self.named = {}  # what is declared for the body: of which component or key

    def type_of(self, component):
        """(type, dimensions) of a value; describes its struct."""
        base, shape = component.dtype.base, component.dtype.shape
        dims = "".join(f"[{n}]" for n in shape)
        if base.names is None:
            kind, behind = c_number(base)
            return kind, dims + behind
        name = re.sub(r"\W", "_", component.name)
        struct = c_struct(name, base, self.has_structs)
        if self.structs.setdefault(name, struct) != struct:
            raise ValueError(f"{component.name}: another component is the struct {name} in C, too: rename one of them")
        return name, dims

    def pointer(self, component, is_const, name=None, suffix=""):
        """`const float (*restrict velocity)[3]`."""
        kind, dims = self.type_of(component)
        name = (name or c_name(component.name)) + suffix
        const = "const " * is_const
        return f"{const}{kind} (*restrict {name}){dims}" if dims else f"{const}{kind} *restrict {name}"

    def start(self, name, what, line):
        """A line that declares `name`, of the component or key `what`."""
        if name in self.named:
            other = self.named[name]
            raise ValueError(f"{what} and {other} are both {name} in C: rename one of them" if what != other else
                             f"{what} is listed twice: it is {name} in C, which is there once")
        self.named[name] = what
        self.starts.append(line)

    def handle(self, what, kind="component"):
        """The place of a component, an archetype (a tuple of components) or a query among those that `user` has."""
        if what not in self.handles:
            self.handles.append(what)
        return f"((const weft_{kind} *)user)[{self.handles.index(what)}]"

    def numbers(self):
        """The handles, as the extension takes them."""
        return [what.number if isinstance(what, Component) else what._native if isinstance(what, Query)
                else [component.number for component in what] for what in self.handles]

    def made(self, name, source, head):
        label = re.sub(r'["\\\n]', "_", name)
        structs, head = [*self.structs.values()], [f'#line 1 "{label}, head"', head]
        return "\n".join([
            '#include "weft.h"', "#include <math.h>", "#include <string.h>",
            *([*structs, *head] if self.has_structs else [*head, *structs]), f"void {SYMBOL}(weft_slice *slice, void *user);", f"void {SYMBOL}(weft_slice *slice, void *user)", "{",
            "const uint32_t count = weft_slice_count(slice);", "const float dt = weft_slice_dt(slice);",
            "const weft_entity *const entities = weft_slice_entities(slice);", *self.starts, "{", f'#line 1 "{label}"', source, "}", "}", ""])


@functools.lru_cache(maxsize=8)
def compiler_version(command):
    """What the compiler says of itself: part of the hash."""
    try:
        return subprocess.run([*shlex.split(command), "--version"], capture_output=True, text=True, check=False).stdout
    except OSError as error:
        raise CompileError(f"there is no C compiler `{command}`: install one (Debian: gcc), or set CC") from error


@functools.lru_cache(maxsize=8)
def headers_hash(folder):
    """What stands in the headers of weft: what they inline is compiled into a system."""
    found = hashlib.sha256()
    for path in sorted(glob.glob(os.path.join(folder, "weft", "*.h"))):
        with open(path, "rb") as file:
            found.update(file.read())
    return found.hexdigest()


def cache_folder():
    """$WEFT_CACHE, or weft in the user's folder of caches."""
    folder = os.environ.get("WEFT_CACHE")
    if not folder:
        folder = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "weft")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return folder


def mistakes(said, name, source):
    """(text, lines) of what the compiler said, with the lines of the source below their numbers."""
    rows, lines, shown = source.split("\n"), [], []
    for line in said.split("\n"):
        found = re.match(rf"{re.escape(name)}:(\d+):(?:(\d+):)? (?:fatal )?error: (.*)", line)
        if found:
            number = int(found[1])
            lines.append((number, found[3]))
            shown.append(f"{name}:{number}: {found[3]}")
            if 0 < number <= len(rows):
                shown.append(f"    {rows[number - 1].strip()}")
        elif " error: " in line:
            shown.append(line)
    return "\n".join(shown) or said, lines


def library_of(text, flags, name, source):
    """The path of the compiled text; the compiler runs only if the cache lacks it."""
    from . import __version__, get_include
    command = os.environ.get("CC") or "cc"
    flags = (*FLAGS, *flags)
    parts = (text, *flags, command, compiler_version(command), __version__, _native.LIBRARY_VERSION, headers_hash(get_include()))
    key = hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:32]
    folder = cache_folder()
    path = os.path.join(folder, key + ".so")
    if os.path.exists(path):
        return path
    with tempfile.TemporaryDirectory(dir=folder) as work:  # beside it: the last step is a rename
        with open(os.path.join(work, "system.c"), "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([*shlex.split(command), *flags, f"-I{get_include()}", "system.c", "-lm", "-o", "system.so"], cwd=work,
                              capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}, check=False)
        if done.returncode != 0:
            raise CompileError(*mistakes(done.stderr, name, source))
        os.replace(os.path.join(work, "system.so"), path)
    return path


class Compiled:
    """Systems in C of a World, from a string."""

    def c(self, source, *, name=None, resources=(), write_resources=(), look_up=(), write_look_up=(), handles=(),
          archetypes=None, queries=None, commands=False, before=(), after=(), serial=False, jobs=False, count=None, head="",
          structs=True, flags=(), **terms):
        """A system whose body is C. Called for slices, by all workers; it sees `count`, `dt`, `entities`, `slice`, and a
        pointer to each column, named as its component in small letters (MaxSpeed: max_speed; NULL where an
        optional one is absent), and `*config` of a resource Config. `look_up`: components of other entities,
        read by `weft_finder_read(&find_NAME, entity)`; `handles`: components for commands, as
        `handle_NAME`; `commands`: it records, by `commands`. `write_look_up`: components that it writes by
        `weft_slice_write_entity(slice, entity, handle_NAME)`. `archetypes`: {"car": [Car, Lane]} is `archetype_car`; `queries`:
        {"cars": query} is `query_cars`. before, after: names of other systems in C. `serial`: slices in order, on one
        worker; `jobs`: it calls weft_slice_job; `count`: it has no terms, and is called once for each `slice->index` below
        it. `head`: includes and functions before it; `structs=False`: it has the structs of the dtypes, too; `flags`: more
        flags of the compiler. Returns the path of the library. Raises CompileError."""
        query = Query(self, **terms)
        text = Text(structs)
        written = terms.get("write", ())
        writes = {written} if isinstance(written, Component) else set(written)
        for component in [*resources, *write_resources, *look_up, *write_look_up, *handles]:
            self._own(component)
        if count is not None and (isinstance(count, bool) or not 0 < count < 2 ** 32 or terms):
            raise ValueError(f"count is {count}: from 1 to 2^32 - 1, of a system without terms")
        for component, place in query._places.items():
            is_written = component in writes
            text.start(c_name(component.name), component.name, f"{text.pointer(component, not is_written)} = {column_call(component, is_written)}(slice, {place});")
        for component, access in [(r, "read") for r in resources] + [(r, "write") for r in write_resources]:
            text.start(c_name(component.name), component.name, f"{text.pointer(component, access == 'read')} = "
                       f"weft_slice_{access}_resource(slice, {text.handle(component)});")
        for component in look_up:
            text.type_of(component)
            text.start(f"find_{c_name(component.name)}", component.name, f"const weft_finder find_{c_name(component.name)} = weft_slice_finder(slice, {text.handle(component)});")
        for component in dict.fromkeys([*handles, *write_look_up]):
            text.start(f"handle_{c_name(component.name)}", component.name, f"const weft_component handle_{c_name(component.name)} = {text.handle(component)};")
        for key, what in (archetypes or {}).items():
            named = tuple(self._own(component) for component in what)
            text.start(f"archetype_{c_name(key)}", key, f"const weft_archetype archetype_{c_name(key)} = {text.handle(named, 'archetype')};")
        for key, what in (queries or {}).items():
            if not isinstance(what, Query) or what.world is not self:
                raise TypeError(f"{key}: a query of this world is needed")
            text.start(f"query_{c_name(key)}", key, f"const weft_query query_{c_name(key)} = {text.handle(what, 'query')};")
            self._kept.append(what)
        if commands:
            text.starts.append("weft_recorder *const commands = weft_slice_recorder(slice);")
        label = name or f"c{self._compiled}"
        path = library_of(text.made(label, source, head), tuple(flags), label, source)
        read, write = _native.READ, _native.WRITE
        self._native.system_load(
            label, path, SYMBOL, query._terms, serial * _native.SERIAL | jobs * _native.JOBS, commands, text.numbers(),
            [(r.number, read) for r in resources] + [(r.number, write) for r in write_resources],
            [(r.number, read) for r in look_up] + [(r.number, write) for r in write_look_up],
            _names(before, "before"), _names(after, "after"), count or 0)
        self._compiled += 1
        return path


def c(source, **named):
    """World.c of the world that the components belong to: weft.c("...", write=[Position], read=[Velocity])."""
    for given in named.values():
        if isinstance(given, (list, tuple)):
            for component in given:
                world = getattr(component, "_world", None)
                if world is not None:
                    return world.c(source, **named)
    raise TypeError("weft.c needs a component, which says of which world the system is; without one: world.c(...)")
