# Common parts of the experiments (docs/experiments.md): options, matrices, runs that count their failures, tables.
# usage: EXPERIMENT.sh [--quick] [--matrices DIR] [--names "A B"] [-d DEVICES] [-t THREADS] [-o DIR]
#   --quick         small systems and few samples: a test, not a measurement
#   --matrices DIR  folder of NAME.mtx or NAME.mtx.gz ($KRYLOCL_MATRICES, else ../shared/matrices)
#   --names LIST    these matrices: names in DIR, files, names of the collection (HB/nos4), or generated systems
#   --time-limit S  seconds of samples per row (0.5)
#   -d DEVICES      as krylocl bench --device (all);  -t THREADS  of the cpu device (max)
#   -o DIR          folder of the results (experiments)
# Environment: KRYLOCL, the program (build/krylocl); ATOMICS (build/bench/experiments/atomics).
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
K=${KRYLOCL:-$root/build/krylocl}
matrices=${KRYLOCL_MATRICES:-$root/../shared/matrices}
quick='' names='' limit=0.5 devices=all threads=max out=experiments failures=0
self=$(basename "$0" .sh)

while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=1 ;;
    --matrices | --names | --time-limit | -d | -t | -o)
      [ $# -gt 1 ] || { echo "$self: $1 needs a value" >&2; exit 2; }
      case $1 in --matrices) matrices=$2 ;; --names) names=$2 ;; --time-limit) limit=$2 ;; -d) devices=$2 ;; -t) threads=$2 ;; -o) out=$2 ;; esac
      shift ;;
    -h | --help) sed -n '2,10s/^# //p' "$here/common.sh"; exit 0 ;;
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

# Those of the names that can be had without a network, by --names those asked for.
choose() { # names of the experiment
  for name in ${names:-$*}; do
    system=$(matrix "$name")
    case $system in
      *:*) echo "$system" ;;
      *) if [ -f "$system" ] || [ -n "$names" ]; then echo "$system"; else echo "$self: no $name in $matrices: left out" >&2; fi ;;
    esac
  done
}

# krylocl bench into $out/$self-NAME.json and .csv. Exit code 5: every format refused, which the rows tell.
bench() { # name, operands and options
  result=$out/$self-$1
  shift
  status=0
  # shellcheck disable=SC2086
  "$K" bench "$@" $effort -q --json "$result.json" --csv "$result.csv" || status=$?
  [ $status = 0 ] || [ $status = 5 ] || failed "krylocl bench $*: exit code $status"
  ! grep -q ',"*failed: ' "$result.csv" || failed "$result.csv has rows that failed"
  "$K" report -q "$result.json" --markdown "$result.md" || failed "krylocl report $result.json"
}

table() { # CSV, variables of table.awk: a table on standard output
  csv=$1
  shift
  awk "$@" -f "$here/csv.awk" -f "$here/table.awk" "$csv" || failed "no table of $csv"
}

finish() {
  [ $failures = 0 ] || { echo "$self: $failures failures" >&2; exit 1; }
  echo "$self: results in $out"
}
