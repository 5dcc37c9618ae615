#!/bin/sh
# The example of the README (the block after ```c), compiled and run against the installed library, shared and
# static, with the flags of the pkg-config file.
[ -z "$SAN" ] || { echo "skipped: the installed library: a sanitizer build"; exit 0; }
[ -f README.md ] || { echo "skipped: the example of the README: no README.md"; exit 0; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0
verdict() { if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $2"; fi; }

# Under `make check` MAKEFLAGS has options that are not for this make.
MAKEFLAGS= make -s install PREFIX="$dir" DESTDIR= ${BUILD:+BUILD="$BUILD"} ${CC:+CC="$CC"}
verdict $? "make install"
for f in bin/krylocl include/krylocl.h include/krylocl/io.h lib/libkrylocl.a lib/pkgconfig/krylocl.pc share/man/man1/krylocl.1 \
  share/bash-completion/completions/krylocl share/zsh/site-functions/_krylocl share/fish/vendor_completions.d/krylocl.fish \
  share/doc/krylocl/docs/troubleshooting.md lib/cmake/krylocl/krylocl-config.cmake; do
  [ -s "$dir/$f" ]; verdict $? "$f is not installed"
done
page=$("$dir/bin/krylocl" devices --verbose | sed -n 's/^help *//p')
[ "$page" = "$dir/share/doc/krylocl/docs/troubleshooting.md" ]; verdict $? "krylocl devices names '$page'"
sed -n '/^```c$/,/^```$/{/^```/!p;}' README.md >"$dir/example.c"
[ -s "$dir/example.c" ]; verdict $? "README.md has no block of C"

flags() { # words: of the pkg-config file, here without pkg-config
  sed -n "s|^Cflags: ||p; s|^Libs: ||p; ${1:+s|^Libs.private: ||p}" "$dir/lib/pkgconfig/krylocl.pc" | sed "s|\${prefix}|$dir|g"
}
"$dir/bin/krylocl" generate poisson2d:30 -o "$dir/A.mtx" --rhs "$dir/b.rhs" -q
for how in shared static; do
  [ $how = shared ] || rm -f "$dir"/lib/libkrylocl.so* "$dir"/lib/libkrylocl*.dylib
  # shellcheck disable=SC2046 # words
  ${CC:-gcc} -std=c11 -Wall -Wextra -Werror "$dir/example.c" -o "$dir/example" $(flags $([ $how = shared ] || echo all))
  verdict $? "the example does not compile, $how"
  (cd "$dir" && LD_LIBRARY_PATH=$dir/lib DYLD_LIBRARY_PATH=$dir/lib ./example >out 2>&1)
  verdict $? "the example fails, $how: $(head -3 "$dir/out")"
done
if command -v pkg-config >/dev/null 2>&1; then
  PKG_CONFIG_PATH=$dir/lib/pkgconfig pkg-config --exists --print-errors krylocl
  verdict $? "pkg-config does not take the file"
  if [ -e "$dir/lib/libkrylocl_mpi.so" ]; then
    PKG_CONFIG_PATH=$dir/lib/pkgconfig pkg-config --exists --print-errors krylocl_mpi
    verdict $? "pkg-config does not take the file of krylocl_mpi"
  fi
fi
# A project of CMake, with the shared and with the static library; another series of versions is refused.
if command -v cmake >/dev/null 2>&1; then
  MAKEFLAGS= make -s install PREFIX="$dir" DESTDIR= ${BUILD:+BUILD="$BUILD"} ${CC:+CC="$CC"}
  project() { # VERSION TARGET
    rm -rf "$dir/cmake" && mkdir "$dir/cmake" && cp "$dir/example.c" "$dir/cmake"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.13)' 'project(example C)' "find_package(krylocl $1 REQUIRED)" \
      'add_executable(example example.c)' "target_link_libraries(example $2)" >"$dir/cmake/CMakeLists.txt"
    CC=${CC:-gcc} cmake -S "$dir/cmake" -B "$dir/cmake/build" -DCMAKE_PREFIX_PATH="$dir" >"$dir/out" 2>&1 &&
      cmake --build "$dir/cmake/build" >"$dir/out" 2>&1 && (cd "$dir" && cmake/build/example >out 2>&1)
  }
  for target in krylocl::krylocl krylocl::static; do
    project 0.2 $target; verdict $? "a project of CMake with $target: $(tail -3 "$dir/out")"
  done
  project 9 krylocl::krylocl; [ $? -ne 0 ] && grep -q 'compatible' "$dir/out"; verdict $? "CMake takes version 9"
else
  echo "skipped: a project of CMake: cmake is not installed"
fi
# The archive of `make dist` knows its commit.
if commit=$(git rev-parse HEAD 2>/dev/null) && [ -e .git ]; then
  MAKEFLAGS= make -s dist >"$dir/out" 2>&1 && archive=$(cat "$dir/out") && tar xzf "$archive" -C "$dir" && rm -f "$archive"
  verdict $? "make dist: $(cat "$dir/out")"
  [ "$(cat "$dir/${archive%.tar.gz}/packaging/commit")" = "$commit" ] && [ -s "$dir/${archive%.tar.gz}/Makefile" ]
  verdict $? "the archive has no Makefile, or is of another commit"
fi
# The run: its commands print what stands below them.
. tests/pages.inc
sed '/^## A run$/,/^## In/!d' README.md >"$dir/run.md"
absent() { ! command -v gnuplot >/dev/null 2>&1 || ! "$dir/bin/krylocl" version | grep -q CHOLMOD; }
PATH=$dir/bin:$PATH KRYLOCL_DEVICE=cpu KRYLOCL_CACHE= session "$dir/run.md"
if ! absent; then [ -s "$dir/run/x.mtx" ] && [ -s "$dir/run/convergence.svg" ]; verdict $? "the run of the README writes its files"; fi
# The lines of Python.
if ${PYTHON:-python3} -c 'import cffi, numpy, scipy' 2>/dev/null && [ -e "$dir/lib/libkrylocl.so.0" ]; then
  { sed -n '/^```python$/,/^```$/{/^```/!p;}' README.md && echo 'assert info == 0 and s.report.converged'; } >"$dir/lines.py"
  KRYLOCL_DEVICE=cpu KRYLOCL_LIBRARY=$dir/lib/libkrylocl.so.0 PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1 \
    ${PYTHON:-python3} "$dir/lines.py" >"$dir/out" 2>&1
  verdict $? "the Python of the README: $(tail -1 "$dir/out")"
else
  echo "skipped: the Python of the README: cffi, numpy or scipy is not installed"
fi
MAKEFLAGS= make -s uninstall PREFIX="$dir" DESTDIR= ${BUILD:+BUILD="$BUILD"} ${CC:+CC="$CC"}
[ -z "$(find "$dir/bin" "$dir/lib" "$dir/include" "$dir/share" -type f)" ]; verdict $? "make uninstall leaves files"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
