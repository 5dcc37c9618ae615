#!/bin/sh
# docs/gallery.md and its pictures are those that krylocl draws: `make gallery` makes them anew. usage: tests/gallery.sh build/krylocl
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$root/tests/program.inc"

sh "$root/bench/gallery.sh" "$prog" drawn >out 2>err
verdict $? "the gallery is drawn"
cmp "$root/docs/gallery.md" drawn/gallery.md >out 2>err
verdict $? "docs/gallery.md"
for picture in drawn/img/format-*.svg; do
  cmp "$root/docs/img/$(basename "$picture")" "$picture" >out 2>err
  verdict $? "docs/img/$(basename "$picture")"
done
[ "$(ls "$root"/docs/img/format-*.svg | wc -l)" = "$(ls drawn/img | wc -l)" ]
verdict $? "no other pictures"
for format in $("$prog" list formats | awk '/^  [a-z]/ { print $1 }'); do
  grep -q -e "^## $format\$" -e "\`$format\`" drawn/gallery.md
  verdict $? "$format is in the gallery"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
