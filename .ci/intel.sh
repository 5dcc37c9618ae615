#!/bin/sh
# Intel's driver for OpenCL on CPUs, out of Python packages, into a folder of its own: no root, nothing else changes.
# Prints the variables to export so that the OpenCL loader finds this driver and no other. Status 1 and why on stderr where it
# cannot be had.
# usage: eval "$(sh .ci/intel.sh [FOLDER])"        default: build-intel, which is kept; 450 MB
cd "$(dirname "$0")/.." || exit 1
packages='intel-opencl-rt==2026.2.0 intel-cmplr-lib-rt==2026.2.0 tbb==2023.2.0'
why() { echo "$1" >&2 && exit 1; }
[ "$(uname -sm)" = 'Linux x86_64' ] || why "Intel's driver is for Linux on x86_64"
mkdir -p "${1:-build-intel}" && folder=$(cd "${1:-build-intel}" && pwd) || why "no folder ${1:-build-intel}"

if [ "$(cat "$folder/packages" 2>/dev/null)" != "$packages" ]; then
  python3 -m pip --version >/dev/null 2>&1 || sh .ci/packages.sh intel >&2
  python3 -m pip --version >/dev/null 2>&1 || why "no pip for python3 (python3-pip)"
  rm -rf "$folder/wheels" "$folder/lib" "$folder/vendors" "$folder/packages"
  # shellcheck disable=SC2086 # a list of words
  python3 -m pip download -q --no-deps --no-cache-dir --disable-pip-version-check -d "$folder/wheels" $packages >"$folder/log" 2>&1 ||
    why "pip cannot get $packages: $(tail -1 "$folder/log")"
  # Without what is there twice, the package's own OpenCL loader, and a plugin for linkers.
  python3 - "$folder" <<'PYTHON' || why "the packages in $folder/wheels cannot be unpacked"
import glob, os, re, shutil, sys, zipfile
os.mkdir(sys.argv[1] + "/lib")
for wheel in glob.glob(sys.argv[1] + "/wheels/*.whl"):
    with zipfile.ZipFile(wheel) as z:
        for name in z.namelist():
            base = os.path.basename(name)
            if "/data/lib/" in name and not re.match(r"libOpenCL|icx-lto|libintelocl\.so\.|libcommon_clang\.so$", base):
                with z.open(name) as source, open(sys.argv[1] + "/lib/" + base, "wb") as to:
                    shutil.copyfileobj(source, to)
PYTHON
  rm -rf "$folder/wheels"
  mkdir "$folder/vendors" && echo "$folder/lib/libintelocl.so" >"$folder/vendors/intel.icd" || why "$folder cannot be written"
  echo "$packages" >"$folder/packages"
fi
echo "export OCL_ICD_VENDORS='$folder/vendors'"
