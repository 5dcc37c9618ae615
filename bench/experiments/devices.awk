# The list of krylocl devices --json as cells for pivot.awk: one line per quantity, one column per device.
#   -v fields="QUANTITY=FIELD;QUANTITY=FIELD*FACTOR;QUANTITY=FIELD~WORD;..."   names of the study, fields of the list; ~: 1 if
#   the WORD is in the field, else 0
function content(line) { # of "name": content,
  sub(/^[^:]*:[ \t]*/, "", line)
  sub(/,$/, "", line)
  gsub(/"/, "", line)
  return line
}
function write_device(i, part, x) {
  for (i = 1; i <= n; i++) {
    split("", part)
    split(wanted[i], part, "[=*~]")
    x = part[2] in found ? found[part[2]] : ""
    if (x != "" && wanted[i] ~ /~/) x = (" " x " ") ~ (" " part[3] " ") ? 1 : 0
    else if (is_number(x) && part[3] != "") x *= part[3]
    if (x != "") print part[1] "\t" "krylocl: " found["name"] " " found["place"] "\t" x
  }
}
BEGIN { gsub(/\n/, "", fields); n = split(fields, wanted, ";") }
/^[ \t]*"/ {
  name = $0
  sub(/^[ \t]*"/, "", name)
  sub(/".*/, "", name)
  if (name == "place" && devices++) { write_device(); split("", found) }
  if (!(name in found)) found[name] = content($0)
}
END { if (!devices) exit 1; write_device() }
