#!/bin/sh
# Links of all pages: to files, to headings, to other hosts by https. Pictures have a text, pages a place in the site, subcommands
# their help in docs/program.md. usage: tests/docs_links.sh build/krylocl
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") && cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0
verdict() { if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $2"; fi; }
text() { awk '/^ *```/ { code = !code; next } !code' "$1"; } # without listings
links() { text "$1" | awk '{ gsub(/`[^`]*`/, ""); while (match($0, /\]\([^) ]*\)/)) { print substr($0, RSTART + 2, RLENGTH - 3); $0 = substr($0, RSTART + RLENGTH) } }' | sort -u; }
# The anchor of a heading: its letters, digits and hyphens in lower case.
anchors() { text "$1" | awk 'sub(/^#+ /, "") { $0 = tolower($0); gsub(/[^a-z0-9_ -]/, ""); gsub(/ /, "-"); print }'; }

for page in README.md CONTRIBUTING.md docs/*.md docs/lab/*.md; do
  for link in $(links "$page"); do
    case $link in
      https://?*.?*) verdict 0; continue ;;
      *:*) verdict 1 "$page links to $link, which is not https"; continue ;;
    esac
    file=${link%%#*} anchor=${link#"${link%%#*}"}
    target=$page && [ -z "$file" ] || target=$(dirname "$page")/$file
    [ -e "$target" ]; verdict $? "$page links to $file, which is not there"
    [ -z "$anchor" ] || anchors "$target" | grep -qx -e "${anchor#?}"; verdict $? "$page links to $link, a heading that is not there"
  done
  ! text "$page" | grep -q '!\[\](\|<img'; verdict $? "$page has a picture without a text"
done
for page in docs/*.md; do
  name=$(basename "$page" .md)
  [ "$name" = index ] || grep -qx "$name" docs/index.md; verdict $? "docs/index.md does not have $name"
done
for name in $("$program" -h | awk '/^  [a-z]/ { print $1 }'); do
  grep -q -e "{program-help} $name\$" -e "\`krylocl $name" docs/program.md; verdict $? "docs/program.md does not have $name"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
