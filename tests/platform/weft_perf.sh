#!/bin/sh
# SPDX-License-Identifier: MIT
# weft_perf.sh WEFT_PERF WEFT: tools/weft-perf attributes samples to systems and writes a valid SVG; bad
# usage is status 2; on machines where perf may be used, a real recording gives a flame graph.
set -u
tool=$1 weft=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() {
    failed=$((failed + 1))
    echo "FAILED: $*"
}
"$tool" flame --script "$here/perf_script.txt" -o a.svg --json >rows 2>/dev/null || fail "status $?"
cat >expected <<'ROWS'
{"system": "move", "samples": 2, "share": 0.5, "threads": 2, "busiest": 0.5}
{"system": "(engine and host)", "samples": 1, "share": 0.25, "threads": 1, "busiest": 1.0}
{"system": "collide<pair>", "samples": 1, "share": 0.25, "threads": 1, "busiest": 1.0}
ROWS
cmp -s rows expected || { fail "table:"; cat rows; }
grep -q 'collide&lt;pair&gt;: 1 samples, 25.00 %' a.svg || fail "names are not escaped in the SVG"
grep -q '<title>sqrt_helper: 1 samples' a.svg || fail "callee of a system is missing"
python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' a.svg || fail "the SVG is not valid XML"
"$tool" flame --script /dev/null -o b.svg 2>/dev/null && fail "no samples went unnoticed"
"$tool" stat 2>/dev/null
[ $? -eq 2 ] || fail "no command must be status 2"
"$tool" record -- /nonexistent/program 2>/dev/null
[ $? -eq 2 ] || fail "an unknown command must be status 2"
WEFT_PERF=/nonexistent/perf "$tool" flame -i nothing.data 2>/dev/null
[ $? -eq 2 ] || fail "a missing recording must be status 2"
"$tool" flame --script "$here/perf_script.txt" -o missing/a.svg >/dev/null 2>log
[ $? -eq 1 ] && grep -q 'missing/a.svg: No such file' log || { fail "an SVG that cannot be written"; cat log; }
PATH=/nonexistent "$tool" stat -- /bin/true 2>log
[ $? -eq 2 ] && grep -q 'apt-get install linux-perf' log || { fail "no hint how to get perf"; cat log; }
python3 - "$tool" <<'PY' || fail "rows of other programs in sched"
import importlib.machinery, importlib.util, sys
loader = importlib.machinery.SourceFileLoader("weft_perf", sys.argv[1])
module = importlib.util.module_from_spec(importlib.util.spec_from_loader("weft_perf", loader))
sys.dont_write_bytecode = True
loader.exec_module(module)
rows, left_out = module.sched_rows("""
    weft[20]       10    30  53.304  0.005  1.776  4.021  16.89  0
    weft-w1[21/20] 20    31  38.566  0.006  1.244  4.041  20.53  0
    sleeper[30]    1     9   3.445   0.007  0.382  2.449  68.45  0
    :-1[-1/30]     -1    9   3.445   0.007  0.382  2.449  68.45  0
""", 10)
kept = [(thread, tid) for _, thread, tid, _ in rows if thread]
sys.exit(kept != [("weft", 20), ("weft-w1", 21)] or left_out != 2)
PY
if perf record -e cpu-clock -o probe.data true >/dev/null 2>&1; then
    "$tool" flame -o c.svg -i c.data -- "$weft" bench self.copy --reps 9 >table 2>log || { fail "flame"; cat log; }
    grep -q '^\$ .*perf record' log || fail "the perf command is not shown"
    grep -q 'memcpy\|memmove\|weft_bench' c.svg || fail "no function of the program in the flame graph"
    "$tool" stat --json -- "$weft" bench --list 2>/dev/null | grep -q '"event": "task-clock", "value": [0-9]' || fail "stat"
    if perf sched record -o probe.data true >/dev/null 2>&1; then
        "$tool" sched --json -o s.data -- "$weft" stress jobs --seconds 0 --workers 2 2>/dev/null >threads
        grep -q '"thread": "weft-w1"' threads && [ "$(grep -c '"thread": "weft"' threads)" -eq 1 ] ||
            { fail "threads of the program and no others:"; cat threads; }
    fi
    echo "real recording: done"
else
    echo "real recording: left out, perf may not sample here"
fi
[ "$failed" -eq 0 ] && echo passed
