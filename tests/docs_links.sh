#!/bin/sh
# Links of all pages: to files, to headings, to other hosts by https. Files that pages and comments of the source name are there. Pictures have a text, pages a
# place in the site, subcommands their help in docs/program.md. usage: tests/docs_links.sh build/krylocl
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") && cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0
verdict() { if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $2"; fi; }
text() { awk '/^ *```/ { code = !code; next } !code' "$1"; } # without listings
links() { text "$1" | awk '{ gsub(/`[^`]*`/, ""); while (match($0, /\]\([^) ]*\)/)) { print substr($0, RSTART + 2, RLENGTH - 3); $0 = substr($0, RSTART + RLENGTH) } }' | sort -u; }
# The anchor of a heading: its letters, digits and hyphens in lower case.
anchors() { text "$1" | awk 'sub(/^#+ /, "") { $0 = tolower($0); gsub(/[^a-z0-9_ -]/, ""); gsub(/ /, "-"); print }'; }
# Files of the tree that a page names with their folder, unless one of its listings is that file. docs/where.md (chain=1) also names
# files without one: it is the folder before them in the line, else that of the section.
named() {
  awk -v chain="$2" '
    /^```/ { code = !code; if (NF > 1) listing[$2] = 1; next }
    code { next }
    /^#/ { section = match($0, /`[a-z]+`/) ? substr($0, RSTART + 1, RLENGTH - 2) : "" }
    { for (folder = section; match($0, /`[^` ]+`/); $0 = substr($0, RSTART + RLENGTH)) {
        name = substr($0, RSTART + 1, RLENGTH - 2)
        if (name ~ /^[.a-z]+\/[a-z_\/]+$/) folder = name
        if (name !~ /^[.a-z_0-9\/]+\.(c|h|hpp|f90|cl|clh|def|sh|py)$/) continue
        if (name ~ /^\.?(ci|core|cli|spmv|sparse|multigrid|factors|data|solver|distributed|kernels|include|python|bench|tests|packaging)\//) {
          named[name]; folder = name; sub(/\/[^\/]*$/, "", folder)
        } else if (chain && name !~ /\//) named[folder "/" name]
      } }
    END { for (name in named) if (!(name in listing)) print name }' "$1" | sort
}

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
for page in README.md CONTRIBUTING.md docs/*.md; do
  for file in $(named "$page" "$([ "$page" = docs/where.md ] && echo 1)"); do
    case $file in *example*) continue ;; esac # docs/testing.md
    [ -e "$file" ]; verdict $? "$page names $file, which is not there"
  done
done
sources='cli core data distributed factors kernels multigrid solver sparse spmv'
for file in $(grep -rhoE "(^|[^a-z_/])($(echo "$sources" | tr ' ' '|'))/[a-z_0-9/]+\\.(c|h|cl|clh|def)\\b" $sources | sed 's/^[^a-z]*//' | sort -u); do
  [ -e "$file" ]; verdict $? "$file is not there, but named in $(grep -rlF "$file" $sources | head -3 | tr '\n' ' ')"
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
