#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Everything that can be wrong with the input of `weft screen`: the exit status, and that the message says what to do.

usage: bad_input.py WEFT
"""
import json
import os
import resource
import subprocess
import sys
import tempfile

weft = os.path.abspath(sys.argv[1])
root = os.environ.get("WEFT_SOURCE_DIR", ".")
catalogue = os.path.join(root, "tools/screen/catalogue.tle")
ISS = ("ISS (ZARYA)\n"
       "1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927\n"
       "2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537\n")
failures = []
folder = tempfile.mkdtemp(prefix="weft_bad_input_")


def file_of(name, content):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(content if isinstance(content, bytes) else content.encode())
    return path


def processor_seconds():
    """Of all that ran so far: what else the machine does is not in it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def case(title, arguments, status, *texts):
    done = subprocess.run([weft, "screen", "--out", os.path.join(folder, "out"), "--hours", "0.1", *arguments],
                          capture_output=True, text=True, errors="replace")
    said = done.stdout + done.stderr
    missing = [t for t in texts if t not in said]
    if done.returncode != status or missing:
        failures.append(title)
        print("FAILED %s: status %d, expected %d; missing %s\n%s" % (title, done.returncode, status, missing, said))
    else:
        print("ok     %s" % title)


# the file
case("empty file", [file_of("empty", "")], 1, "no readable object", "TLE")
case("directory", [folder], 2, "is a directory", "name a file")
case("missing file", [os.path.join(folder, "missing")], 2, "cannot open", "No such file")
case("binary file", [file_of("binary", bytes((i * 37 + i // 13) % 256 for i in range(100000)))], 1,
     "not text", "no readable object")
case("truncated second line", [file_of("truncated", ISS[:-30] + "\n" + ISS)], 0, ":3:", "truncated: 40 of 69")
case("wrong checksum", [file_of("checksum", ISS.replace("563537", "563538") + ISS)], 0, ":3:69: checksum is '8'")
case("only wrong checksums", [file_of("checksums", ISS.replace("563537", "563538"))], 1, "checksum", "no readable object")
case("strict refuses", ["--strict", file_of("strict", ISS.replace("563537", "563538") + ISS)], 1, "checksum", "--strict")
case("duplicate ids", [file_of("duplicates", ISS + ISS)], 0, "appears again", "1 duplicates")
case("strict refuses duplicates", ["--strict", file_of("duplicates", ISS + ISS)], 1, "appears again", "--strict")
case("a good file", ["--strict", file_of("good", ISS)], 0, "1 objects")
huge = os.path.join(folder, "huge")
with open(huge, "wb") as f:
    f.truncate(1 << 30)  # a gigabyte of zeroes without a line end, taking no room on the disk
case("line of one gigabyte", [huge], 2, "line of 67108864 characters or more",
     "no object in 64 MiB")

# the output
read_only = file_of("not_a_folder", "")
case("output below a file", [catalogue, "--out", os.path.join(read_only, "out")], 2, "cannot write", "another place")
case("output is a file", [catalogue, "--out", read_only], 2, "cannot write", "another place")

# the options
case("negative step", [catalogue, "--step", "-10"], 2, "--step needs a number")
case("step of zero", [catalogue, "--step", "0"], 2, "--step needs a number")
case("step is not a number", [catalogue, "--step", "nan"], 2, "--step needs a number")
case("threshold larger than the cell", [catalogue, "--threshold-km", "79"], 2, "larger than a cell", "use --step")
case("threshold of zero", [catalogue, "--threshold-km", "0"], 2, "--threshold-km needs a number")
case("no workers", [catalogue, "--workers", "0"], 2, "--workers needs a whole number from 1 to 256")
case("1,000 workers", [catalogue, "--workers", "1000"], 2, "--workers needs a whole number from 1 to 256")
case("window shorter than a step", [catalogue, "--hours", "0.001"], 2, "shorter than one --step")
case("start is not a time", [catalogue, "--start", "yesterday"], 2, "--start 'yesterday' is not a time")
begin = processor_seconds()
case("elements of thousands of years before the window", [catalogue, "--start", "9999-12-31"], 1,
     "all elements of", "too far from the window at 9999-12-31", "--start", "--max-age")
case("elements of thousands of years after the window", [catalogue, "--start", "0001-01-01"], 1, "too far from the window")
case("elements of thousands of years, whatever the limit", [catalogue, "--start", "9999-12-31", "--max-age", "36525"], 1,
     "the limit is 36525")
if processor_seconds() - begin > 60:
    failures.append("elements far from the window take %d s" % (processor_seconds() - begin))
late = ISS + "".join(open(catalogue).readlines()[:3])
case("old elements among new ones", [file_of("late", late), "--start", "2018-01-15"], 0, "1 objects", "left out   1 objects")
case("age of zero", [catalogue, "--max-age", "0"], 2, "--max-age needs a number")
case("two catalogues", [catalogue, catalogue], 2, "one catalogue only")
case("unknown option", [catalogue, "--treshold-km", "5"], 2, "did you mean --threshold-km?")
# the summary for machines
done = subprocess.run([weft, "screen", catalogue, "--json", "--hours", "0.5", "--verify", "2", "--out",
                       os.path.join(folder, "out")], capture_output=True, text=True)
lines = [json.loads(line) for line in done.stdout.splitlines()]
summary = lines[-1]
if done.returncode != 0 or summary["type"] != "summary" or summary["objects"] != 979 or not summary["check"]["is_identical"] or done.stderr:
    failures.append("json")
    print("FAILED json:", done.stdout, done.stderr)
# OMM, standard input, filters, the page
omm = ("OBJECT_NAME,NORAD_CAT_ID,EPOCH,MEAN_MOTION,ECCENTRICITY,INCLINATION,RA_OF_ASC_NODE,ARG_OF_PERICENTER,MEAN_ANOMALY,BSTAR\n"
       "ISS,25544,2008-09-20T12:25:40.104192,15.72125391,.0006703,51.6416,247.4627,130.5360,325.0288,-.11606E-4\n")
case("OMM as CSV", [file_of("omm.csv", omm)], 0, "1 objects")
case("OMM with a bad number", [file_of("bad.csv", omm.replace("51.6416", "x"))], 1, "bad.csv:2:", "INCLINATION: 'x'",
     "no readable object")
done = subprocess.run([weft, "screen", "-", "--hours", "0.1", "--out", os.path.join(folder, "stdin")], input=ISS + ISS.replace(
    "25544", "25545").replace("2927", "2928").replace("563537", "563538"), capture_output=True, text=True)
meta = json.load(open(os.path.join(folder, "stdin", "meta.json")))
if done.returncode != 0 or meta["catalogue"]["objects"] != 2 or meta["together"] != 1 or "standard input" not in done.stdout:
    failures.append("stdin")
    print("FAILED stdin:", done.stdout, done.stderr, meta)
case("a name that is not there", [catalogue, "--object", "NOTHERE"], 1, "--object: 'NOTHERE' is neither")
for nothing in ("", ",", " , "):
    case("a name that is empty", [catalogue, "--object", nothing], 2, "names nothing")
    case("a group that is empty", [catalogue, "--group", nothing], 2, "names nothing")
    case("another group that is empty", [catalogue, "--exclude-group", nothing], 2, "names nothing")
case("names with blanks around them", [catalogue, "--object", "COSMOS , NOTHERE"], 1, "'NOTHERE' is neither")
case("OMM with a mark", ["--strict", "--object", "ISS", file_of("mark.csv", "\ufeff" + omm)], 0, "1 objects")
case("OMM with a blank number", ["--strict", file_of("blank.csv", omm.replace(",.0006703,", ", ,"))], 1, "ECCENTRICITY: ' ' is not")
case("OMM cut between objects", ["--strict", file_of("cut.json", "[" + json.dumps(dict(zip(*[r.split(",") for r in omm.splitlines()]))) + ",\n")],
     1, "before the ']'")
case("TLE with a mark", ["--strict", file_of("mark.tle", "\ufeff" + ISS.split("\n", 1)[1])], 0, "1 objects")
case("a file of UTF-16", [file_of("wide.csv", omm.encode("utf-16"))], 2, "save it as UTF-8")
case("a group that is not there", [catalogue, "--group", "NOTHERE"], 1, "no group 'NOTHERE'; the largest are FLOCK")
case("a filter beyond the search", [catalogue, "--max-km", "6"], 2, "raise that one")
case("two folders", [catalogue, "--report", "x"], 2, "leave out --out")
page = os.path.join(folder, "page")
done = subprocess.run([weft, "screen", catalogue, "--report", page, "--hours", "12", "--threshold-km", "30", "--top", "3"],
                      capture_output=True, text=True)
html = open(os.path.join(page, "index.html")).read()
if (done.returncode != 0 or html.count("<svg") != 3 or html.count("<tr><td class=\"number\">") != 3 or "//" in html
        or sorted(os.listdir(page)) != ["conjunctions.csv", "index.html", "meta.json", "together.csv"]):
    failures.append("page")
    print("FAILED page:", done.stdout, done.stderr, os.listdir(page))
bare = os.path.join(folder, "bare")
subprocess.run([weft, "screen", catalogue, "--report", bare, "--hours", "0.05", "--threshold-km", "0.001"], capture_output=True)
html = open(os.path.join(bare, "index.html")).read()
if "<h2>No approaches</h2>" not in html or "<svg" in html or "closest pairs" in html:
    failures.append("empty page")
    print("FAILED empty page:", html[-800:])
case("help", ["--help"], 0, "usage: weft screen", "not collision warnings")

usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print("largest process: %d MiB" % (usage.ru_maxrss // 1024))
if os.environ.get("WEFT_PLAIN_BUILD") and usage.ru_maxrss > 400 * 1024:
    failures.append("memory: %d KiB" % usage.ru_maxrss)
subprocess.run(["rm", "-rf", folder])
print("%d failed" % len(failures))
sys.exit(1 if failures else 0)
