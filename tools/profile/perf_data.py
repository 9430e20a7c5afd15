# SPDX-License-Identifier: MIT
"""Reads what perf script cannot print from a recording of `perf record --call-graph dwarf`: the copy
of the stack in every sample, and in it the marker of the system that ran (jobs/base/src/running.h).
Only the parts of the format that are needed: a recording of our own `record`, little endian, not
compressed. The format: perf.data-file-format.txt in the documentation of perf."""
import collections
import platform
import struct

MAGIC = 0x5745465453595354  # WEFT__RUNNING_MAGIC
TOP = (MAGIC >> 48).to_bytes(2, "little")  # no address changes it
STACK_POINTER = {"x86_64": 7, "aarch64": 31}  # bit of sample_regs_user
PERF_RECORD_LOST, PERF_RECORD_SAMPLE = 2, 9
# bits of sample_type, in the order of a sample's fields
IP, TID, TIME, ADDR, READ, CALLCHAIN = 1, 2, 4, 8, 16, 32
ID, CPU, PERIOD, STREAM, RAW, BRANCH = 64, 128, 256, 512, 1024, 2048
REGISTERS, STACK, IDENTIFIER = 4096, 8192, 65536


class Unreadable(Exception):
    """Not a recording that this can read; the text says why."""


# One sample: time in ns; `system`: address of the name of the innermost system, 0: none; `depth`: bytes of stack above
# its marker; `room`: size of the copy, which tells the events of a recording apart.
Sample = collections.namedtuple("Sample", "pid tid time system depth room")


def find_marker(stack, base):
    """(address of the name, offset) of the innermost marker in the copy of a stack that begins at `base`; the address
    is 0 where there is none."""
    at = stack.find(TOP)
    while at >= 0:
        begin = at - 6
        if begin >= 0 and begin % 8 == 0 and begin + 16 <= len(stack):
            magic, name = struct.unpack_from("<QQ", stack, begin)
            if magic ^ MAGIC == base + begin:
                return name, begin
        at = stack.find(TOP, at + 1)
    return 0, len(stack)


def read_attribute(data):
    """(sample_type, read_format, sample_regs_user, begin, length of the records), of the first event: others differ in
    rate and size of stacks."""
    magic, _, attr_size, attrs, _, begin, length = struct.unpack_from("<8sQQQQQQ", data)
    if magic != b"PERFILE2":
        raise Unreadable("not a perf.data file of this machine")
    sample_type, read_format = struct.unpack_from("<QQ", data, attrs + 24)
    registers, = struct.unpack_from("<Q", data, attrs + 80)
    return sample_type, read_format, registers, begin, length


def skip_chain(data, at, sample_type, read_format):
    """Offset behind the fields between PERIOD and REGISTERS."""
    if sample_type & READ:
        raise Unreadable(f"samples with counter groups (read_format {read_format})")
    if sample_type & CALLCHAIN:
        at += 8 + 8 * struct.unpack_from("<Q", data, at)[0]
    if sample_type & (RAW | BRANCH):
        raise Unreadable("samples with raw data or branches")
    return at


def read_sample(data, at, form):
    """The Sample whose body begins at `at`; `form` is what read_attribute returned."""
    sample_type, read_format, registers = form[:3]
    at += 8 * bin(sample_type & (IDENTIFIER | IP)).count("1")
    pid, tid, time = struct.unpack_from("<iiQ", data, at)
    at += 16 + 8 * bin(sample_type & (ADDR | ID | STREAM | CPU | PERIOD)).count("1")
    at = skip_chain(data, at, sample_type, read_format)
    abi = struct.unpack_from("<Q", data, at)[0]
    at += 8
    base = 0
    if abi:
        bit = STACK_POINTER[platform.machine()]
        base = struct.unpack_from("<Q", data, at + 8 * bin(registers & ((1 << bit) - 1)).count("1"))[0]
        at += 8 * bin(registers).count("1")
    size = struct.unpack_from("<Q", data, at)[0]
    used = struct.unpack_from("<Q", data, at + 8 + size)[0] if size else 0
    system, depth = find_marker(data[at + 8:at + 8 + used], base)
    return Sample(pid, tid, time, system, depth, size)


def read_samples(path):
    """(samples, how many perf lost). Unreadable."""
    if platform.machine() not in STACK_POINTER:
        raise Unreadable(f"no reader for stacks of {platform.machine()}")
    with open(path, "rb") as f:
        data = f.read()
    try:
        return read_records(data)
    except struct.error:
        raise Unreadable("a damaged recording") from None


def read_records(data):
    form = read_attribute(data)
    if form[0] & (TID | TIME | REGISTERS | STACK) != TID | TIME | REGISTERS | STACK:
        raise Unreadable("no copies of stacks in it: record with weft-perf record, or --call-graph dwarf")
    at, end = form[3], form[3] + form[4]
    samples, lost = [], 0
    while at + 8 <= end:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        if size < 8 or at + size > end:
            break  # cut while it was written
        if kind == PERF_RECORD_SAMPLE:
            samples.append(read_sample(data, at + 8, form))
        elif kind == PERF_RECORD_LOST:
            lost += struct.unpack_from("<Q", data, at + 16)[0]
        at += size
    return samples, lost
