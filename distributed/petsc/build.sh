#!/bin/sh
# Builds the plug-in of PETSc into a build folder, for each PETSc that is found: libpetsckrylocl.so of real numbers,
# libpetsckrylocl_complex.so of complex ones. PETSC_DIR (and PETSC_ARCH), if set; else those of Debian; else pkg-config's.
# For `make petsc`; CC, PLUGIN_FLAGS (of the compiler) and MPI_FLAGS come from the Makefile.
# usage: build.sh BUILD
build=${1:?the build folder} here=$(dirname "$0")
if [ "$PETSC_DIR" ]; then
  set -- "$PETSC_DIR/$PETSC_ARCH"
else
  set -- /usr/lib/petscdir/petsc-real /usr/lib/petscdir/petsc-complex
  [ -d "$1" ] || [ -d "$2" ] || set -- "$(pkg-config --variable=prefix PETSc 2>/dev/null)"
fi
# The linker reports missing functions here; the functions of a sanitizer are in the program that loads the plug-in.
complete=-Wl,-z,defs
[ -z "$SAN" ] || complete=
found=
for petsc; do
  variables=$petsc/lib/petsc/conf/petscvariables
  [ -f "$variables" ] || continue
  case $(sed -n 's/^PETSC_SCALAR *= *//p' "$variables") in complex) name=libpetsckrylocl_complex ;; *) name=libpetsckrylocl ;; esac
  flags=$(PKG_CONFIG_PATH=$petsc/lib/pkgconfig pkg-config --cflags --libs PETSc) || exit 1
  # A name of its own until it is complete. $ORIGIN: libkrylocl_mpi lies beside it.
  # shellcheck disable=SC2086,SC2016 # lists of words; for the linker
  $CC $PLUGIN_FLAGS -shared -o "$build/$name.so.part" "$here"/*.c -L"$build" -l:libkrylocl_mpi.so.0 \
    -Wl,-soname,$name.so '-Wl,-rpath,$ORIGIN' $flags $MPI_FLAGS $complete && mv "$build/$name.so.part" "$build/$name.so" || exit 1
  echo "$build/$name.so: PETSc in $petsc"
  found=1
done
[ "$found" ] || { echo "no PETSc (libpetsc-real-dev): set PETSC_DIR" >&2; exit 1; }
