# A Markdown table of a CSV file with a heading line: one line per value of -v down=COLUMN, one column per value of
# -v across=COLUMN, in each the -v cell=COLUMN times -v scale=1. down and across may be several columns, joined by +.
#   -v only=COLUMN=VALUE  lines with that value alone     -v caption=TEXT  above it
# A row that was not measured shows its status: refused, same as FORMAT.
# Matrices are named without folders and endings.
function name(path) { sub(/^.*\//, "", path); sub(/\.gz$/, "", path); sub(/\.mtx$/, "", path); return path }
function value(names, part, n, i, text, one) {
  n = split(names, part, "+")
  for (i = 1; i <= n; i++) {
    if (!(part[i] in column)) { print "table.awk: no column " part[i] > "/dev/stderr"; bad = 1; exit 1 }
    one = f[column[part[i]]]
    if (part[i] == "matrix") one = name(one)
    if (one != "") text = text (text == "" ? "" : " ") one
  }
  return text
}
BEGIN { if (!scale) scale = 1; split(only, want, "=") }
NR > 1 {
  if (only != "" && value(want[1]) != want[2]) next
  a = value(across); d = value(down)
  if (!(a in seen_across)) { seen_across[a] = 1; head[++heads] = a }
  if (!(d in seen_down)) { seen_down[d] = 1; line[++lines] = d }
  status = "status" in column ? f[column["status"]] : "ok"
  sub(/:.*/, "", status)
  x = value(cell)
  text[d, a] = status == "ok" ? figure(x == "" ? "" : x * scale) : status
}
END {
  if (bad || !lines) exit 1
  if (caption != "") print caption "\n"
  printf "| " down " |"
  for (i = 1; i <= heads; i++) printf " %s |", head[i]
  printf "\n| --- |"
  for (i = 1; i <= heads; i++) printf " ---: |"
  print ""
  for (j = 1; j <= lines; j++) {
    printf "| %s |", line[j]
    for (i = 1; i <= heads; i++) printf " %s |", (line[j], head[i]) in text ? text[line[j], head[i]] : "-"
    print ""
  }
  print ""
}
