#!/bin/sh
# SPDX-License-Identifier: MIT
# weft-figures keeps order, bars and the text around the table, adds new rows, names rows without figures,
# and draws the chart. usage: weft_figures.sh WEFT_FIGURES WEFT
figures=$1
export WEFT=$2
command -v gnuplot > /dev/null || { echo "no gnuplot: skipped"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export WEFT_DOCS=$folder
fail() { echo "failed: $1"; cat "$folder/performance.md" "$folder/log"; exit 1; }

printf '%s\n' '{"bench":"iter.parallel","case":"10k","workers":2,"unit":"ns/entity","median":0.5,"min":0.4,"raw":1,"ratio":0.5}' \
    '{"bench":"iter.parallel","case":"10k","workers":2,"peer":"1worker","unit":"ns/entity","median":0.5,"min":0.4,"raw":0.9,"ratio":0.55}' \
    '{"bench":"new.one","case":"1M","workers":1,"unit":"us","median":12345.678,"min":1}' \
    '{"bench":"a.first","case":"x","workers":1,"unit":"ns","median":7,"min":7}' \
    '{"machine":{"cpu":"x"}}' > "$folder/run.json"
printf '%s\n' 'before' '' '| Benchmark | workers | median | ratio | peers | bar |' '|---|---|---|---|---|---|' \
    '| `a.first` x | 1 | 9 ns |  |  | <= 8 |' '| `b.gone` y | 1 | 9 ns |  |  |  |' \
    '| `iter.parallel` 10k | 2 | 9 ns/entity | 9 |  | ratio <= 1 |' '' 'after' > "$folder/performance.md"
"$figures" "$folder/run.json" 2> "$folder/log" || fail "status"
printf '%s\n' 'before' '' '| Benchmark | workers | median | ratio | peers | bar |' '|---|---|---|---|---|---|' \
    '| `a.first` x | 1 | 7 ns |  |  | <= 8 |' \
    '| `iter.parallel` 10k | 2 | 0.5 ns/entity | 0.5 | 1worker 0.9 | ratio <= 1 |' \
    '| `new.one` 1M | 1 | 1.235e+04 us |  |  |  |' '' 'after' > "$folder/expected"
cmp -s "$folder/expected" "$folder/performance.md" || fail "the table"
grep -q 'dropped: b.gone y 1' "$folder/log" || fail "the row that is gone is not named"
grep -q 'simulated' "$folder/scaling.svg" || fail "the chart"
cp "$folder/expected" "$folder/other.md"
rm "$folder/scaling.svg"
sed -i 's/"median":7/"median":8/' "$folder/run.json"
"$figures" --page "$folder/other.md" "$folder/run.json" || fail "the status of another page"
grep -q '^| `a.first` x | 1 | 8 ns |' "$folder/other.md" || fail "another page"
cmp -s "$folder/expected" "$folder/performance.md" || fail "another page was meant"
test ! -e "$folder/scaling.svg" || fail "a chart of another page"
cp "$folder/expected" "$folder/performance.md"
echo '{"machine":{}}' > "$folder/empty.json"
for wrong in "$folder/missing.json" "$folder/empty.json" "$0"; do
    "$figures" "$wrong" 2> "$folder/log"
    test $? = 2 && grep -q '^weft-figures: ' "$folder/log" || fail "a run without figures: $wrong"
    cmp -s "$folder/expected" "$folder/performance.md" || fail "a run without figures changed the page"
done
echo 'no table' > "$folder/performance.md"
"$figures" "$folder/run.json" 2> /dev/null
test $? = 1 || fail "a page without a table must be refused"
"$figures" > /dev/null 2>&1
test $? = 2 || fail "usage"
