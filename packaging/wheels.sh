#!/bin/sh
# The wheel and the source distribution of Python, of the last commit, built in Debian bullseye as FOLDER/krylocl-*, if they are not there.
# Each SUITE (bookworm: Python 3.11, trixie: 3.13, forky: 3.14) is a bare system, FOLDER/SUITE, where both are
# installed and used: without an OpenCL loader, with PoCL, on a processor without AVX2. As root. With SUITE=FOLDER2 the interpreter is
# FOLDER2/bin/python3 in a system that is there.
# usage: packaging/wheels.sh FOLDER [SUITE...]      needs debootstrap and git
set -eu
[ $# -gt 0 ] || { sed -n '2,6s/^# //p' "$0" && exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."

bootstrap() { # SUITE SYSTEM: a bare system with the name servers and certificates of this one
  rm -rf --one-file-system "$2"
  script=/usr/share/debootstrap/scripts/$1
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
  debootstrap --variant=minbase --include=ca-certificates "$1" "$2" "" "$script" >"$2.log"
  cp /etc/resolv.conf "$2/etc"
  cp -L /etc/ssl/certs/ca-certificates.crt "$2/etc/ssl/certs"
}
inside() { # SYSTEM COMMAND: as root there, with /proc and /sys, in /packages
  # shellcheck disable=SC2016 # for that shell
  unshare --mount sh -c 'mount -t proc proc "$1/proc" && mount -t sysfs sys "$1/sys" &&
    PIP_ROOT_USER_ACTION=ignore DEBIAN_FRONTEND=noninteractive chroot "$1" sh -euc "cd /packages && $2"' sh "$1" "$2"
}

if ! ls "$folder"/krylocl-*.whl >/dev/null 2>&1; then
  system=$folder/bullseye-build
  bootstrap bullseye "$system"
  mkdir "$system/packages"
  git archive HEAD | tar x -C "$system/packages"
  inside "$system" 'apt-get update -qq
    apt-get install -y -qq --no-install-recommends gcc libc6-dev make zlib1g-dev opencl-headers python3-venv >/dev/null
    python3 -m venv /venv
    /venv/bin/pip install -q build
    /venv/bin/python -m build python >build.log'
  cp "$system"/packages/python/dist/krylocl-* "$folder"
fi

for suite; do
  system=$folder/${suite%%=*} python=python3
  [ "$suite" = "${suite#*=}" ] || python=${suite#*=}/bin/python3
  [ -d "$system" ] || bootstrap "${suite%%=*}" "$system"
  rm -rf "$system/packages" && mkdir "$system/packages"
  cp "$folder"/krylocl-* packaging/try_wheel.sh docs/python.md "$system/packages"
  inside "$system" "sh try_wheel.sh $python"
done
