#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares conjunctions.csv with an independent SGP4 (Debian's python3-sgp4): every event's time of closest
approach within 1 ms and its distance within 1 m.

usage: oracle.py CATALOGUE CONJUNCTIONS.csv [MOST_EVENTS]

The root of the range rate is searched within 5 s of the reported time with a plain bracketing method. Elements are read
by python3-sgp4 itself, in the mode of the verification set ('a'); of two sets of one object the later epoch counts.
Ends with status 77 (skipped) when python3-sgp4 is not installed.
"""
import csv
import sys
from datetime import datetime, timezone

try:
    from sgp4.earth_gravity import wgs72
    from sgp4.io import twoline2rv
    from sgp4.propagation import sgp4
except ImportError:
    print("python3-sgp4 is not installed: nothing to compare with")
    sys.exit(77)


def read_catalogue(path):
    satellites, first = {}, None
    for line in open(path, encoding="latin-1"):
        line = line.rstrip()
        if line.startswith("1 "):
            first = line
        elif line.startswith("2 ") and first:
            # Alpha-5 numbers: python3-sgp4 does not need the number, only we do
            digits = first[2:7]
            if digits[0].isalpha():
                digits = str("ABCDEFGHJKLMNPQRSTUVWXYZ".index(digits[0]) + 10) + digits[1:]
            year, day = int(first[18:20]), float(first[20:32])
            epoch = (year + (2000 if year < 57 else 1900), day)
            number = int(digits)
            if number not in satellites or satellites[number][0] <= epoch:
                satellites[number] = (epoch, first, line)
            first = None
    return satellites


class Satellite:
    def __init__(self, first, second):
        self.record = twoline2rv(first, second, wgs72, "a")
        year, day = int(first[18:20]), int(first[20:23])
        self.midnight = (datetime(year + (2000 if year < 57 else 1900), 1, 1, tzinfo=timezone.utc)
                         .timestamp() + (day - 1) * 86400.0)
        self.fraction = float("0" + first[23:32])

    def state(self, midnight, seconds):
        """Position and velocity `seconds` after a midnight given in Unix time."""
        minutes = (midnight - self.midnight) / 60.0 + (seconds / 86400.0 - self.fraction) * 1440.0
        return sgp4(self.record, minutes)


def relative(a, b, midnight, seconds):
    (ra, va), (rb, vb) = a.state(midnight, seconds), b.state(midnight, seconds)
    r = [q - p for p, q in zip(ra, rb)]
    v = [q - p for p, q in zip(va, vb)]
    return sum(x * y for x, y in zip(r, v)), sum(x * x for x in r) ** 0.5, sum(x * x for x in v) ** 0.5


def closest(a, b, midnight, guess):
    """Bisection by the secant where it stays inside (Dekker): returns time and distance, or None."""
    low, high = guess - 5.0, guess + 5.0
    f_low, f_high = relative(a, b, midnight, low)[0], relative(a, b, midnight, high)[0]
    if not (f_low < 0.0 <= f_high):
        low, high = guess - 0.5, guess + 0.5
        f_low, f_high = relative(a, b, midnight, low)[0], relative(a, b, midnight, high)[0]
        if not (f_low < 0.0 <= f_high):
            return None
    for step in range(80):
        secant = low - f_low * (high - low) / (f_high - f_low)
        # a nearly straight range rate: look a microsecond beyond the root to move both ends
        nudge = 2e-6 if step % 2 else -2e-6
        middle = secant + nudge if step % 3 != 2 else 0.5 * (low + high)
        if not (low < middle < high):
            middle = 0.5 * (low + high)
        f = relative(a, b, midnight, middle)[0]
        if f < 0.0:
            low, f_low = middle, f
        else:
            high, f_high = middle, f
        if high - low < 1e-5:
            break
    root = low - f_low * (high - low) / (f_high - f_low)
    return root, relative(a, b, midnight, root)[1]


def main():
    catalogue = read_catalogue(sys.argv[1])
    most = int(sys.argv[3]) if len(sys.argv) > 3 else 10**9
    with open(sys.argv[2], newline="") as file:
        events = [e for e in csv.DictReader(file) if not e["at_edge"]]
    stride = max(1, (len(events) + most - 1) // most)
    cache, checked, worst_ms, worst_m, failed = {}, 0, 0.0, 0.0, 0
    for event in events[::stride]:
        pair = []
        for key in ("norad_a", "norad_b"):
            number = int(event[key])
            if number not in cache:
                cache[number] = Satellite(*catalogue[number][1:])
            pair.append(cache[number])
        day, clock = event["tca_utc"].rstrip("Z").split("T")
        midnight = datetime.fromisoformat(day + "T00:00:00+00:00").timestamp()
        hours, minutes, seconds = clock.split(":")
        time = int(hours) * 3600.0 + int(minutes) * 60.0 + float(seconds)
        found = closest(*pair, midnight, time)
        checked += 1
        if found is None:
            failed += 1
            print("no closest approach near", event)
            continue
        # the file's figures are rounded to 1 ms and 1 mm: half of that is theirs
        ms = max(0.0, abs(found[0] - time) * 1e3 - 0.5)
        m = max(0.0, abs(found[1] - float(event["miss_km"])) * 1e3 - 0.0005)
        worst_ms, worst_m = max(worst_ms, ms), max(worst_m, m)
        if ms > 1.0 or m > 1.0:
            failed += 1
            print("differs by %.4f ms, %.6f m: %s" % (ms, m, event))
    print("%d events of %d compared: at most %.6f ms and %.6f m apart, %d failed"
          % (checked, len(events), worst_ms, worst_m, failed))
    sys.exit(1 if failed or not checked else 0)


main()
