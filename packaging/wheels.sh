#!/bin/sh
# The wheel and the source distribution of Python, of the last commit, built in Debian bullseye as FOLDER/krylocl-*, if they are not there.
# Each SUITE (bookworm: Python 3.11, trixie: 3.13, forky: 3.14) is a bare system, FOLDER/SUITE, made anew, where both are installed and
# used: without an OpenCL loader, with PoCL, on a processor without AVX2. SUITE=SOURCE: with the CPython whose source is the folder SOURCE,
# built in FOLDER/SUITE-NAME-build, used in the bare system FOLDER/SUITE-NAME; NAME is the last part of SOURCE. As root. A trial prints its
# results; the rest of its output is FOLDER/SYSTEM.log.
# usage: packaging/wheels.sh FOLDER [SUITE[=SOURCE]...]      needs debootstrap and git
set -eu
[ $# -gt 0 ] || { sed -n '2,7s/^# //p' "$0" && exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift

bootstrap() { # SUITE SYSTEM: a bare system with a folder /packages; name servers, certificates and old lists of packages as here
  rm -rf --one-file-system "$2"
  script=/usr/share/debootstrap/scripts/$1
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
  debootstrap --variant=minbase --include=ca-certificates "$1" "$2" "" "$script" >"$2.debootstrap.log"
  cp /etc/resolv.conf "$2/etc"
  cp -L /etc/ssl/certs/ca-certificates.crt "$2/etc/ssl/certs"
  apt-config dump | grep '^Acquire::Check' >"$2/etc/apt/apt.conf.d/99check" || :
  mkdir "$2/packages"
}
inside() { # SYSTEM COMMAND: as root there, with /proc and /sys, in /packages
  # shellcheck disable=SC2016 # for that shell
  unshare --mount sh -c 'mount -t proc proc "$1/proc" && mount -t sysfs sys "$1/sys" &&
    PIP_ROOT_USER_ACTION=ignore DEBIAN_FRONTEND=noninteractive chroot "$1" sh -euc "cd /packages && $2"' sh "$1" "$2"
}
logged() { # LOG COMMAND...: with its output in LOG; the end of it where the command fails
  log=$1
  shift
  "$@" >"$log" 2>&1 || { tail -n 50 "$log" && echo "FAIL: $log" && exit 1; }
}

build_wheel() {
  system=$folder/bullseye-build
  bootstrap bullseye "$system"
  git -C "$tree" archive HEAD | tar x -C "$system/packages"
  # shellcheck disable=SC2016 # for the shell in the system
  logged "$system.log" inside "$system" 'apt-get update -qq
    apt-get install -y -qq --no-install-recommends gcc libc6-dev make zlib1g-dev opencl-headers python3-venv
    python3 -m venv /venv
    /venv/bin/pip install -q build
    /venv/bin/python -m build python'
  cp "$system"/packages/python/dist/krylocl-* "$folder"
}
build_python() { # SUITE SOURCE SYSTEM: SYSTEM/opt/python, with the names of the packages that its modules need at run time
  bootstrap "$1" "$3"
  cp -a "$2" "$3/packages/source"
  # shellcheck disable=SC2016 # for the shell in the system
  logged "$3.log" inside "$3" 'apt-get update -qq
    apt-get install -y -qq --no-install-recommends gcc libc6-dev make libssl-dev libffi-dev zlib1g-dev libsqlite3-dev libbz2-dev liblzma-dev
    cd source
    ./configure -q --prefix=/opt/python --disable-test-modules
    make -s -j"$(nproc)"
    make -s install
    ldd /opt/python/bin/python3 /opt/python/lib/python3*/lib-dynload/*.so | sed -n "s,.* => .*/\([^ /]*\) .*,*/\1,p" |
      sort -u | xargs dpkg -S | cut -d: -f1 | sort -u >/opt/python/packages'
}
try() { # SYSTEM PYTHON: the trial, and its results
  cp -a "$folder"/krylocl-* "$tree/packaging/try_wheel.sh" "$tree/docs/python.md" "$1/packages"
  mkdir "$1/packages/tests"
  cp "$tree/tests/abi.txt" "$1/packages/tests"
  logged "$1.log" inside "$1" "sh try_wheel.sh $2"
  cat "$1/packages/results"
}

tree=$(cd "$(dirname "$0")/.." && pwd)
if ! ls "$folder"/krylocl-*.whl >/dev/null 2>&1; then build_wheel; fi
for word; do
  suite=${word%%=*} source=${word#*=}
  if [ "$suite" = "$word" ]; then
    bootstrap "$suite" "$folder/$suite"
    try "$folder/$suite" python3
  else
    system=$folder/$suite-$(basename "$source")
    build_python "$suite" "$source" "$system-build"
    bootstrap "$suite" "$system"
    cp -a "$system-build/opt/python" "$system/opt"
    inside "$system" 'apt-get update -qq && xargs apt-get install -y -qq --no-install-recommends </opt/python/packages >/dev/null'
    try "$system" /opt/python/bin/python3
  fi
done
