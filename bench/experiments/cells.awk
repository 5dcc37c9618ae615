# The cells of a table from CSV files with heading lines: line, column and value, divided by tabs, for pivot.awk.
#   -v down=COLUMN   the line;  -v across=COLUMN the column. Each may be several columns, joined by +.
#   -v heading=TEXT  before the column; without across it is the column
#   -v cell=COLUMN   the value;  -v scale=1 its factor
#   -v only="COLUMN=VALUE;COLUMN~PATTERN;..."   rows of these values alone
#   -v base=COLUMN=VALUE -v same=COLUMN         value / that of the row with VALUE in COLUMN and the same in the columns of same
# A row that was not measured has its status: refused, same as FORMAT.
function selected(tests, test, n, i, at) {
  n = split(tests, test, ";")
  for (i = 1; i <= n; i++) {
    at = match(test[i], /[=~]/)
    if (substr(test[i], at, 1) == "=" && value(substr(test[i], 1, at - 1)) != substr(test[i], at + 1)) return 0
    if (substr(test[i], at, 1) == "~" && value(substr(test[i], 1, at - 1)) !~ substr(test[i], at + 1)) return 0
  }
  return 1
}
function write_cell(i) {
  if (base == "") print place[i] "\t" content[i]
  else if (group[i] in reference && is_number(content[i])) print place[i] "\t" content[i] / reference[group[i]]
}
BEGIN { if (!scale) scale = 1 }
FNR > 1 && selected(only) {
  status = "status" in column ? f[column["status"]] : "ok"
  sub(/:.*/, "", status)
  x = status == "ok" ? value(cell) : status
  if (is_number(x)) x *= scale
  name = base == "" ? "" : value(same)
  if (base != "" && selected(base)) {
    if (is_number(x)) reference[name] = x
    next
  }
  content[++n] = x
  group[n] = name
  place[n] = value(down) "\t" heading (across == "" ? "" : value(across))
}
END { if (bad) exit 1; for (i = 1; i <= n; i++) write_cell(i) }
