#!/bin/sh
# krylocl get with a local server: download, cache, right-hand side, resumption with and without ranges, missing
# and damaged files. Usage: tests/get.sh build/krylocl. Needs curl, python3 and tar.
. "$(dirname "$0")/program.inc"
for c in curl python3 tar gzip; do
  command -v $c >/dev/null 2>&1 || { echo "skipped: no $c"; echo "0 passed, 0 failed"; exit 0; }
done
XDG_CACHE_HOME=$dir/cache no_proxy=127.0.0.1
unset KRYLOCL_CACHE http_proxy
export XDG_CACHE_HOME no_proxy
kept=cache/krylocl/collection

requests() { grep -c GET log; }

# Group/Name.tar.gz as in the collection: a folder with the matrix and its right-hand side.
mkdir -p site/Our Our && cd Our || exit 1
for m in plain with_b; do mkdir $m && "$prog" generate poisson2d:20 -o $m/$m.mtx --rhs $m/b.mtx -q; done
mv with_b/b.mtx with_b/with_b_b.mtx && rm plain/b.mtx && echo other >plain/../stray && cp stray plain/other.mtx
for m in plain with_b; do tar -czf ../site/Our/$m.tar.gz $m; done
tar -czf ../site/Our/empty.tar.gz stray
cd .. && cp -r Our made && rm -r Our
head -c 900 site/Our/plain.tar.gz >site/Our/cut.tar.gz
echo '<html>moved</html>' >site/Our/page.tar.gz
cp site/Our/plain.tar.gz site/Our/flip.tar.gz && flip site/Our/flip.tar.gz 700

# A server with ranges, and without on /plain-server/...
cat >server.py <<'EOF'
import http.server, os, re
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        ranges = not self.path.startswith('/simple')
        path = 'site' + (self.path if ranges else self.path[7:])
        if not os.path.isfile(path): return self.send_error(404)
        data, start = open(path, 'rb').read(), 0
        m = re.match(r'bytes=(\d+)-', self.headers.get('Range') or '')
        if m and ranges: start = int(m.group(1))
        if start >= len(data): return self.send_error(416)
        self.send_response(206 if start else 200)
        if start: self.send_header('Content-Range', f'bytes {start}-{len(data)-1}/{len(data)}')
        self.send_header('Content-Length', str(len(data) - start))
        self.end_headers()
        self.wfile.write(data[start:])
    def log_message(self, form, *args): open('log', 'a').write(form % args + ' from ' + (self.headers.get('Range') or 'the start') + '\n')
server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
open('port.new', 'w').write(str(server.server_port)); os.rename('port.new', 'port')
server.serve_forever()
EOF
: >log
python3 server.py 2>/dev/null &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$dir"' EXIT
while [ ! -f port ] && kill -0 $server 2>/dev/null; do sleep 0.1; done
[ -f port ] || { echo "skipped: no server can be started here"; echo "$passed passed, $failed failed"; exit 0; }
KRYLOCL_COLLECTION=http://127.0.0.1:$(cat port)
export KRYLOCL_COLLECTION

run 0 "list" list collection; says "no matrix of the collection is kept"
run 0 "get" get Our/plain; says "400 x 400"; says "collection/Our/plain.mtx"
cmp -s $kept/Our/plain.mtx made/plain/plain.mtx; verdict $? "  the same file"
[ "$(ls $kept/Our)" = plain.mtx ]; verdict $? "  and nothing else"
before=$(requests)
run 0 "get again" get Our/plain -o copy.rb; [ "$(requests)" -eq "$before" ]; verdict $? "  from the cache"
run 3 "no right-hand side" get Our/plain --rhs b.mtx; says "without a right-hand side"
run 0 "solve by name" solve Our/with_b -o x.mtx; says "fetched"; says "from the matrix file"
run 0 "  the same as by files" solve made/with_b/with_b.mtx made/with_b/with_b_b.mtx -o y.mtx
cmp -s x.mtx y.mtx; verdict $? "  the same x"
run 0 "list" list collection; [ "$(grep -c ^Our/ out)" -eq 2 ]; verdict $? "  two matrices, no right-hand side"; says "^Our/with_b$"
run 0 "list as JSON" list collection --json -; json out 'd["collection"] == ["Our/plain", "Our/with_b"]'
run 0 "info by name" info Our/with_b; run 0 "with --cache" info Our/with_b --cache
run 0 "its right-hand side" get Our/with_b --rhs b.mtx; [ -s b.mtx ]; verdict $? "  is written"

resume() { # PREFIX WHAT: a part is there already
  rm -rf $kept && mkdir -p $kept/Our
  head -c 700 site/Our/plain.tar.gz >$kept/Our/plain.tar.gz.part
  KRYLOCL_COLLECTION=http://127.0.0.1:$(cat port)$1 "$prog" get Our/plain >out 2>err; verdict $? "$2"
  cmp -s $kept/Our/plain.mtx made/plain/plain.mtx; verdict $? "  the same file"
}
resume "" "an interrupted download"
tail -1 log | grep -q 'from bytes=700-'; verdict $? "  goes on where it stopped"
resume /simple "from a server without ranges"
rm -rf $kept && mkdir -p $kept/Our && cp site/Our/plain.tar.gz $kept/Our/plain.tar.gz.part
run 0 "a part that is whole" get Our/plain

run 3 "no such matrix" get Our/none; says "has no such matrix"
run 3 "no such matrix to solve" solve Our/none; says "has no such matrix"
run 3 "an archive cut short" get Our/cut; says "damaged or cut short"
run 3 "a damaged archive" get Our/flip; says "damaged"
run 3 "a page instead" get Our/page; says "the archive is damaged"
run 3 "an archive without the matrix" get Our/empty; says "lacks the matrix"
[ -z "$(find $kept -name '*.part')" ]; verdict $? "  no part is left"
run 2 "no name" get bcsstk16; says "write Group/Name"
run 2 "a name that leads elsewhere" get ../Our; says "write Group/Name"
run 3 "a folder that is here" info made/none; says "cannot open"
KRYLOCL_CACHE= "$prog" get Our/plain >out 2>err; [ $? -eq 3 ]; verdict $? "without a cache folder"; says "KRYLOCL_CACHE"
KRYLOCL_COLLECTION=http://127.0.0.1:1
run 3 "no server" get Our/other; says "does not answer"
env PATH=/nowhere "$prog" get Our/other >out 2>err; [ $? -eq 3 ]; verdict $? "no curl"; says "install curl"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
