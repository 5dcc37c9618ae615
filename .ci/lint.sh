#!/bin/sh
# Static checks, for `make lint`: layout, static analysis, comments of the public headers, dependences, size.
# Tools that are not installed are skipped with a line. SOURCES and FLAGS (of the compiler) come from the Makefile.
failed=0 processors=$(getconf _NPROCESSORS_ONLN)
has() { command -v "$1" >/dev/null 2>&1 || { echo "skipped: $1 is not installed"; return 1; }; }
verdict() { if [ "$1" -eq 0 ]; then echo "ok   $2"; else failed=1; echo "FAIL $2"; fi; }
# Headers of PETSc, without which its plug-in is not checked.
petsc=$(pkg-config --cflags PETSc 2>/dev/null) || petsc=
files=$(for f in $SOURCES; do case $f in bench/peers/*) ;; */petsc/*) [ -z "$petsc" ] || echo "$f" ;; *.c) echo "$f" ;; esac; done |
  grep '\.c$')

# shellcheck disable=SC2086 # lists of words, throughout
if [ "$1" = --tidy ]; then # files; functions over 60 lines are reported, not failed
  shift
  clang-tidy --quiet --warnings-as-errors='bugprone-*' \
    --checks='-*,readability-function-size,bugprone-*,-bugprone-easily-swappable-parameters,-bugprone-implicit-widening*,-bugprone-suspicious-string-compare,-bugprone-macro-parentheses,-bugprone-sizeof-expression,-bugprone-narrowing-conversions,-bugprone-reserved-identifier,-bugprone-suspicious-memory-comparison,-bugprone-not-null-terminated-result' \
    --config='{CheckOptions: [{key: readability-function-size.LineThreshold, value: 60}]}' \
    "$@" -- $FLAGS $petsc 2>/dev/null
  exit
fi
if has clang-format; then
  clang-format --dry-run --Werror $SOURCES 2>&1 | sed -n 's/^\([^:]*\):.*error:.*/\1/p' | sort | uniq -c >/tmp/lint.$$
  cat /tmp/lint.$$; [ ! -s /tmp/lint.$$ ]; verdict $? "clang-format"
  rm -f /tmp/lint.$$
fi
# In two configurations, where cppcheck would try up to twelve per file for three times as long: with all parts, of a real type; and,
# of files that differ by macros, without any, of a complex type.
check() { # -Dmacro... files
  cppcheck -q -j "$processors" --error-exitcode=1 --inline-suppr --enable=warning,performance,portability --std=c11 \
    --suppress=nullPointerArithmeticRedundantCheck --suppress=invalidPointerCast --suppress=uninitStructMember -I. -Iinclude "$@"
}
if has cppcheck; then
  parts=$(for f in $FLAGS; do case $f in -DKCL_NO_*) ;; -D*) echo "$f" ;; esac; done)
  check $parts -DHAVE_MPI -DHAVE_METIS -D__linux__ -D__x86_64__ -D__GNUC__=12 -D__GLIBC__=2 -D__SSE4_1__ $files &&
    check -DKCL_T=z -DKCL_T_z -DKCL_NO_OPENCL \
      $(for f in $files; do case $f in core/cpu/* | factors/* | spmv/* | sparse/*) echo "$f" ;; *) grep -lE '^ *# *(el)?if' "$f" ;; esac; done)
  verdict $? "cppcheck"
fi
if has clang-tidy; then
  export FLAGS
  printf '%s\n' $files | xargs -n 12 -P "$processors" sh "$0" --tidy
  verdict $? "clang-tidy"
fi
# A build without parts: compiles the files in which a part is a condition.
bare=$(for f in $FLAGS; do case $f in -DHAVE_*) ;; *) echo "$f" ;; esac; done)
${CC:-cc} -fsyntax-only -Wall -Wextra -Werror $bare -DKCL_NO_OPENCL \
  $(grep -lE '^ *# *(el)?if.*(KCL_NO_OPENCL|HAVE_)' $(printf '%s\n' $files | grep -vE '^(tests|bench|distributed)/|/opencl/'))
verdict $? "compiled without parts"
if has doxygen; then
  # Every declaration of the public headers has a comment. Doxygen does not check enum values.
  scratch=$(mktemp -d)
  printf '%s\n' INPUT=include RECURSIVE=YES 'FILE_PATTERNS=*.h *.hpp' 'EXCLUDE_SYMBOLS=krylocl::detail*' "OUTPUT_DIRECTORY=$scratch" QUIET=YES OPTIMIZE_OUTPUT_FOR_C=YES JAVADOC_AUTOBRIEF=YES \
    GENERATE_HTML=NO GENERATE_LATEX=NO GENERATE_XML=YES EXTRACT_ALL=NO WARN_IF_UNDOCUMENTED=YES \
    WARN_AS_ERROR=FAIL_ON_WARNINGS | doxygen - &&
    awk '/^  KCL_/ && !/\/\*\*</ && (last !~ /\*\/$/ || last ~ /\/\*\*</) { print FILENAME ":" FNR ": no comment: " $1; bad = 1 } { last = $0 }
      END { exit bad }' include/*.h include/*/*.h
  verdict $? "doxygen: the public headers"
  rm -rf "$scratch"
fi
sh .ci/names.sh
verdict $? "names"
if [ -f "${BUILD:=build}/libkrylocl.a" ]; then
  sh .ci/modules.sh "$BUILD"
  verdict $? "modules"
else
  echo "skipped: modules: nothing is compiled in $BUILD"
fi
sh tests/mutants.sh --texts
verdict $? "tests/mutants.sh: the text of every fault is there"
for f in $SOURCES kernels/*.cl kernels/*.clh; do
  lines=$(wc -l <"$f")
  [ "$lines" -le 300 ] || echo "note: $f has $lines lines"
done
exit $failed
