#!/bin/sh
# Source files, each with the first sentence of its opening comment; of a file that says "See X.h." that of X.h. With WORD those alone
# whose line has it, in any case.
# usage: .ci/files.sh [WORD]
cd "$(dirname "$0")/.." || exit 1
find .ci bench cli core data distributed factors kernels multigrid python/krylocl solver sparse spmv -name '*.[ch]' -o -name '*.cl' \
  -o -name '*.clh' -o -name '*.sh' -o -name '*.py' | sort | WORD=$1 xargs awk '
  function finish() {
    sub(/ *(\*\/|""").*/, "", text)
    if (match(text, /\.( |$)/)) text = substr(text, 1, RSTART)
    sentence[file] = text
  }
  # The sentence of the header that a file refers to: its path, or its name in the same folder.
  function resolve(file,    header) {
    if (sentence[file] !~ /^See [a-z_0-9\/]+\.h/) return sentence[file]
    header = substr(sentence[file], 5)
    sub(/\.h.*/, ".h", header)
    if (header in sentence) return sentence[header]
    sub(/[^\/]*$/, "", file)
    return sentence[file header]
  }
  FNR == 1 { if (file) finish(); file = FILENAME; name[++count] = file; text = ""; over = 0 }
  over || /^#!/ { next }
  text != "" && (/^$/ || /^ \*$/ || /^[^ #\/]/) { over = 1; next }
  {
    line = $0
    sub(/^ *(\/\*|\*|#|""") ?/, "", line)
    text = text (text == "" ? "" : " ") line
    if (line ~ /\*\/|"""$/) over = 1
  }
  END {
    finish()
    for (i = 1; i <= count; i++) {
      line = name[i] ": " resolve(name[i])
      if (index(tolower(line), tolower(ENVIRON["WORD"]))) print line
    }
  }'
