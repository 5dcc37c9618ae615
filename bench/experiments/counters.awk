# Tables of krylocl bench --profile as Markdown: bytes of a product beside the least of CSR, event times, counters.
# The least of CSR: every value and its column (4 bytes) once, the row pointers (4 bytes), x and y once.
function number_of(name) { return f[column[name]] }
function count(x) { return x == "" ? "-" : sprintf("%.4g", x) }
function us(name, per) { return number_of(name) == "" ? "-" : figure(number_of(name) * 1e6 / per) }
NR > 1 && number_of("status") == "ok" && number_of("format") != "sequential" {
  size = number_of("precision") == "s" ? 4 : number_of("precision") == "z" ? 16 : 8
  least = number_of("nnz") * (size + 4) + 4 * (number_of("rows") + 1) + size * (number_of("rows") + number_of("cols"))
  name = "| " number_of("matrix") " | " number_of("format") " | " number_of("kind") " " number_of("place") " | "
  bytes = bytes name count(number_of("bytes_per_product")) " | " count(least) " | " \
    figure(number_of("bytes_per_product") / least) " |\n"
  per = number_of("profile_iterations")
  if (number_of("device_seconds") != "") {
    kernels = number_of("device_seconds") - number_of("gap_seconds") - number_of("write_seconds") - number_of("read_seconds")
    times = times name per " | " us("start_up_seconds", 1) " | " us("write_seconds", 1) " | " figure(kernels * 1e6) " | " \
      us("gap_seconds", 1) " | " us("read_seconds", 1) " | " count(number_of("bytes_to_device")) " | " \
      count(number_of("bytes_to_device_least")) " | " count(number_of("bytes_back")) " | " count(number_of("bytes_back_least")) " |\n"
  }
  if (number_of("cycles") number_of("instructions") number_of("cache_misses") number_of("memory_bytes") != "")
    counters = counters name per " | " count(number_of("cycles")) " | " count(number_of("instructions")) " | " \
      count(number_of("cache_misses")) " | " count(number_of("memory_bytes")) " |\n"
}
END {
  if (bytes == "") exit 1
  print "Bytes per product, as krylocl counts them, beside the least of CSR\n"
  print "| matrix | format | device | bytes | CSR minimum | ratio |\n| --- | --- | --- | ---: | ---: | ---: |\n" bytes
  print "Event times in microseconds of so many iterations of cg, and bytes\n"
  if (times == "") print "None: no OpenCL device.\n"
  else print "| matrix | format | device | iterations | start-up | write | kernels | gaps | read | to device | least | back | least |\n" \
    "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n" times
  print "Hardware counters of CPU devices\n"
  if (counters == "") print "None: this system does not let them be read (docs/bench.md).\n"
  else print "| matrix | format | device | iterations | cycles | instructions | cache misses | memory bytes |\n" \
    "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |\n" counters
}
