# Lines of a CSV file with a heading line: fields f[1], f[2], ...; column[NAME] is the number of a field. For the programs
# beside it: awk -f csv.awk -f table.awk FILE.
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
function figure(x) { return x == "" ? "-" : x >= 100 ? sprintf("%.0f", x) : sprintf("%.3g", x) }
{ split("", f); fields = split_csv($0, f) }
NR == 1 { for (i = 1; i <= fields; i++) column[f[i]] = i }
