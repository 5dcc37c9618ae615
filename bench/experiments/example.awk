# The worked example as Matrix Market: the entries NAME(i) or NAME(i,j) of the published file, i and j from 0. -v name=A
FNR > 1 && index(value("quantity"), name "(") == 1 {
  n = split(value("quantity"), index_of, /[(),]/)
  rows = f[column["rows"]]
  entry[++entries] = n == 4 ? index_of[2] + 1 " " index_of[3] + 1 " " value("value") : value("value")
  coordinates = n == 4
}
END {
  if (!entries) exit 1
  print "%%MatrixMarket matrix " (coordinates ? "coordinate" : "array") " real general"
  print coordinates ? rows " " rows " " entries : entries " 1"
  for (i = 1; i <= entries; i++) print entry[i]
}
