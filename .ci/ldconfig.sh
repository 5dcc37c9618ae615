#!/bin/sh
# After `make install`: makes the dynamic linker find the shared library, or says how.
# usage: ldconfig.sh FOLDER LIBRARY
folder=$1 library=$2
[ "$(uname)" = Linux ] || exit 0
PATH=$PATH:/sbin:/usr/sbin
known() { ldconfig -p 2>/dev/null | grep -q "=> $folder/$library\$"; }
known && exit 0
if [ "$(id -u)" = 0 ] && ldconfig 2>/dev/null && known; then exit 0; fi
if ldconfig -v -N 2>/dev/null | grep -q "^${folder}/*:"; then
  echo "krylocl: run  ldconfig  as root, so that programs find $library"
else
  echo "krylocl: $folder is not searched for libraries: programs that use $library need LD_LIBRARY_PATH=$folder"
fi
