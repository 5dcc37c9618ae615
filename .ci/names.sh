#!/bin/sh
# One name, one thing: a function, static or not, or a type or macro that more than one file can see is defined once in the tree
# without tests, and no file has a type of its own of that name. Of bench/ static functions do not count: its files are programs. Reads the
# text, which clang-format has laid out: definitions begin in the first column. The program's functions that other files see begin with
# cli_. For `make lint`.
# usage: names.sh
cd "$(dirname "$0")/.." || exit 1

allowed=main # of every program

# shellcheck disable=SC2046 # a list of files
ALLOWED=$allowed awk '
  function define(name, at, visible,    i) {
    if (name == "" || name in allowed) return
    for (i = 1; i <= count[name]; i++)
      if (file[name, i] == FILENAME) { shown[name, i] = shown[name, i] || visible; return }
    i = ++count[name]
    file[name, i] = FILENAME; line[name, i] = at; shown[name, i] = visible
  }
  # The name that a declaration declares: word of (*word)(, word_T of KCL_TYPED(word)(, else the word before the first parenthesis.
  function declared(text) {
    if (match(text, /KCL_TYPED\([A-Za-z0-9_]+\)\(/)) return substr(text, RSTART + 10, RLENGTH - 12) "_T"
    if (match(text, /^[^(]*\(\*[A-Za-z0-9_]+\)\(/)) { sub(/^[^(]*\(\*/, "", text); sub(/\).*/, "", text); return text }
    return match(text, /[A-Za-z0-9_]+\(/) ? substr(text, RSTART, RLENGTH - 1) : ""
  }
  # A declaration up to its first brace or semicolon.
  function finish(    body) {
    body = match(text, /[{;]/) && substr(text, RSTART, 1) == "{"
    gsub(/__attribute__\(\([^)]*\)+ /, "", text)
    if (body && FILENAME ~ /^cli\// && text !~ /^(typedef|static) / && declared(text) !~ /^(cli_.*|main)?$/) {
      print FILENAME ":" first ": " declared(text) " does not begin with cli_"
      bad = 1
    }
    if (text ~ /^typedef /) define(declared(text), first, header)
    else if (body && text !~ /^[^{]*= *[({]/ && (FILENAME !~ /^bench\// || text !~ /^([A-Z_]+ )?static /)) define(declared(text), first, 1)
    text = ""
  }
  BEGIN {
    n = split(ENVIRON["ALLOWED"], word, " ")
    for (i = 1; i <= n; i++) allowed[word[i]]
  }
  FNR == 1 { header = FILENAME ~ /\.h$/; text = ""; type = 0 }
  /^#define / && header { name = $2; sub(/\(.*/, "", name); define(name, FNR, 1) }
  /^#/ { next }
  /^\}/ { # the end of a typedef, or of a body
    if (type && match($0, /^\} [A-Za-z0-9_]+;/)) define(substr($0, 3, RLENGTH - 3), FNR, header)
    type = 0
    next
  }
  /^(typedef )?(struct|union|enum)( [A-Za-z0-9_]+)? \{/ {
    name = $0; sub(/^typedef /, "", name); sub(/^(struct|union|enum) ?/, "", name); sub(/ ?\{.*/, "", name)
    define(name, FNR, header)
    type = 1
    if (match($0, /\} [A-Za-z0-9_]+;/)) { define(substr($0, RSTART + 2, RLENGTH - 3), FNR, header); type = 0 }
    next
  }
  /^typedef [^(]*;/ { # of struct x x the definition is elsewhere
    name = $0; sub(/;.*/, "", name); sub(/.*[ *]/, "", name)
    if ($2 !~ /^(struct|union|enum)$/) define(name, FNR, header)
    next
  }
  text == "" && /^[A-Za-z_].*\(/ && !/^extern / { text = $0; first = FNR; if (/[{;]/) finish(); next }
  text != "" { text = text " " $0; if (/[{;]/) finish() }
  END {
    for (name in count)
      for (i = 2; i <= count[name]; i++)
        for (j = 1; j < i; j++)
          if (shown[name, i] || shown[name, j]) {
            print file[name, j] ":" line[name, j] ": " name " is defined in " file[name, i] ":" line[name, i] ", too"
            bad = 1
          }
    exit bad
  }' $(find bench cli core data distributed factors include kernels multigrid solver sparse spmv -name '*.[ch]' | LC_ALL=C sort)
