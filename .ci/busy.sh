#!/bin/sh
# Runs a command that may be silent for long: on a terminal a line shows what it is and the seconds, with COUNT=FOLDER
# also how many files it has compiled there, and what the command prints appears at its end. The line is cut to the
# terminal's width.
# usage: [COUNT=FOLDER] busy.sh WHAT COMMAND...
what=$1
shift
if [ ! -t 2 ] || [ "${TERM:-dumb}" = dumb ] || [ -n "$V" ]; then exec "$@"; fi
log=$(mktemp) && mark=$(mktemp) || exec "$@"
"$@" >"$log" 2>&1 &
child=$!
trap 'kill $child 2>/dev/null' INT TERM HUP
begin=$(date +%s) tick=0.2
while kill -0 $child 2>/dev/null; do
  count=
  [ -z "$COUNT" ] || count=", $(find "$COUNT" -name '*.o' -newer "$mark" 2>/dev/null | wc -l | tr -d ' ') files"
  end="$count, $(($(date +%s) - begin)) s"
  columns=$(stty size <&2 2>/dev/null | cut -d' ' -f2)
  room=$((${columns:-80} - 1 - ${#end}))
  [ $tick = 0.2 ] || printf '\r%s%s\033[K' "$(printf '%s' "$what" | cut -c 1-$((room > 0 ? room : 1)))" "$end" >&2
  sleep $tick
  tick=0.5
done
wait $child
status=$?
printf '\r\033[K' >&2
cat "$log"
rm -f "$log" "$mark"
exit $status
