#!/bin/sh
# krylocl report: pages, figures and tables of results, wrong files, and the comparison of two runs, on samples made by hand.
# Usage: tests/report.sh build/krylocl
. "$(dirname "$0")/program.inc"
[ -n "$python" ] || { echo "skipped: report: no python3"; exit 0; }
unset COLUMNS
# The pictures as PNG are made once: the program is slow to start.
mkdir no && printf '#!/bin/sh\nexit 127\n' >no/rsvg-convert && chmod +x no/rsvg-convert
with=$PATH
PATH=$dir/no:$PATH

# edit FROM TO STATEMENTS: in python, with d the document and row(FORMAT) its first row of that format
edit() {
  "$python" -ISc '
import copy, json, sys
d = json.load(open(sys.argv[1]))
def row(name): return next(r for r in d["rows"] if r["format"] == name)
exec(sys.argv[3])
json.dump(d, open(sys.argv[2], "w"))' "$1" "$2" "$3" 2>err || fail "edit of $1"
}

# page FILE: well-formed, of closed elements, with nothing from elsewhere, its data that of the files, and each number of its
# table one that the data has
cat >page.py <<'END'
import html.parser, json, math, re, sys
void = {"meta", "br", "link", "img", "input", "hr"}
class Page(html.parser.HTMLParser):
    stack, rows, heads, cell, data, script, sortable = [], [], [], None, "", None, False
    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        for k, v in attrs:
            assert k not in ("src", "srcset", "onclick", "onload"), (tag, k, v)
            assert k != "href" or v.startswith("#"), v
        if tag not in void: self.stack.append(tag)
        if tag == "tr" and "table" in self.stack and self.sortable: self.rows.append([])
        if tag == "table": self.sortable = a.get("class") == "sortable"
        if tag == "td" and self.sortable: self.rows[-1].append(a.get("data-v")); self.cell = self.rows[-1]
        if tag == "th" and self.sortable: self.heads.append("")
        self.script = a.get("type") if tag == "script" else None
    def handle_startendtag(self, tag, attrs): pass
    def handle_endtag(self, tag):
        assert self.stack and self.stack[-1] == tag, (tag, self.stack[-3:], self.getpos())
        self.stack.pop()
        self.script = None
        if tag == "td": self.cell = None
    def handle_data(self, text):
        if self.script == "application/json": self.data += text
        if "th" in self.stack and self.sortable: self.heads[-1] += text
        if self.cell is not None and self.cell[-1] is None: self.cell[-1] = text
p = Page(); text = open(sys.argv[1], encoding="utf-8").read(); p.feed(text); p.close()
assert not p.stack, p.stack
assert not re.search(r"(?<!xmlns=\")https?://", re.sub(r"<script.*?</script>", "", text, flags=re.S)), "an address"
files = json.loads(p.data)
assert files == [json.load(open(f)) for f in sys.argv[2:]], "the data"
def place(r): return r["device"], r["device_place"], r["threads"]
rows = [r for d in files for r in d.get("rows", []) if "stream_fraction" in r]
def rate(d, r): # of its device in this file: the date, and GB/s
    return max((v["stream"]["date"], v["stream_bytes_per_second"] * 1e-9) for v in d["devices"] if v["place"] == r["device_place"] and v["threads"] == r["threads"])
stream = {place(r): max(rate(d, r) for d in files for s in d.get("rows", []) if s in rows and place(s) == place(r))[1] for r in rows} # the newest of all files
def fraction(r): return r["gbytes_per_second"] / stream[place(r)] if "stream_fraction" in r else None
want = []
for d in files:
    for r in d.get("rows", []) + d.get("references", []):
        if r["status"] != "ok": continue
        i, q = r.get("seconds_per_iteration"), r["seconds_per_product"]
        t = i or q
        want.append([r["matrix"], i and i["median"], q["median"], r["gbytes_per_second"], r["gflops"], fraction(r), r.get("speedup"),
                     r["seconds_setup"]["total"] if "device" in r else None, max(t["high"] - t["median"], t["median"] - t["low"]) / t["median"] if t["confidence"] else 0])
number = lambda v: float(v) if v and re.fullmatch(r"-?[0-9.]+(e[-+]?[0-9]+)?", v) else None
names = [h.strip() for h in p.heads]
def cell(c, name): return number(c[names.index(name)])
got = [[c[0]] + [cell(c, n) for n in ("\u00b5s/iter", "\u00b5s/product", "GB/s", "GFlop/s", "of stream", "speed-up", "set-up ms", "+/-")] for c in p.rows if c]
near = lambda a, b: (not a and not b) or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-6))
def same(a, b): return a[0] == b[0] and all(near(x, y) for x, y in zip(a[1:-1], b[1:-1])) and math.isclose(a[-1], b[-1] or 0, rel_tol=1e-6, abs_tol=1e-6)
assert len(got) == len(want), (len(got), len(want))
for w in want: assert any(same(w, g) for g in got), ("not in the table", w, [g for g in got if g[0] == w[0]][:2])
END
page() { "$python" -IS page.py "$@" >out 2>err; verdict $? "  page $1: well-formed, alone, its numbers those of the data"; }
svgs() { # FOLDER: each parses
  "$python" -ISc 'import sys, glob, xml.dom.minidom
files = glob.glob(sys.argv[1] + "/*.svg")
assert files
for f in files: xml.dom.minidom.parse(f)' "$1" >out 2>err
  verdict $? "  figures in $1: well-formed"
}
quick="--time-limit 0.05 --iterations 5"

# ------------------------------------------------------------------ a page of several matrices, with solves
file T.mtx "%%MatrixMarket matrix coordinate real general" "3 2 4" "1 1 1" "2 2 2" "3 1 3" "3 2 4"
run 0 "bench with a page" bench poisson2d:20 --device cpu --threads 1,2 --formats csr-scalar,csr-lanes,ell,cds,dense --json a.json --report b.html $quick; page b.html a.json
run 0 "products" bench T.mtx poisson2d:9 --device cpu --solver none --precision s,z --json p.json $quick
for s in cg minres; do run 0 "solve" solve poisson2d:20 --solver $s --device cpu --json $s.json; done
run 0 "report" report a.json p.json cg.json minres.json -o page.html --figures figures --markdown t.md --csv t.csv --latex t.tex
says "poisson2d:20  *Use .* per iteration"; says "T  *Use .* per product"
page page.html a.json p.json cg.json minres.json; svgs figures
for f in poisson2d-20-pattern poisson2d-20-row-lengths poisson2d-20-storage poisson2d-20-roofline poisson2d-20-bytes poisson2d-20-convergence poisson2d-20-convergence-time; do
  [ -s "figures/$f.svg" ]; verdict $? "  there is $f.svg"
done
run 0 "bench with transfers" bench T.mtx --device cpu --solver none --formats coo,ell --with-transfer --json tr.json $quick
run 0 "a report of transfers" report tr.json -o x.html --figures ft --markdown tr.md; svgs ft; page x.html tr.json
[ -s ft/T-transfers.svg ] && grep -q '>matrix, once<' ft/T-transfers.svg && ! ls figures/*transfers* >err 2>&1; verdict $? "  there is T-transfers.svg, and none without transfers"
grep -q 'with A,x,y' tr.md && ! grep -q 'with A,x,y' t.md; verdict $? "  columns where there are transfers"
[ "$(find figures -name '*-threads-native-CPU-d*.svg' | wc -l)" -eq 1 ]; verdict $? "  one picture of threads"
grep -q 'same as csr-scalar' page.html; verdict $? "  what was not measured is told"
head -1 t.csv | grep -q '^matrix,rows,cols,nnz'; verdict $? "  CSV"
[ "$(grep -c toprule t.tex)" -eq 3 ] && grep -q '^\\begin{table}' t.tex; verdict $? "  a LaTeX table for each matrix"
[ "$(grep -c '^| --- ' t.md)" -eq 3 ]; verdict $? "  a Markdown table for each matrix"
awk -F'|' '/^\|/ { if (n && NF != n) bad = 1; n = NF } !/^\|/ { n = 0 } END { exit bad }' t.md; verdict $? "  its lines have the same columns"
run 0 "the page to standard output" report a.json -o -; cp out x.html; page x.html a.json
run 0 "two files of one run" report a.json a.json -o x.html; says "in several files: the last file counts"
if [ -n "$(PATH=$with command -v rsvg-convert)" ]; then
  PATH=$with run 0 "pictures as PNG" report cg.json --figures png; says "wrote  *4 figures"
  for f in png/*.png; do [ "$(head -c 4 "$f" | tail -c 3)" = PNG ]; verdict $? "  $f"; done
else
  echo "skipped: PNG: rsvg-convert is not installed"
fi
run 0 "without rsvg-convert" report cg.json --figures nopng; says "rsvg-convert .* is not installed"

# ------------------------------------------------------------------ names, sizes
edit a.json names.json '
bad = "<b>&\"x_%$#{}\\~^|</script><!--\u00b5\u0001"
for m in d["matrices"]: m["name"] = bad
for r in d["rows"] + d["references"]: r["matrix"] = bad
for r in d["rows"]: r["format"] = r["format"] + "_<&"
for v in d["devices"]: v["name"] = v["driver"] = "<i>&"
for r in d["rows"]: r["device"] = "<i>&"'
run 0 "names with marks" report names.json -o x.html --figures f2 --latex n.tex --markdown n.md
"$python" -ISc 't=open("x.html").read(); assert "<b>&" not in t and "<i>&" not in t and t.count("</script>")==2 and "&lt;b&gt;&amp;&quot;x_%" in t' 2>err; verdict $? "  escaped in the page"
svgs f2
grep -q 'x\\_\\%\\$\\#\\{\\}\\textbackslash{}\$\\sim\$' n.tex && ! grep -v '^%' n.tex | grep -q '[^\\]_'; verdict $? "  escaped in LaTeX"
edit a.json empty.json 'd["rows"] = d["references"] = d["matrices"] = []'
run 0 "no rows" report empty.json -o x.html --figures f3 --markdown x.md --latex x.tex --csv x.csv; page x.html empty.json
edit a.json none.json '
for r in d["rows"]: r["status"] = "refused: <too> large"
d["references"] = []'
run 0 "all refused" report none.json -o x.html --figures f4; page x.html none.json; grep -q 'refused: &lt;too&gt; large' x.html; verdict $? "  with the reason"
edit a.json one.json 'd["rows"] = [r for r in d["rows"] if r["format"] == "ell" and r["threads"] == 1]; d["references"] = []; row("ell").pop("speedup")'
run 0 "one row" report one.json -o x.html --figures f5; says "No other format was measured"; page x.html one.json
many=500 # with sanitizers fewer, by the same code
[ -z "$SAN" ] || many=100
edit a.json many.json '
base = row("ell"); d["rows"] = []
for i in range('$many'):
    r = copy.deepcopy(base); r["format"] = "f%d" % i
    for k in ("seconds_per_iteration", "seconds_per_product"):
        r[k]["samples"] = [v * (1 + i / 100) for v in r[k]["samples"]]
    d["rows"].append(r)'
# Numbers that no integer holds; the sanitizers see what the program does with them.
edit a.json wild.json '
for r in d["rows"]:
    for key in ("seconds_per_product", "seconds_per_iteration"):
        if key in r: r[key] = {"samples": [1e300, 1e308, 1e-320], "iterations_per_sample": 1e300}
    r["bytes_per_product"] = 1e308; r["gbytes_per_second"] = 1e308'
run 0 "numbers that no integer holds" report wild.json -o x.html --figures f7 --markdown x.md --latex x.tex --csv x.csv; svgs f7
run 0 "$many rows" report many.json -o x.html --figures f6 --latex x.tex; svgs f6; grep -q '^\\begin{longtable}' x.tex; verdict $? "  a long table"

# ------------------------------------------------------------------ how sure
# sure COUNT WORDS: the verdict from so many samples, of which those of ell are 1 and those of cds 1.5
sure() {
  edit a.json sure.json '
d["rows"] = [r for r in d["rows"] if r["format"] in ("ell", "cds") and r["threads"] == 1]; d["references"] = []
for r in d["rows"]:
    for k in ("seconds_per_iteration", "seconds_per_product"):
        r[k]["samples"] = [(1e-5 if r["format"] == "ell" else 1.5e-5) * (1 + i / 1000) * (1 if k.endswith("n") else 0.5) for i in range('"$1"')]'
  run 0 "$1 samples" report sure.json -o x.html; says "$2"
}
sure 1 "Use ell.*Not known: cds takes 1\.50 times as long by one sample, which has no interval: take six or more\.$"
! cat out x.html | grep -qE "Sure|0 % interval"; verdict $? "  nothing is sure of one sample"
sure 3 "Not known: cds takes 1\.50 times as long\. 3 samples only: take six or more\.$"
sure 5 "Sure: cds takes 1\.50 times as long (9[5-9] % interval 1\.[45]. to 1\.5.)\. 5 samples only"
sure 12 "Sure: cds takes 1\.50 times as long (9[5-9] % interval 1\.[45]. to 1\.5.)\.$"
edit sure.json twice.json 'r = row("ell"); r["seconds_per_product"]["samples"] = [2e-5] * 12'
run 0 "a product longer than its iteration" report twice.json -o x.html; says "Its product alone took longer than the iteration that contains it: measure again"
grep -q '>!20\.0</td>' x.html; verdict $? "  marked in the table"

# ------------------------------------------------------------------ files that are none
head -c 700 a.json >cut.json; run 3 "a file that ends too early" report cut.json -o x.html; says "cut.json: no JSON at line [0-9]*, column [0-9]*: it ends there"
printf '{"a": 1,\n "b": x}\n' >bad.json; run 3 "a wrong character" report bad.json -o x.html; says "bad.json: no JSON at line 2, column 7"
echo '[1]' >list.json; run 3 "JSON of something else" report list.json -o x.html; says "no results of krylocl bench"
: >void.json; run 3 "an empty file" report void.json -o x.html; says "void.json: no JSON"
run 3 "no file" report nothing.json -o x.html; says "nothing.json: cannot open"
edit a.json s.json 'd["schema"] = 9'; run 3 "another schema" report s.json -o x.html; says "schema 9"
edit a.json s.json 'd["rows"][1]["matrix"] = "other"'; run 3 "a matrix that is not there" report s.json -o x.html; says "s.json: rows\[1\].matrix: a name of matrices"
edit a.json s.json 'd["rows"][0]["device_place"] = "7:7"'; run 3 "a device that is not there" report s.json -o x.html; says "rows\[0\].device_place"
edit a.json s.json 'd["rows"][0]["seconds_per_product"]["samples"][2] = -1'; run 3 "a negative time" report s.json -o x.html; says "rows\[0\].seconds_per_product.samples"
edit a.json s.json 'd["matrices"][0]["nnz"] = "many"'; run 3 "a count that is a text" report s.json -o x.html; says "matrices\[0\].nnz: a whole number"
edit a.json s.json 'del d["devices"]'; run 3 "no devices" report s.json -o x.html; says "devices: a list"
edit cg.json s.json 'd["history"][1] = 4'; run 3 "a history of single numbers" report s.json -o x.html; says "history: a list of pairs"
run 2 "nothing to write" report a.json; says "nothing to write"
run 2 "the page over an input" report a.json -o a.json; says "input"
run 2 "two results in one file" report a.json -o x.html --latex x.html; says "one result only"
run 3 "a folder that cannot be" report a.json --figures a.json/f; says "cannot be made"

# ------------------------------------------------------------------ the comparison of two runs
# run K of a machine with other work: samples of 1 to 4 times 10 us, of one run not independent, from a generator of its own
edit a.json base.json '
d["references"] = []
base = row("ell"); d["rows"] = []
for name in ("csr-scalar", "ell", "cds", "sell", "coo", "hyb", "jds", "csc"):
    r = copy.deepcopy(base); r["format"] = name; d["rows"].append(r)'
make() { # FILE SEED FACTOR: csr-scalar takes FACTOR times as long
  edit base.json "$1" "
x = 12345 + 7919 * $2
def uniform():
    global x
    x = (x * 6364136223846793005 + 1442695040888963407) % 2**64
    return (x >> 11) / 2**53
for n, r in enumerate(d['rows']):
    for k in ('seconds_per_iteration', 'seconds_per_product'):
        level, out = uniform(), []
        for i in range(15):
            level = 0.7 * level + 0.3 * uniform()   # of other work: it lasts
            out.append((1 + n) * 1e-5 * (1 + 0.004 * uniform() + 0.25 * max(0, level - 0.5) + (1.5 * uniform() if uniform() < 0.1 else 0)) * ($3 if n == 0 else 1))
        r[k]['samples'] = out"
}
i=1
while [ $i -le 10 ]; do
  make old.json $i 1; make same.json $((i + 100)) 1; make slow.json $((i + 200)) 1.1
  run 0 "two equal runs, $i" report --compare old.json same.json; says " 0 slower, 0 faster"
  run 1 "one product slower by a tenth, $i" report old.json slow.json --compare; says " [12] slower, 0 faster"; says "csr-scalar .* SLOWER"
  i=$((i + 1))
done
run 0 "the other way round" report --compare slow.json old.json; says " 0 slower, 2 faster"
run 0 "a tenth is within 20 %" report --compare old.json slow.json --least 20; says " 0 slower"
run 1 "quietly" report --compare old.json slow.json --quiet; [ ! -s out ]; verdict $? "  nothing is said"
run 0 "a file with itself" report --compare old.json old.json; says " 0 slower, 0 faster, 16 the same"
edit old.json t1.json 'r = row("ell"); [r[k].update(samples=[1e-5] * 15) for k in ("seconds_per_iteration", "seconds_per_product")]'
edit old.json t2.json 'r = row("ell"); [r[k].update(samples=[1.2e-5] * 15) for k in ("seconds_per_iteration", "seconds_per_product")]'
run 0 "ties" report --compare t1.json t1.json; run 1 "ties of two values" report --compare t1.json t2.json; says " 2 slower, 0 faster"
edit old.json f1.json '[r[k].update(samples=r[k]["samples"][:3]) for r in d["rows"] for k in ("seconds_per_iteration", "seconds_per_product")]'
edit old.json f2.json '[r[k].update(samples=[1.5 * v for v in r[k]["samples"][:3]]) for r in d["rows"] for k in ("seconds_per_iteration", "seconds_per_product")]'
run 0 "three samples" report --compare f1.json f2.json; says "with too few samples to tell"
# Several runs each, of a machine that changes from run to run: times of a row are up to 6 % longer in one run.
runs() { # SEED: o1 to o5, e1 to e5 as they, s1 to s5 with csr-scalar a tenth slower
  "$python" -ISc '
import json, random, sys
d = json.load(open("base.json")); random.seed(int(sys.argv[1]))
for kind in "oes":
    for run in range(1, 6):
        for n, r in enumerate(d["rows"]):
            for k in ("seconds_per_iteration", "seconds_per_product"):
                shift = (1 + n) * 1e-5 * (1 + 0.06 * random.random()) * (1.1 if kind == "s" and n == 0 else 1)
                r[k]["samples"] = [shift * (1 + 0.01 * random.random() + (random.random() if random.random() < 0.2 else 0)) for _ in range(12)]
        json.dump(d, open("%s%d.json" % (kind, run), "w"))' "$1" 2>err || fail "runs"
}
for i in 1 2 3; do
  runs $i
  run 0 "five equal runs each, $i" report --compare o1.json o2.json o3.json o4.json o5.json e1.json e2.json e3.json e4.json e5.json; says " 0 slower, 0 faster"
  run 1 "five runs each, one slower by a tenth, $i" report --compare o?.json s?.json; says " [12] slower, 0 faster, .* in 5 runs each"; says "csr-scalar .* SLOWER"
done
run 2 "two runs each" report --compare o1.json o2.json s1.json s2.json; says "four or more of each"
run 2 "an odd number" report --compare o?.json s?.json o1.json; says "four or more of each"
# The reference is the control: if it is slower, too, the machine is.
reference='d["references"] = [{"matrix": "poisson2d:20", "rows": 400, "cols": 400, "nnz": 1920, "precision": "d", "precision_asked": "auto", "solver": "none", "solver_asked": "none", "precond": "", "format": "sequential", "kernel": "", "nrhs": 1, "nrhs_asked": 1, "status": "ok", "bytes_stored": 1, "validated": True, "bytes_per_product": 1, "seconds_per_product": {"samples": [1e-5 * f * (1 + i / 1000) for i in range(15)], "iterations_per_sample": 1}}]'
edit old.json r1.json "f = 1; $reference"; edit slow.json r2.json "f = 1.1; $reference"
run 0 "a machine that is slower by a tenth" report --compare r1.json r2.json; says "the sequential reference takes up to 1.10 times"
edit slow.json r3.json "f = 1; $reference"
run 1 "a machine that is as fast" report --compare r1.json r3.json
edit old.json fails.json 'row("cds")["status"] = "failed: the product differs"'
run 1 "a row that fails now" report --compare old.json fails.json; says "1 row FAILS in a new run"
edit old.json less.json 'd["rows"] = d["rows"][:3]'
run 0 "rows that are missing" report --compare old.json less.json; says "5 rows are not measured in every other run"
run 3 "nothing in common" report --compare old.json p.json; says "no measured row in common"
run 2 "one file" report --compare old.json; says "two files"
run 2 "a page of a comparison" report --compare old.json slow.json -o x.html; says "writes no files"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
