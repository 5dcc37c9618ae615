# Common parts of the experiments (docs/experiments.md): options, matrices, runs that count their failures, tables.
# usage: EXPERIMENT.sh [--quick] [--matrices DIR] [--names "A B"] [-d DEVICES] [-t THREADS] [-o DIR] [--keep-samples]
#   --quick         small systems and few samples: a test, not a measurement
#   --matrices DIR  folder of NAME.mtx or NAME.mtx.gz ($KRYLOCL_MATRICES, else ../shared/matrices)
#   --names LIST    these matrices: names in DIR, files, names of the collection (HB/nos4), or generated systems
#   --time-limit S  seconds of samples per row (0.5)
#   -d DEVICES      as krylocl bench --device (all);  -t THREADS  of the cpu device (max)
#   -o DIR          folder of the results (experiments): medians and intervals as CSV, tables as Markdown
#   --keep-samples  also all samples, as JSON for krylocl report, in the folder samples of it
# Environment: KRYLOCL, the program (build/krylocl); ATOMICS (build/bench/experiments/atomics).
# shellcheck disable=SC2086 # lists of words, throughout
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
K=${KRYLOCL:-$root/build/krylocl}
matrices=${KRYLOCL_MATRICES:-$root/../shared/matrices}
quick='' names='' keep='' limit=0.5 devices=all threads=max out=experiments failures=0
self=$(basename "$0" .sh)

while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=1 ;;
    --keep-samples) keep=1 ;;
    --matrices | --names | --time-limit | -d | -t | -o)
      [ $# -gt 1 ] || { echo "$self: $1 needs a value" >&2; exit 2; }
      case $1 in --matrices) matrices=$2 ;; --names) names=$2 ;; --time-limit) limit=$2 ;; -d) devices=$2 ;; -t) threads=$2 ;; -o) out=$2 ;; esac
      shift ;;
    -h | --help) sed -n '2,11s/^# //p' "$here/common.sh"; exit 0 ;;
    *) echo "$self: unknown option $1; -h prints the options" >&2; exit 2 ;;
  esac
  shift
done
[ -x "$K" ] || { echo "$self: no program $K: run make" >&2; exit 2; }
mkdir -p "$out" || exit 3
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
if [ -n "$quick" ]; then
  effort="--samples 3 --time-limit 0.02 --iterations 3"
else
  effort="--samples 15 --time-limit $limit --iterations 50"
fi

failed() { # text: a failure that the exit status tells
  echo "$self: $1" >&2
  failures=$((failures + 1))
}

# A name to what krylocl takes: the file of the folder, else the same matrix computed, else the name itself (a file, a
# generated system, or a name of the collection, which is downloaded).
matrix() { # name
  for file in "$matrices/$1.mtx" "$matrices/$1.mtx.gz"; do
    if [ -f "$file" ]; then echo "$file"; return; fi
  done
  case $1 in
    cage[0-9]*) echo "cage:${1#cage}" ;;
    mycielskian[0-9]*) echo "mycielskian:${1#mycielskian}" ;;
    bibd_[0-9]*) echo "$1" | sed 's/bibd_\([0-9]*\)_\([0-9]*\)/bibd:\1x\2/' ;;
    Trefethen_[0-9]*b) n=${1#Trefethen_}; echo "trefethen-minor:${n%b}" ;;
    Trefethen_[0-9]*) echo "trefethen:${1#Trefethen_}" ;;
    *) echo "$1" ;;
  esac
}

short_name() { basename "$1" .gz | sed 's/\.mtx$//'; } # a matrix without folders and endings

# Those of the names that can be had without a network, by --names those asked for.
choose() { # names of the experiment
  absent=''
  for name in ${names:-$*}; do
    system=$(matrix "$name")
    case $system in
      *:*) echo "$system" ;;
      *) if [ -f "$system" ] || [ -n "$names" ]; then echo "$system"; else absent="$absent $name"; fi ;;
    esac
  done
  [ -z "$absent" ] || echo "$self: left out, not in $matrices:$absent" >&2
}

# Those of the formats that this krylocl has, as a list for -f.
listed() { # formats
  "$K" list formats >"$work/formats"
  for format in "$@"; do
    if grep -q "^  $format " "$work/formats"; then echo "$format"; fi
  done | paste -sd , -
}

# The columns of krylocl bench and krylocl info that tables use.
columns='lanes group matrix field symmetry precision rows cols nnz explicit_zeros row_max row_deviation_percent format device place kind threads
  status validated noisy seconds_per_product seconds_per_product_low seconds_per_product_high bytes_stored bytes_per_product
  gbytes_per_second mnnz_per_second gflops speedup profile_iterations start_up_seconds device_seconds gap_seconds write_seconds
  read_seconds bytes_to_device bytes_to_device_least bytes_back bytes_back_least cycles instructions cache_misses memory_bytes'

shorten() { # CSV, CSV of the results
  awk -v keep="$columns" -f "$here/csv.awk" -f "$here/columns.awk" "$1" >"$2" || failed "no columns of $2"
}

# krylocl info into $out/$self-matrices.csv.
describe_matrices() { # operands
  "$K" info "$@" -q --csv "$work/matrices.csv" || failed "krylocl info $*"
  shorten "$work/matrices.csv" "$out/$self-matrices.csv"
}

# krylocl bench into $out/$self-NAME.csv. Exit code 5: every format refused, which the rows tell.
bench() { # name, operands and options
  result=$out/$self-$1.csv
  set -- "$@" --csv "$work/rows.csv" -q
  if [ -n "$keep" ]; then
    mkdir -p "$out/samples"
    set -- "$@" --json "$out/samples/$self-$1.json"
  fi
  shift
  status=0
  rm -f "$work/rows.csv"
  "$K" bench "$@" $effort || status=$?
  [ $status = 0 ] || [ $status = 5 ] || failed "krylocl bench $*: exit code $status"
  ! grep -q ',"*failed: ' "$work/rows.csv" || failed "$result has rows that failed"
  shorten "$work/rows.csv" "$result"
}

# A table is gathered from published figures and measured ones, each in columns of their own, and printed by `table`.
published() { # files of the study (table08-coo, or several words), options of cells.awk
  files=''
  for part in $1; do files="$files $here/published/$self-$part.csv"; done
  shift
  awk -v down=matrix -v across=study+device -v cell=value "$@" -f "$here/csv.awk" -f "$here/cells.awk" $files >>"$work/cells" ||
    failed "no cells of$files"
}

measured() { # runs of this script (perhaps none), options of cells.awk
  [ -n "$1" ] || return 0
  files=''
  for part in $1; do files="$files $out/$self-$part.csv"; done
  shift
  awk -v down=matrix -v across=device+place -v heading='krylocl: ' "$@" -f "$here/csv.awk" -f "$here/cells.awk" $files >>"$work/cells" ||
    failed "no cells of$files"
}

# Devices as krylocl sees them beside those of a study: quantities with the names of the study.
measured_devices() { # "NAME OF THE STUDY=field of devices -v --json[*factor];..."
  "$K" devices -v -q --json - | awk -v fields="$1" -f "$here/csv.awk" -f "$here/devices.awk" >>"$work/cells" || failed "krylocl devices"
}

table() { # caption, options of pivot.awk: a table on standard output
  caption=$1
  shift
  awk -v caption="$caption" -v corner=matrix "$@" -f "$here/csv.awk" -f "$here/pivot.awk" "$work/cells" || failed "no table: $caption"
  : >"$work/cells"
}

finish() {
  [ $failures = 0 ] || { echo "$self: $failures failures" >&2; exit 1; }
  echo "$self: results in $out"
}
