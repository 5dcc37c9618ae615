#!/bin/sh
# The lasting interface, krylocl.h and krylocl_mpi.h: every function as it is declared, every struct of krylocl.h with its size and the
# offset and size of its fields, every enumerator with its value, as recorded in tests/abi.txt (64-bit systems). The headers of
# include/krylocl are not recorded. What the libraries export: exports.sh.
# usage: tests/abi.sh build/krylocl        compares
#        tests/abi.sh --record             writes tests/abi.txt anew: say in CHANGELOG.md what changed
cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
CC=${CC:-cc}
check() { # WHAT STATUS
  if [ "$2" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAIL $1"; fi
}

# A declaration per line: without comments and directives, bodies on the line of their name.
declarations() { # HEADER
  awk '{ all = all $0 "\n" } END { while ((i = index(all, "/*")) > 0) { rest = substr(all, i); all = substr(all, 1, i - 1) substr(rest, index(rest, "*/") + 2) } printf "%s", all }' "$1" |
    grep -v '^#' | awk '
    { gsub(/[ \t]+/, " "); text = text (text ~ /[^ ]$/ ? " " : "") $0
      opened = gsub(/{/, "{", text); closed = gsub(/}/, "}", text)
      if (text ~ /extern "C"/) { text = "" } else if (opened == closed && text ~ /; ?$/) { gsub(/ +/, " ", text); sub(/^ /, "", text); print text; text = "" } }'
}
# A C program that prints sizes, offsets and values.
prober() {
  awk '
    BEGIN { print "#include <krylocl.h>\n#include <stdio.h>\n#define FIELD(s, f) printf(\"%s.%s %zu %zu\\n\", #s, #f, offsetof(s, f), sizeof(((s *)0)->f))\nint main(void) {" }
    /^(typedef )?enum/ { body = $0; sub(/^[^{]*{/, "", body); sub(/}.*/, "", body); n = split(body, e, ",")
      for (i = 1; i <= n; i++) { sub(/=.*/, "", e[i]); gsub(/ /, "", e[i]); if (e[i] != "") printf "  printf(\"%s %%lld\\n\", (long long)%s);\n", e[i], e[i] } }
    /^typedef struct.*{/ { name = $3; body = $0; sub(/^[^{]*{/, "", body); sub(/}[^}]*$/, "", body)
      printf "  printf(\"%s %%zu\\n\", sizeof(%s));\n", name, name
      n = split(body, f, ";")
      for (i = 1; i <= n; i++) {
        if (match(f[i], /\(\*[a-z_0-9A-Z]+\)/)) { printf "  FIELD(%s, %s);\n", name, substr(f[i], RSTART + 2, RLENGTH - 3); continue }
        m = split(f[i], d, ",")
        for (j = 1; j <= m; j++) { gsub(/\[[^]]*\]/, "", d[j]); sub(/ *$/, "", d[j]); sub(/.*[ *]/, "", d[j]); if (d[j] != "") printf "  FIELD(%s, %s);\n", name, d[j] }
      } }
    END { print "  return 0;\n}" }' "$1"
}
describe() {
  declarations include/krylocl.h >"$tmp/main"
  declarations include/krylocl_mpi.h >"$tmp/mpi"
  prober "$tmp/main" >"$tmp/probe.c" && $CC -std=c11 -Iinclude -o "$tmp/probe" "$tmp/probe.c" || return 1
  echo "# Recorded by tests/abi.sh --record: functions; enumerators and their values; structs and their sizes, fields with offset and size."
  grep '(' "$tmp/main" "$tmp/mpi" -h | grep -v '^typedef'
  grep -h '^extern' "$tmp/main"
  "$tmp/probe"
}

if [ "$1" = --record ]; then
  describe >"$tmp/now" && cp "$tmp/now" tests/abi.txt
  exit
fi
if [ "$(getconf LONG_BIT)" != 64 ]; then
  echo "skipped: sizes are recorded for 64-bit systems"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
describe >"$tmp/now"
check "the headers can be described" $?
diff -u tests/abi.txt "$tmp/now" >"$tmp/diff"
check "the interface is not what tests/abi.txt has (tests/abi.sh --record; say in CHANGELOG.md what changed): $(sed 1,2d "$tmp/diff" | grep '^[-+]' | head -20)" $?
lines=$(wc -l <tests/abi.txt)
check "tests/abi.txt has only $lines lines" $((lines < 150))
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
