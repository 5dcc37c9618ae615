# The columns of a CSV file that tables use, without those that are empty, numbers in six digits, matrices without
# folders and endings: -v keep="NAME NAME ..."
function plain(text) {
  if (is_number(text) && text ~ /[.eE]/) return sprintf("%.6g", text)
  return text ~ /,/ ? "\"" text "\"" : text
}
FNR == 1 { n = split(keep, name, " ") }
{
  for (i = 1; i <= n; i++) {
    text[NR, i] = name[i] in column ? plain(NR == 1 ? name[i] : value(name[i])) : ""
    if (NR > 1 && text[NR, i] != "") used[i] = 1
  }
}
END {
  for (j = 1; j <= NR; j++) {
    line = ""
    for (i = 1; i <= n; i++) if (i in used) line = line "," text[j, i]
    print substr(line, 2)
  }
}
