#!/bin/sh
# krylocl bench: several matrices and lists, resuming, and the figures that follow from samples, which are made by hand
# here. Usage: tests/bench.sh build/krylocl
. "$(dirname "$0")/program.inc"
[ -n "$python" ] || { echo "skipped: bench: no python3"; exit 0; }
unset COLUMNS

# edit FILE STATEMENTS: in python, with d the document and row(FORMAT) its row of that format
edit() {
  "$python" -ISc '
import json, sys
d = json.load(open(sys.argv[1]))
def row(name): return next(r for r in d["rows"] if r["format"] == name)
def times(r, samples, key="iteration"):
    r["seconds_per_" + key] = {"samples": samples, "iterations_per_sample": 1}
def setup(r, convert, upload=0, compile=0, compiled=0):
    r["seconds_setup"] = {"convert": convert, "upload": upload, "compile": compile}
    r["programs_compiled"] = compiled
exec(sys.argv[2])
json.dump(d, open(sys.argv[1], "w"))' "$1" "$2" || fail "edit of $1"
}
quick="--time-limit 0.05 --iterations 5"

# ------------------------------------------------------------------ lists
file T.mtx "%%MatrixMarket matrix coordinate real general" "3 2 4" "1 1 1" "2 2 2" "3 1 3" "3 2 4"
mkdir -p other && cp T.mtx other/T.mtx
run 0 "matrices and generated systems" bench poisson2d:20 T.mtx other/T.mtx --formats csr-scalar,ell --json b.json $quick; says "^fastest "; says "^matrix  *other/T.mtx: 3 x 2"
json b.json "[(r['matrix'],r['solver']) for r in d['rows'][::2]]==[('poisson2d:20','cg'),('T','cgls'),('other/T.mtx','cgls')]"
json b.json "[(m['name'],m['rows'],m['cols']) for m in d['matrices']]==[('poisson2d:20',400,400),('T',3,2),('other/T.mtx',3,2)]"
json b.json "d['schema']==1 and d['complete'] and d['version'] and 'commit' in d and d['date'].endswith('Z') and d['host']['load_begin']>=0 and 'CLOCK_MONOTONIC' in d['host']['clock']"
json b.json "all(k in d['devices'][0] for k in 'name kind driver platform version threads stream_bytes_per_second'.split())"
json b.json "(lambda s: s['low']<=s['bytes_per_second']*1e3 and s['low']<=s['high'] and s['vector_bytes']>0 and s['measurements']>0 and s['date'].endswith('Z') and s['age_seconds']>=0 and s['cache_bytes']>=0)(d['devices'][0]['stream'])"
run 0 "methods, precisions, threads" bench poisson2d:20 --device cpu --formats cds --solver none,cg,bicg --precision s,d --threads 1,2 --json b.json --csv b.csv $quick
json b.json "sorted((r['threads'],r['precision'],r['solver']) for r in d['rows'])==sorted((t,p,s) for t in (1,2) for p in 'sd' for s in ('none','cg','bicg'))"
json b.json "all(('seconds_per_iteration' in r)==(r['solver']!='none') and r['seconds_per_product']['samples'] for r in d['rows'])"
json b.json "[(r['precision'],r['format']) for r in d['references']]==[('s','sequential'),('d','sequential')]"
head -1 b.csv | grep -q '^matrix,rows,cols,nnz,.*,kind,threads,'; verdict $? "  the CSV has rows, cols, nnz, kind, threads"
json b.json "sum(x[2] for x in d['matrices'][0]['row_length']['histogram'])==400 and d['matrices'][0]['row_length']['histogram']==[[3,3,4],[4,4,72],[5,5,324]]"
json b.json "(lambda p: len(p['cells'])==64 and all(len(l)==64 for l in p['cells']) and {i-j for i,l in enumerate(p['cells']) for j,c in enumerate(l) if c!='0'}>={-1,0,1} and p['most']>0)(d['matrices'][0]['picture'])"
run 0 "three rounds" bench poisson2d:20 --device cpu --formats csr-scalar,csr-lanes,ell --samples 6 --rounds 3 --json b.json --iterations 5 # 2 s at most: the samples are counted
json b.json "[len(r['seconds_per_iteration']['samples']) for r in d['rows'] if r['status']=='ok']==[6,6] and len(d['references'][0]['seconds_per_product']['samples'])==6 and d['arguments']['rounds']==3"
cp b.json c.json; run 0 "rounds are not taken again" bench --resume b.json; json b.json "[r.get('seconds_per_iteration',{}).get('samples') for r in d['rows']]==[r.get('seconds_per_iteration',{}).get('samples') for r in json.load(open('c.json'))['rows']]"
run 0 "products of a rectangular matrix" bench T.mtx --solver none --device cpu --json b.json $quick; says "^products "
json b.json "all(r['validated'] for r in d['rows'] if r['status']=='ok') and sum(r['status']=='ok' for r in d['rows'])>5"
run 2 "no such solver in a list" bench T.mtx --solver cg,bigc; says "did you mean 'bicg'"
run 2 "no such precision in a list" bench T.mtx --precision d,x; says "unknown precision 'x'"
run 2 "no such number of threads" bench T.mtx --threads 1,many; says "not a whole number"
run 2 "a list elsewhere" solve T.mtx --threads 1,2; says "one number"
run 4 "no such device in a list" bench T.mtx --device cpu,nothing; says "no device matches 'nothing'"
run 3 "one file is not there" bench nothing.mtx T.mtx --formats coo --json b.json $quick; says "nothing.mtx"
json b.json "[r['matrix'] for r in d['rows']]==['T'] and not d['complete']"

# ------------------------------------------------------------------ variants that are the same, padding
run 0 "variants on the cpu" bench poisson2d:20 --device cpu --formats csr-scalar,csr-group,csr-lanes --json b.json $quick; says "^  csr-group, csr-lanes: same as csr-scalar on this device"
json b.json "[r['status'] for r in d['rows']]==['ok','same as csr-scalar','same as csr-scalar']"
run 0 "the second alone" bench poisson2d:20 --device cpu --formats csr-lanes,csr-group --json b.json $quick
json b.json "[r['status'] for r in d['rows']]==['ok','same as csr-lanes']"
"$prog" list devices >devices
if grep -q '^ *0:0 ' devices; then
  run 0 "variants on a cpu device of OpenCL" bench poisson2d:20 --device 0:0 --formats csr-scalar,csr-lanes --layout cpu --json b.json $quick
  json b.json "[r['status'] for r in d['rows']]==['ok','same as csr-scalar']"
  run 0 "variants as on a GPU" bench poisson2d:20 --device 0:0 --formats csr-scalar,csr-lanes --layout gpu --json b.json $quick
  json b.json "[(r['status'],r['layout']) for r in d['rows']]==[('ok','gpu')]*2 and d['rows'][0]['kernel']!=d['rows'][1]['kernel']"
else
  echo "skipped: --layout: no OpenCL device"
fi
# ------------------------------------------------------------------ profiles
KRYLOCL_COUNTERS=none run 0 "a profile without counters" bench poisson2d:20 --device cpu --threads 2 --formats ell --profile --json p.json --csv p.csv $quick; says "^profile  *ell on cpu"
json p.json "(lambda p: p['iterations']>0 and p['seconds']>0 and 'counters' not in p and 'run' not in p)(d['rows'][0]['profile'])"
run 0 "a profile with what counters there are" bench poisson2d:20 --device cpu --formats ell --profile --json p.json $quick
json p.json "(lambda c: c is None or all(v is None or v>=0 for v in c.values()))(d['rows'][0]['profile'].get('counters'))"
if grep -q '^ *0:0 ' devices; then
  run 0 "event times of rows" bench poisson2d:20 --device 0:0 --formats ell,coo --solver cg,none --profile --json p.json --csv p.csv $quick; says "to the device .* at least .*matrix"; says "kernel stage_1_0"
  json p.json "all((lambda p: p['bytes_back']==p['bytes_back_least'] and sum(c['bytes'] for c in p['write']['commands'])==p['bytes_vectors'] and 0<=p['bytes_to_device']-p['bytes_to_device_least']<1024)(r['profile']) for r in d['rows'])"
  json p.json "all((lambda p: 0<sum(c['seconds'] for c in p['run']['commands'] if c['kind']=='kernel')<=p['run']['seconds']*1.000001 and p['run']['seconds']<=p['seconds']*1.01)(r['profile']) for r in d['rows'])"
  json p.json "all((lambda p: all(c['count']==p['iterations'] for c in p['run']['commands'] if c['kind']=='kernel' and c['name']=='stage_%d_0'%(r['solver']!='none')))(r['profile']) for r in d['rows'])"
  json p.json "all(r['profile']['bytes_vectors']==400*8*(1 if r['solver']=='none' else 2) and r['profile']['bytes_back']==400*8 for r in d['rows'])"
  "$python" -ISc 'import csv; r = list(csv.DictReader(open("p.csv")))[1:]; assert all(int(float(x["bytes_back"])) == 3200 and x["kernels"].startswith("stage_") for x in r), r'; verdict $? "  the CSV has the kernels"
  cp p.json q.json
  run 0 "a profile that was resumed" bench --resume q.json
  "$python" -ISc 'import json; a, b = (json.load(open(f))["rows"] for f in ("p.json", "q.json")); assert [r["profile"] for r in a] == [r["profile"] for r in b]'; verdict $? "  is as it was"
else
  echo "skipped: event times: no OpenCL device"
fi
run 2 "no such layout" bench T.mtx --layout tpu; says "unknown layout"
awk 'BEGIN { n = 900; print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, 2 * n - 1
  for (i = 1; i <= n; i++) print i, i, n + 1; for (i = 2; i <= n; i++) print i, 1, -1 }' >R.mtx
run 9 "padding" bench R.mtx --formats dense,ell --json b.json $quick; says "refused: pads to"
run 0 "padding that is allowed" bench R.mtx --formats dense,ell --force --json b.json $quick
json b.json "d['matrices'][0]['row_length']['histogram']==[[2,3,899],[4,7,0],[8,15,0],[16,31,0],[32,63,0],[64,127,0],[128,255,0],[256,511,0],[512,1023,1]]"
json b.json "[(r['format'],r['status'],r['validated'],r['bytes_stored']>6e6) for r in d['rows']]==[('dense','ok',True,True),('ell','ok',True,True)]"
run 2 "padding of all formats" bench R.mtx --force; says "formats that are named"

# ------------------------------------------------------------------ figures from samples made by hand
run 0 "a run to edit" bench poisson2d:20 --device cpu --formats csr-scalar,ell,coo,cds,sell --json h.json $quick
edit h.json '
for r in d["rows"]: times(r, [1e-5] * 15), times(r, [5e-6] * 15, "product"), setup(r, 0)
times(d["references"][0], [2e-5] * 15, "product")
times(row("ell"), [i * 1e-6 for i in (15, 1, 14, 2, 13, 3, 12, 4, 11, 5, 10, 6, 9, 7, 8)])
times(row("coo"), [(100 + i) * 1e-6 for i in (3, 1, 2, 5, 4)])
times(row("cds"), [(100 + i) * 1e-7 for i in range(6)])
times(row("sell"), [3.1e-3] * 7)'
cp h.json kept.json
run 0 "nothing is left to measure" bench --resume h.json --csv h.csv
json h.json "d['complete'] and len(d['rows'])==5"
json h.json "(lambda m: m['row_length']['histogram'] and m['picture'])(d['matrices'][0])==json.load(open('kept.json'))['matrices'][0]['picture']"
summary() { json h.json "(lambda r: [round(r[k]*1e9) for k in ('median','low','high')]==$2 and r['confidence']==$3)([r for r in d['rows'] if r['format']=='$1'][0]['seconds_per_iteration'])"; }
summary ell '[8000,4000,12000]' 0.96484375 # 15 samples: 1 - 2 (1 + 15 + 105 + 455) / 2^15... from the 4th to the 12th
summary coo '[103000,101000,105000]' 0.9375 # 5 samples: all of them, 1 - 2 / 2^5
summary cds '[10250,10000,10500]' 0.96875 # 6 samples: all of them, 1 - 2 / 2^6
json h.json "{r['format']:r['noisy'] for r in d['rows']}=={'csr-scalar':False,'ell':True,'coo':False,'cds':False,'sell':False}"
says "[*] ell .* ~50 %"; says "~ noisy"; says "  coo .* 5 samples"; says "  sell .* 3,100 "; says "  csr-scalar .* 10\\.0 "; says "  cds .* 10\\.2 "
json h.json "all(abs(r['speedup']-4)<1e-9 for r in d['rows'])"; says "speed-up: product over sequential C"
edit h.json '
times(row("ell"), [8e-6] * 15), setup(row("ell"), 6e-4, 3e-4, 1e-4)
times(row("coo"), [1.2e-5] * 15), setup(row("coo"), 1e-3)
times(row("cds"), [9e-6] * 15), setup(row("cds"), 1e-5, 0, 5, 1)
times(row("sell"), [2e-5] * 15), setup(row("sell"), 0)
setup(row("csr-scalar"), 5e-5)'
run 0 "break-even" bench --resume h.json; says "against csr-scalar"
even() { json h.json "[r.get('break_even') for r in d['rows'] if r['format']=='$1'][0]==$2"; }
even csr-scalar None
even ell "{'against':'csr-scalar','after':475}" # (1e-3 - 5e-5) / 2e-6, loading of programs counted
even coo "{'against':'csr-scalar','after':None}"
even cds "{'against':'csr-scalar','after':0}" # a compilation is not counted
even sell "{'against':'csr-scalar','after':None,'until':5}" # 5e-5 / 1e-5
says "[*] ell .* 475 "; says "  coo .* never "; says "  cds .* at once "; says "  sell .* up to 5 "
grep -n "^[* ] " out | sed 's/:[* ] */ /' | awk '{ print $2 }' | tr '\n' ' ' | grep -q "ell cds csr-scalar coo sell sequential"; verdict $? "  fastest first"
edit h.json '
times(row("ell"), [8e-6] * 15), times(row("ell"), [9e-6] * 15, "product")
times(row("coo"), [1.2e-5])
for r in d["rows"]: r["seconds_per_product"]["threads"] = 2
for r in d["rows"]: r["seconds_per_iteration"]["threads"] = 1'
run 0 "a product longer than its iteration" bench --resume h.json --csv h.csv; says "[*] ell .* !9\.00 "; says "! the product alone took longer than the iteration that contains"
json h.json "{r['format']: r['inconsistent'] for r in d['rows']}=={'csr-scalar':False,'ell':True,'coo':False,'cds':False,'sell':False}"
json h.json "all((r['seconds_per_iteration']['threads'],r['seconds_per_product']['threads'])==(1,2) for r in d['rows'])"
"$python" -ISc 'import csv; r = {x["format"]: x for x in csv.DictReader(open("h.csv"))}; assert [r[k]["inconsistent"] for k in ("ell", "cds")] == ["true", "false"] and (r["coo"]["seconds_per_iteration_low"], r["coo"]["samples"]) == ("", "1"), r' 2>err; verdict $? "  the CSV: inconsistent, and no interval of one sample"
json h.json "[r['seconds_per_iteration'][k] for r in d['rows'] if r['format']=='coo' for k in ('low','high','confidence')]==[None,None,0]"
edit h.json 'times(row("ell"), [8e-6] * 15), times(row("ell"), [7e-6] * 15, "product")'
run 0 "  and none" bench --resume h.json; ! grep -q '!' out; verdict $? "  is not marked"
edit h.json 'times(row("ell"), [1e-9] * 15), times(row("ell"), [1e-9] * 15, "product")'
run 0 "beyond the stream rate" bench --resume h.json; says "[*] ell .* in cache "
! grep -qE ' [0-9]{4,} %' out; verdict $? "  no silly percentage"
for c in 80 100; do
  COLUMNS=$c "$prog" bench --resume h.json >out 2>err; grep -v "^device" out >lines
  ! awk -v c=$c 'length > c' lines | grep -q .; verdict $? "fits $c columns"
done

# ------------------------------------------------------------------ transfers; full storage beside a loop of its own
run 0 "products with transfers" bench poisson2d:20 --device cpu --formats csr-scalar,ell --solver none,cg --with-transfer --json t.json --csv t.csv $quick; says "us with x,y  with A,x,y"; says "with A,x,y: and the upload of the matrix"
json t.json "all(r['seconds_with_vectors']['median']>0 and r['seconds_with_vectors']['samples'] and abs(r['seconds_with_matrix']-r['seconds_with_vectors']['median']-r['seconds_setup']['upload'])<1e-12 for r in d['rows']) and len(d['rows'])==4"
edit t.json '
for r in d["rows"]: setup(r, 1e-3, 5e-4); r["seconds_with_vectors"] = {"samples": [4e-5] * 15, "iterations_per_sample": 1}'
run 0 "transfers that were resumed" bench --resume t.json --csv t.csv; says " 40\\.0 *540 "
json t.json "all(abs(r['seconds_with_vectors']['median']-4e-5)<1e-12 and abs(r['seconds_with_matrix']-5.4e-4)<1e-12 for r in d['rows']) and d['arguments']['with-transfer']"
"$python" -ISc 'import csv; r = [x for x in csv.DictReader(open("t.csv")) if x["place"]]; assert len(r) == 4 and all(abs(float(x["seconds_with_matrix"]) - 5.4e-4) < 1e-9 for x in r), r' 2>err; verdict $? "  the CSV has them"
if grep -q '^ *0:0 ' devices; then
  run 0 "transfers of an OpenCL device" bench T.mtx --device 0:0 --formats ell,coo --solver none --precision s,z --nrhs 2 --with-transfer --json t.json $quick
  json t.json "all(r['seconds_with_vectors']['median']>0 for r in d['rows']) and len(d['rows'])==4"
  run 0 "products of a device beside the CPU" bench poisson2d:20 --device cpu,0:0 --formats ell,coo --solver none --with-transfer --json be.json $quick
  edit be.json '
for r in d["rows"]:
  fast = r["device_place"] == "0:0" and r["format"] == "ell"
  setup(r, 1e-3, 1e-3)
  times(r, [1e-5 if fast else 3e-5 if r["device_place"] == "cpu" else 5e-5] * 15, "product")
  r["seconds_with_vectors"] = {"samples": [2.4e-5] * 15, "iterations_per_sample": 1}'
  run 0 "break-even" bench --resume be.json; tr -s '\n ' '  ' <out >lines; mv lines out
  says "break-even of 0:0 (ell) against the CPU ([a-z]*): after 51 products if x and y stay on the device, after 167 products if they move in each product"
  json be.json "[(r['upload_repaid']['products'],r['upload_repaid']['products_with_vectors']) for r in d['rows'] if 'upload_repaid' in r and r['format']=='ell']==[(51,167)] and [r['upload_repaid']['products'] for r in d['rows'] if 'upload_repaid' in r and r['format']=='coo']==[None]"
fi
run 0 "a dense loop" bench poisson2d:20 --device cpu --formats dense,csr-scalar --force --solver none --json t.json $quick; ! grep -q 'with x,y' out; verdict $? "  no column of transfers"
json t.json "[(r['format'],r['status'],r['validated'],r['bytes_stored']) for r in d['references']][1]==('sequential-dense','ok',True,8*400*400) and len(d['references'])==2"
edit t.json '
for r in d["rows"]: times(r, [1e-5] * 15, "product")
for r, s in zip(d["references"], (2e-5, 8e-5)): times(r, [s] * 15, "product")'
run 0 "speed-ups over two loops" bench --resume t.json; says "in CSR, of dense over a dense"
json t.json "{r['format']:round(r['speedup'],9) for r in d['rows']}=={'dense':8,'csr-scalar':2}"
run 0 "a dense loop that nothing is compared with" bench R.mtx --formats dense,coo --solver none --json t.json $quick
json t.json "[r['status'] for r in d['references']]==['ok','refused: no row in full storage was measured']"

# ------------------------------------------------------------------ resuming
run 0 "uninterrupted" bench poisson2d:20 T.mtx --device cpu --solver none --json whole.json --time-limit 0.1 --iterations 100000 --samples 2000
"$prog" bench poisson2d:20 T.mtx --device cpu --solver none --json part.json --verbose --time-limit 0.1 --iterations 100000 --samples 2000 >out 2>lines &
pid=$!
while ! grep -q "ell: " lines 2>/dev/null && kill -0 $pid 2>/dev/null; do sleep 0.1; done
kill -INT $pid 2>/dev/null
wait $pid; got=$?
[ $got -eq 130 ]; verdict $? "interrupted (exit 130, got $got)"
keys="sorted((r['matrix'],r['format'],r['precision'],r['status']) for r in d['rows'])"
json part.json "not d['complete'] and 2<len(d['rows'])<len(json.load(open('whole.json'))['rows'])"
cp part.json before.json
run 0 "resumed" bench --resume part.json
json part.json "d['complete'] and $keys==(lambda d: $keys)(json.load(open('whole.json')))"
json part.json "[r for r in d['rows'] if r['status']=='ok'][0]['seconds_per_product']['samples']==[r for r in json.load(open('before.json'))['rows'] if r['status']=='ok'][0]['seconds_per_product']['samples']"
run 0 "another matrix beside them" bench poisson2d:10 --solver none --device cpu --formats ell --resume part.json --json more.json $quick
json more.json "len(d['rows'])==len(json.load(open('part.json'))['rows'])+1"
cp kept.json k.json; edit k.json 'row("ell")["status"] = "failed: once", d["rows"].remove(row("coo"))'
run 0 "a failed row is measured again" bench --resume k.json; json k.json "len(d['rows'])==5 and all(r['status']=='ok' for r in d['rows'])"
cp kept.json k.json; edit k.json 'd["version"] = "0.0.1"'
run 3 "of another version" bench --resume k.json; says "0.0.1"
cp kept.json k.json; edit k.json 'd["devices"][0]["name"] = "another processor"'
run 4 "of another device" bench --resume k.json; says "another processor"
for text in '' '{' '[]' '7' '{"schema": 1}' '{"schema": 1, "program": "krylocl bench"}'; do
  printf '%s' "$text" >k.json; run 3 "'$text' is no run" bench --resume k.json
done
cp kept.json k.json; edit k.json 'd["rows"][0] = 3; row_ = d["rows"][1]; row_["matrix"] = []; d["matrices"].append(None); d["devices"].append("x")'
run 0 "rows that are none are measured" bench --resume k.json; json k.json "len([r for r in d['rows'] if r['status']=='ok'])==5"
run 3 "no such file" bench --resume nothing.json; says "nothing.json"
run 2 "neither a matrix nor a file" bench; says "lacks an operand"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
