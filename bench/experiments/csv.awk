# Lines of CSV files with heading lines: fields f[1], f[2], ...; column[NAME] is the number of a field. For the programs
# beside it: awk -f csv.awk -f cells.awk FILE...
function split_csv(line, f, n, i, c, quoted) { # commas within quotes do not divide
  n = 1; f[1] = ""
  for (i = 1; i <= length(line); i++) {
    c = substr(line, i, 1)
    if (c == "\"") quoted = !quoted
    else if (c == "," && !quoted) f[++n] = ""
    else f[n] = f[n] c
  }
  return n
}
function is_number(x) { return x ~ /^[-+]?[0-9]*[.]?[0-9]+([eE][-+]?[0-9]+)?$/ }
function figure(x) { # three digits or more of a number; a text as it is
  if (!is_number(x)) return x == "" ? "-" : x
  return x >= 100 ? sprintf("%.0f", x) : sprintf("%.3g", x)
}
function short_name(path) { # a matrix without folders and endings
  sub(/^.*\//, "", path); sub(/\.gz$/, "", path); sub(/\.mtx$/, "", path)
  return path
}
function value(names, part, n, i, text, one) { # of several columns, joined by +
  n = split(names, part, "+")
  for (i = 1; i <= n; i++) {
    if (!(part[i] in column)) { print FILENAME ": no column " part[i] > "/dev/stderr"; bad = 1; exit 1 }
    one = f[column[part[i]]]
    if (part[i] == "matrix") one = short_name(one)
    if (one != "") text = text (text == "" ? "" : " ") one
  }
  return text
}
BEGIN { CONVFMT = OFMT = "%.12g" }
{ split("", f); fields = split_csv($0, f) }
FNR == 1 { split("", column); for (i = 1; i <= fields; i++) column[f[i]] = i }
