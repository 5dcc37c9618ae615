# A Markdown table of the cells of cells.awk: line, column and value, divided by tabs.
#   -v caption=TEXT  above it;  -v corner=TEXT above the names of the lines
#   -v most=1        of several values for one place the largest; otherwise the last
BEGIN { FS = "\t" }
{
  if (!($1 in seen_down)) { seen_down[$1] = 1; line[++lines] = $1 }
  if (!($2 in seen_across)) { seen_across[$2] = 1; head[++heads] = $2 }
  if (!most || !(($1, $2) in text) || $3 > text[$1, $2] + 0) text[$1, $2] = $3
}
END {
  if (!lines) exit 1
  print caption "\n"
  printf "| " corner " |"
  for (i = 1; i <= heads; i++) printf " %s |", head[i]
  printf "\n| --- |"
  for (i = 1; i <= heads; i++) printf " ---: |"
  print ""
  for (j = 1; j <= lines; j++) {
    printf "| %s |", line[j]
    for (i = 1; i <= heads; i++) printf " %s |", figure(text[line[j], head[i]])
    print ""
  }
  print ""
}
