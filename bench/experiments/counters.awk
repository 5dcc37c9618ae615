# Tables of krylocl bench -s none --profile as Markdown: bytes of a product beside the least of CSR, event times, counters.
# The least of CSR: every value and its column (4 bytes) once, the row pointers (4 bytes), x and y once.
function content(name) { return name in column ? f[column[name]] : "" }
function count(x) { return x == "" ? "-" : sprintf("%.4g", x) }
function us(name) { return content(name) == "" ? "-" : figure(content(name) * 1e6) }
FNR > 1 && content("status") == "ok" && content("format") != "sequential" {
  size = content("precision") == "s" ? 4 : content("precision") == "z" ? 16 : 8
  least = content("nnz") * (size + 4) + 4 * (content("rows") + 1) + size * (content("rows") + content("cols"))
  name = "| " content("matrix") " | " content("format") " | " content("device") " " content("place") " | "
  bytes = bytes name count(content("bytes_per_product")) " | " count(least) " | " \
    figure(content("bytes_per_product") / least) " |\n"
  per = content("profile_iterations")
  if (content("device_seconds") != "") {
    kernels = content("device_seconds") - content("gap_seconds") - content("write_seconds") - content("read_seconds")
    times = times name us("write_seconds") " | " figure(kernels * 1e6 / per) " | " us("read_seconds") " | " per " | " \
      us("start_up_seconds") " | " us("gap_seconds") " | " count(content("bytes_to_device")) " | " \
      count(content("bytes_to_device_least")) " | " count(content("bytes_back")) " | " count(content("bytes_back_least")) " |\n"
  }
  if (content("cycles") content("instructions") content("cache_misses") content("memory_bytes") != "")
    counters = counters name per " | " count(content("cycles")) " | " count(content("instructions")) " | " \
      count(content("cache_misses")) " | " count(content("memory_bytes")) " |\n"
}
END {
  if (bytes == "") exit 1
  print "Bytes per product, as krylocl counts them, beside the least of CSR\n"
  print "| matrix | format | device | bytes | CSR minimum | ratio |\n| --- | --- | --- | ---: | ---: | ---: |\n" bytes
  print "Figures 2, 5 and 6 (in the study bars without figures): event times in microseconds of writing matrix and vectors, of the " \
    "kernels of one product, and of reading y; start-up and gaps of all products of the profile, and bytes\n"
  if (times == "") print "None: no OpenCL device.\n"
  else print "| matrix | format | device | write | kernels of a product | read | products | start-up | gaps | to device | least | back | least |\n" \
    "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n" times
  print "Hardware counters of CPU devices\n"
  if (counters == "") print "None: this system does not let them be read (docs/bench.md).\n"
  else print "| matrix | format | device | products | cycles | instructions | cache misses | memory bytes |\n" \
    "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |\n" counters
}
