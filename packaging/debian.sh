#!/bin/sh
# Debian packages of the last commit, from the tarball of `make dist` and packaging/debian, with lintian. Without SUITE they are built on
# this system, in FOLDER. For each SUITE (bookworm, trixie), as root, they are built in a system of that suite, FOLDER/SUITE-build, and
# installed into a bare one, FOLDER/SUITE, where packaging/try.sh uses them, and the tarball.
# usage: packaging/debian.sh FOLDER [SUITE...]      needs debhelper, lintian and the Build-Depends of packaging/debian/control; or debootstrap
set -eu
[ $# -gt 0 ] || { sed -n '2,5s/^# //p' "$0" && exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."

version=$(sed -n 's/.define KCL_VERSION "\(.*\)"/\1/p' include/krylocl.h)
make -s dist
mv "krylocl-$version.tar.gz" "$folder/krylocl_$version.orig.tar.gz"
unpack() { # FOLDER: the source package there
  rm -rf "$1" && mkdir -p "$1"
  cp "$folder/krylocl_$version.orig.tar.gz" "$1"
  tar xf "$1/krylocl_$version.orig.tar.gz" -C "$1"
  cp -r "$1/krylocl-$version/packaging/debian" "$1/krylocl-$version"
}
build="dpkg-buildpackage -us -uc && lintian --allow-root --fail-on error ../krylocl_$version-*.changes"
inside() { # SYSTEM COMMAND: as root there, with /proc
  # shellcheck disable=SC2016 # for that shell
  unshare --mount sh -c 'mount -t proc proc "$1/proc" && DEBIAN_FRONTEND=noninteractive chroot "$1" sh -euc "$2"' sh "$1" "$2"
}

if [ $# -eq 0 ]; then
  unpack "$folder/source"
  (cd "$folder/source/krylocl-$version" && sh -euc "$build")
fi
for suite; do
  system=$folder/$suite
  rm -rf --one-file-system "$system" "$system-build"
  debootstrap --variant=minbase "$suite" "$system" >"$folder/$suite.log"
  cp /etc/resolv.conf "$system/etc"
  cp -a "$system" "$system-build"
  unpack "$system-build/source"
  inside "$system-build" "cd /source/krylocl-$version
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends build-essential lintian >/source/log
    apt-get build-dep -y -qq ./ >/source/log
    $build"
  mkdir "$system/packages"
  cp "$system-build"/source/*.deb "$folder/krylocl_$version.orig.tar.gz" packaging/try.sh "$system/packages"
  inside "$system" "cd /packages && sh try.sh $version"
done
