#!/bin/sh
# The commands of docs/reliability.md: that each test, script and program they name is in the tree. RUN=1 also runs them, those of
# `make check` once each, with LIMIT seconds for each (600), and prints the last line of each. Usage: [RUN=1] tests/reliability.sh build/krylocl
cd "$(dirname "$0")/.." || exit 1
page=docs/reliability.md list=$(mktemp) || exit 1
trap 'rm -f "$list"' EXIT
passed=0 failed=0
verdict() { if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAIL $2"; fi; }

# Commands between backticks, which may be on two lines; the checks that a table or a sentence names.
tr '\n' ' ' <$page | grep -oE '`[^`]*`' | tr -d '`' | grep -E '^([A-Z_]+=("[^"]*"|[^ ]*) )*(sh (tests|bench)/|build/tests/|make )' | sort -u >"$list"
checks=$(grep -oE 'ONLY=("[^"]*"|[a-z_]+)' "$list" | sed 's/ONLY=//; s/"//g' | tr ' ' '\n' | sort -u)
for name in $checks; do
  [ -e "tests/$name.c" ] || [ -e "tests/$name.sh" ]
  verdict $? "make check ONLY=$name: no such test"
done
for file in $(grep -oE '(tests|bench)/[a-z_]+\.sh|build/tests/[a-z_]+' "$list" | sed 's/^build\/\(.*\)/\1.c/' | sort -u); do
  [ -e "$file" ]
  verdict $? "$file: no such file"
done
[ "$(wc -l <"$list")" -ge 40 ]
verdict $? "$(wc -l <"$list") commands on the page: they are not found"

run() { # COMMAND
  said=$(timeout "${LIMIT:-600}" sh -c "$1" 2>&1 </dev/null)
  verdict $? "$1: exit status $?"
  echo "$1: $(echo "$said" | tail -1)"
}
if [ "$RUN" ]; then
  for name in $checks; do run "make -s check ONLY=$name"; done
  grep -vE '^make |A\.mtx|GUARD=0|intel|reliability' "$list" >"$list.run"
  while read -r command; do run "$command"; done <"$list.run"
  rm -f "$list.run"
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
