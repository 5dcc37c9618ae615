#!/bin/sh
# Rodriguez Losada 2010: kernel 1 (csr-unrolled) and kernel 2 (csr-group), real matrices in float and double, complex ones
# in both complex types; files of row lists in and out; coordinate files without a banner, from 0. Options: common.sh.
# shellcheck disable=SC2086 # lists of words, throughout
. "$(dirname "$0")/common.sh"
systems=$(choose bfwa62 bfwa782 circuit_3 ship_003 tmt_unsym qc324 mplate conf5_4-8x8-05 vfem ted_AB \
  bcsstk16 Dubcova1 wathen100 G2_circuit conf5_0-4x4-10 young1c)
if [ -n "$quick" ]; then systems="poisson2d:20 magnetic:12"; fi
describe_matrices $systems

awk -v down=matrix -v cell=field -f "$here/csv.awk" -f "$here/cells.awk" "$out/losada-matrices.csv" >"$work/fields"
choose_field() { # real or complex: the systems of that field
  for system in $systems; do
    grep -q "^$(short_name "$system")[[:space:]]*complex" "$work/fields" && field=complex || field=real
    [ $field != "$1" ] || echo "$system"
  done
}

# Fields of krylocl devices by the names of the study's list.
list_fields="compute units=compute_units;work-group, largest=max_work_group;clock=clock_mhz;largest buffer=max_alloc_bytes;
image support=images;cache=cache_bytes;global memory=memory_bytes;local memory=local_memory_bytes;device version=version;
driver version=driver;extensions=extensions;work-items per dimension, most=max_work_item_sizes;address bits=address_bits;
vector width char=preferred_vector_width_char;vector width short=preferred_vector_width_short;
vector width int=preferred_vector_width_int;vector width long=preferred_vector_width_long;
vector width float=preferred_vector_width_float;vector width double=preferred_vector_width_double;
kernel argument, most=max_parameter_size;base address alignment=mem_base_addr_align_bits;
alignment of types, least=min_data_type_align_size;denormals=single_fp_config~denorm;quiet NaN=single_fp_config~inf_nan;
round to nearest=single_fp_config~round_to_nearest;round to zero=single_fp_config~round_to_zero;
round to infinity=single_fp_config~round_to_inf;fused multiply-add=single_fp_config~fma;
constant buffer=max_constant_buffer_size;constant arguments=max_constant_args;local memory type=local_mem_type;
timer resolution=profiling_timer_resolution_ns;out-of-order queue=queue_properties~out_of_order;
profiling=queue_properties~profiling"

# The GPU layout, in which the kernels differ on CPU devices too.
runs=''
for field in real complex; do
  case $field in real) precisions=s,d ;; *) precisions=c,z ;; esac
  some=$(choose_field $field)
  [ -n "$some" ] || continue
  bench $field $some -s none -d "$devices" -t "$threads" --layout gpu --precision $precisions -f csr-unrolled,csr-group
  runs="$runs $field"
done

compare_kernels() { # precision, title, files of the study, factor of GFlop/s
  kernels="format~^csr;precision=$1"
  published "$3" -v across=study+device+format -v only='quantity~time per product'
  measured "$runs" -v across=device+place+format -v only="$kernels" -v cell=seconds_per_product -v scale=1e9
  table "$2: nanoseconds per product. Kernel 1 is csr-unrolled, kernel 2 is csr-group"
  published "$3" -v across=study+device+format -v only='quantity~GFlop'
  measured "$runs" -v across=device+place+format -v only="$kernels" -v cell=gflops -v scale="$4"
  table "$2: GFlop/s"
  published "$3" -v across=study+device+format -v only='quantity~CPU time by GPU time'
  measured "$runs" -v across=device+place+format -v only="$kernels" -v cell=mnnz_per_second -v base=place=cpu \
    -v same=matrix+format -v heading='krylocl, native CPU / '
  measured "$runs" -v across=device+place+format -v only="$kernels;kind~^(cpu|gpu)" -v cell=mnnz_per_second -v base=kind=cpu \
    -v same=matrix+format -v heading='krylocl, OpenCL CPU / '
  table "$2: time on the CPU / time on another device"
  published "$3" -v across=study+device -v only='quantity~time per product' -v base=format=csr-unrolled -v same=matrix+device
  measured "$runs" -v only="$kernels" -v cell=seconds_per_product -v base=format=csr-unrolled -v same=matrix+place
  table "$2: time of kernel 2 / time of kernel 1"
}

{
  published hd4850-and-stations -v down=quantity -v only='table=device list'
  measured_devices "$list_fields"
  table "The list of devices" -v corner=property
  published "table6.3-matrices-real table6.4-matrices-complex" -v across=study+quantity
  measured matrices -v across= -v heading="krylocl: rows" -v cell=rows
  measured matrices -v across= -v heading="krylocl: columns" -v cell=cols
  measured matrices -v across= -v heading="krylocl: nonzeros" -v cell=nnz
  measured matrices -v across= -v heading="krylocl: explicit zeros" -v cell=explicit_zeros
  table "Tables 6.3 and 6.4, matrices. Those of qc324 and mplate are misprinted in the study"
  compare_kernels s "Tables 6.5 and 6.6, float" "table6.5-kernel1-s table6.6-kernel2-s" 1
  compare_kernels c "Tables 6.7 and 6.8, complex float (4 operations per entry, as in the study)" \
    "table6.7-kernel1-c table6.8-kernel2-c" 0.5
  compare_kernels d "Table 6.10, double" table6.10-kernels-d 1
  compare_kernels z "Table 6.11, complex double (4 operations per entry, as in the study)" table6.11-kernels-z 0.5
} >"$out/losada-tables.md"

same() { # what, file, file: the two hold the same, comments apart
  grep -v '^%[^%]' "$2" >"$work/one"
  grep -v '^%[^%]' "$3" >"$work/two"
  if cmp -s "$work/one" "$work/two"; then echo "$name,$1,same" >>"$out/losada-files.csv"
  else echo "$name,$1,different" >>"$out/losada-files.csv"; failed "$name: $1: the matrix is not the same"; fi
}

# A file goes to another form and back; all entries are written, so that the symmetry is not part of it.
echo "matrix,file,result" >"$out/losada-files.csv"
for system in $systems; do
  name=$(short_name "$system")
  echo "$name" | grep -q : && "$K" generate "$system" -q -o "$work/A.rows" || "$K" convert "$system" -q -o "$work/A.rows" ||
    failed "$system: no row lists"
  "$K" convert "$work/A.rows" -q -o "$work/A.mtx" || failed "$name.rows cannot be read"
  "$K" convert "$work/A.mtx" -q -o "$work/B.rows" && same "row lists" "$work/A.rows" "$work/B.rows"
  # Those entries with the sizes alone as a heading, once from 1 and once from 0.
  grep -v '^%' "$work/A.mtx" >"$work/from1.txt"
  awk 'NR > 1 { $1--; $2-- } { print }' "$work/from1.txt" >"$work/from0.txt"
  for base in 1 0; do
    "$K" convert "$work/from$base.txt" --index-base $base -q -o "$work/C.mtx" &&
      same "coordinates from $base without a banner" "$work/A.mtx" "$work/C.mtx" || failed "$name: coordinates from $base"
  done
done
finish
