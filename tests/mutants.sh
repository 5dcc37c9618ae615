#!/bin/sh
# Do the tests notice? Plants faults, one at a time, in a copy of the sources, builds, and runs the few tests that should fail.
# One line per fault: "red" with the test that noticed, "TIMED OUT", which is no proof, or "NOT NOTICED". Run by hand, some minutes;
# needs a build (make all tests) with the compiler that is to be used.
# usage: [BUILD=build] tests/mutants.sh [NAME...]      NAME: these faults alone
#        [BUILD=build] tests/mutants.sh --some N       N of them, others every day (.ci/run)
#        tests/mutants.sh --texts                      whether the text of every fault is found: no build, no test (make lint)
# A fault whose text is no longer found, once, in its file is an error: change it here together with the code.
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
all=0 unnoticed=0 errors=0 texts= names=" $* "
case $1 in
  --texts) texts=1 names='  ' && cd "$root" || exit 1 ;;
  --some)
    names=" $(sed -n 's/^mutant \([^ ]*\) .*/\1/p' "$0" | awk -v day="$(date +%Y%m%d)" 'BEGIN { srand(day) } { print rand(), $0 }' |
      sort | awk -v n="$2" 'NR <= n { print $2 }' | paste -sd' ' -) " ;;
esac

# The file given with TEXT (OLD) replaced (NEW); fails unless it is there once.
plant() {
  awk '{ i = index($0, ENVIRON["OLD"]); if (i) { n++; $0 = substr($0, 1, i - 1) ENVIRON["NEW"] substr($0, i + length(ENVIRON["OLD"])) } print }
    END { exit n != 1 }' "$1"
}
prepare() { # a copy with the build, which compiles without any fault
  build=$(cd "${BUILD:-$root/build}" && pwd) || exit 1
  copy=$(mktemp -d) || exit 1
  trap 'rm -rf "$copy"' EXIT
  CC=$(sed 's/ -std=c11.*//' "$build/flags") # what the objects were built with
  KRYLOCL_CACHE= KRYLOCL_OPTIONS=-cl-opt-disable XDG_CACHE_HOME=${KRYLOCL_TEST_CACHE:-$build/cache}
  POCL_CACHE_DIR=${POCL_CACHE_DIR:-$XDG_CACHE_HOME/pocl}
  export KRYLOCL_CACHE KRYLOCL_OPTIONS XDG_CACHE_HOME POCL_CACHE_DIR
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  (cd "$root" && tar cf - --exclude='./build*' --exclude=./.git --exclude=./demo .) | (cd "$copy" && tar xf -) || exit 1
  mkdir "$copy/build"
  (cd "$build" && tar cf - --exclude=cache --exclude=logs .) | (cd "$copy/build" && tar xf -) || exit 1
  cd "$copy" || exit 1
  find build -name '*.d' -type f -exec sed -i "s|^${BUILD:-build}/|build/|" {} + # else a fault in a header compiles nothing
  compile test_names test_program test_methods test_persistent test_read conform_exec conform_control conform_solver conform_mixed conform_refused \
    conform_alloc test_first_solve || { echo "ERROR: the tests do not compile" && tail -5 log && exit 1; }
}

compile() { # the test programs given; what is compiled stays, whatever its flags
  make -o build/flags -j"$(getconf _NPROCESSORS_ONLN)" CC="$CC" BUILD=build $(printf 'build/tests/%s ' "$@") >log 2>&1
}

# The settings and the program of one test, such as "KRYLOCL_TYPES=d conform_exec"; programs of mpi/ run on two ranks. The first
# failure ends it: with a fault, the rest may take long.
passes() {
  program=$(echo "$1" | awk '{ print $NF }')
  settings=$(echo "$1" | awk '{ $NF = ""; print }')
  ranks=
  case $program in mpi/*) ranks="mpirun -q --oversubscribe -n 2" ;; esac
  env $settings timeout 3600 $ranks stdbuf -oL "build/tests/$program" >log 2>&1 </dev/null &
  running=$!
  while kill -0 $running 2>/dev/null; do
    if grep -q '^FAIL' log; then kill $running 2>/dev/null; fi
    sleep 0.1
  done
  wait $running
}

# mutant NAME FILE TEXT REPLACEMENT TEST...
mutant() {
  name=$1 file=$2
  export OLD="$3" NEW="$4"
  shift 4
  [ "$names" = "  " ] || case $names in *" $name "*) ;; *) return ;; esac
  if [ -z "$texts" ] && [ ! -x build/tests/mpi/conform_mpi ]; then
    case $* in *mpi/*) echo "skipped      $name: no MPI" && return ;; esac
  fi
  all=$((all + 1))
  if [ "$texts" ]; then
    plant "$file" >/dev/null || { echo "FAIL $name: not there, or more than once, in $file: $OLD" && errors=$((errors + 1)); }
    return
  fi
  cp "$file" original
  programs=$(for t; do echo "$t" | awk '{ print $NF }'; done | sort -u)
  if ! plant original >"$file"; then
    echo "ERROR        $name: the text is not there, or more than once, in $file: $OLD" && errors=$((errors + 1))
  elif ! compile $programs; then
    echo "ERROR        $name: does not compile" && tail -5 log && errors=$((errors + 1))
  else
    noticed= late=
    for t; do
      passes "$t" && continue
      [ $? != 124 ] || grep -q '^FAIL' log || { late=$t && continue; }
      noticed=$t
      break
    done
    if [ -z "$noticed$late" ]; then echo "NOT NOTICED  $name" && unnoticed=$((unnoticed + 1))
    elif [ -z "$noticed" ]; then echo "TIMED OUT    $name ($late)" && errors=$((errors + 1))
    else echo "red          $name ($noticed: $(grep -m1 FAIL log | sed 's/^FAIL //' | cut -c1-90))"; fi
  fi
  cp original "$file" # newer than the object, which is compiled again
}

[ "$texts" ] || prepare

# ---- the recorder: who joins a stage
P=core/program/record.c
mutant recorder-gathered $P '!(s->A && op.code != KCL_OP_DOT && op.y == s->x)' true test_program
mutant recorder-first-coefficient $P '(s->n == 0 || s->space == space) && !pending(s, op.a.slot)' '(s->n == 0 || s->space == space)' test_program
mutant recorder-second-coefficient $P '!pending(s, op.b.slot) && !stage_is_full(s)' '!stage_is_full(s)' test_program
mutant recorder-length $P '(s->n == 0 || s->space == space)' true test_program
mutant recorder-scatter $P 'if (s->A && kcl_stored_scatters(s->A)) return false;' '' test_program
mutant recorder-full $P '> KCL_MOST_STAGE_VECTORS - 3' '> KCL_MOST_STAGE_VECTORS + 3' test_program
mutant recorder-old-value $P '(test || !used_as_coefficient(s, op.slot))' true test_program
mutant recorder-step $P 'joins = joins && !s->vectors && !kcl_stage_operator(s)' 'joins = joins && !kcl_stage_operator(s)' test_program
mutant recorder-same-dot $P "if (o->code != KCL_OP_DOT && (o->y == x || o->y == y)) break;" '' test_program
# ---- the byte model
P=core/program/stage.c
mutant bytes-doubled $P 'bytes += bytes_of_vector(k, list[v], nrhs) *' 'bytes += 2 * bytes_of_vector(k, list[v], nrhs) *' test_methods
mutant bytes-constants $P '(kcl_vector_shared(k, v) ? 1 : nrhs)' nrhs test_methods
# ---- functions in place of a matrix
mutant shell-thread core/cpu/batch.c 'return b->step != CALLING;' 'return b->step != CALLING || (b->step = 0, call_function(b), true);' conform_shell
mutant shell-stopped core/opencl/run/call.c 'if (r->idle[0]) return KCL_OK;' '' conform_shell
mutant shell-failure core/cpu/batch.c 'if (!kcl_program_ranks(b->e->k)) b->status = rc;' '' test_shell
# ---- reductions carried across the loop; residual replacement
mutant recorder-seeds $P 'bool seeds = k->carried &&' 'bool seeds = false && k->carried &&' test_program
mutant replacement-host solver/engine/engine.c 'if (!rc) rc = ex->run(ex, KCL_REPLACE, 1);' '' test_program
mutant replacement-interval solver/engine/engine.c '*since = 0;' '*since = 1;' test_program
# ---- reductions
mutant sums-cpu core/cpu/state.h 'for (int c = 0; !e->chunk' 'for (int c = 1; !e->chunk' 'KRYLOCL_TYPES=d conform_exec'
mutant sums-fused kernels/scalar.clh '#define r_fma(a, b, c) fma(a, b, c)' '#define r_fma(a, b, c) ((a) * (b) + (c))' 'KRYLOCL_TYPES=d test_same_bits'
mutant interpreter-coefficient kernels/interpreter.cl 's_mul(b, z[i])' 's_mul(a, z[i])' test_interpreter
mutant interpreter-row kernels/interpreter.cl 'k < row_ptr[row + 1]; k += lanes)' 'k < row_ptr[row + 1]; k++)' test_interpreter
mutant sums-row kernels/rows.clh 'sum = sum + (first + second);' 'sum = (sum + first) + second;' 'KRYLOCL_TYPES=d test_same_bits'
mutant sums-opencl kernels/stage.clh 'a[q] = s_make(0);' 'a[q] = s_make(1);' 'KRYLOCL_TYPES=d conform_exec'
# ---- the control block
mutant stop-cpu core/cpu/batch.c 'active[c] = !control->stop ||' 'active[c] = true ||' conform_reasons
mutant stop-opencl kernels/stage.clh 'if (!control[c * CONTROL + STOP] ||' 'if (true ||' conform_reasons
mutant limit kernels/stage.clh 'stop_when(control[ITERATION] >= control[LIMIT], ITERATION_LIMIT, control);' '' conform_reasons
# ---- claims and certificates
mutant claims solver/loop/loop.c 'if (l->rr[i] <= kcl_square(v->target)) continue;' 'continue;' 'KRYLOCL_TYPES=s conform_multi_rhs'
mutant certificate solver/certify.c 'kcl_ratio(n->r, n->b) + none' '0 + none' 'KRYLOCL_TYPES=s conform_solver'
mutant certificate-ignored solver/certify.c '!(residual <= allowed)' 'false' test_certify
# ---- mixed precision
mutant mixed-scale solver/mixed/run.c 'l->engine, m->unit / *scale)' 'l->engine, 1 / *scale)' conform_mixed
mutant mixed-range solver/mixed/run.c 'if (!resumes) *scale = ldexp(1, -ilogb(norm));' 'if (!resumes) *scale = 1;' conform_mixed
mutant mixed-range-again solver/mixed/run.c 'norm * *scale > ldexp(1, RANGE)' 'true' conform_mixed
# ---- formats: predicted bytes, names, the choice
mutant bytes-of-format spmv/msr.c 's->nnz - s->diagonal_entries' 's->nnz' 'KRYLOCL_FORMATS=msr KRYLOCL_TYPES=d conform_spmv'
mutant columns-narrow spmv/sell16.c 'bool narrow = kcl_slice_span(A) <= MOST_SPAN;' 'bool narrow = true;' 'KRYLOCL_FORMATS=sell-dict conform_spmv'
mutant reserved-names core/matrix/stored.c 'KCL_CALL(kcl_stored_check_names(m));' '' test_names
mutant reserved-incomplete core/matrix/names.c '"version",' '' test_names
mutant choice-refusals spmv/rank.c 'if (refusal(ctx, r.format, s, type)) continue;' '' conform_refused
# ---- multigrid, incomplete factors, an update
mutant amg-cycle multigrid/cycle.c 'smooth_again(c, l, x, q);' '(void)smooth_again;' 'KRYLOCL_TYPES=d conform_precond'
mutant amg-strength multigrid/strong.c 'kcl_rounded(s->theta * most)' 'kcl_rounded(0.5 * s->theta * most)' conform_setup
mutant amg-smoothed-prolongation multigrid/tentative.c '.omega = 4.0 / 3 / largest' '.omega = 1 / largest' conform_aggregation
mutant factor-columns factors/factored.c 'u[k] *= c[i] / c[U->col[k / width]];' 'u[k] *= 1;' 'KRYLOCL_TYPES=d conform_precond' conform_ilu
mutant update-symmetry core/matrix/symmetry.c 'if (code != m->code) compare_offset' 'if (m->code < 0) compare_offset' test_structure
mutant update-columns core/matrix/values.c 'return by_structure && !c.zeros ?' 'return by_structure ?' test_structure
mutant nan-row core/base/team.h 'return b <= a || isnan(a) ? a : b' 'return b <= a ? a : b' test_misuse
mutant update-statistics solver/setup.c 'if (!rc && !s->known) rc = kcl_csr_values' 'if (!rc && !s->known && !s->structure_known) rc = kcl_csr_values' test_update_hierarchy
mutant update-offsets core/matrix/symmetry.c 'k += (last - j) * step, j = last;' 'j = last;' test_structure
mutant update-runs core/matrix/offset_runs.c 'i == 0 || !kcl_rows_moved(s->A, 1, i, 1)' 'i == 0' test_structure
mutant update-stale solver/engine/engine.c 'if (e->stale) kcl_stored_refill(e->operators[0], kcl_system_matrix(s), s->runs);' '' test_update_hierarchy
mutant multigrid-float multigrid/levels.c 'g->b.narrow || g->b.M->type == KCL_S ? g->b.ops->round' 'g->b.narrow ? g->b.ops->round' test_precond_properties
mutant update-pattern solver/sums.c 'now->row_ptr != sums->row_ptr || now->col != sums->col' 'false' test_update_hierarchy
mutant keep-hierarchy solver/setup.c 'c->way.precond->hierarchy && !before->hierarchy' 'false' test_update
mutant keep-matrix solver/engine/precond.c 'if (!rc) M->A = kcl_stored_share(A);' '' test_update
mutant given-symmetry solver/precond/setup.c '(m->hermitian && !(symmetric && M->hermitian))' 'false' test_precond_shell
# ---- scaling
mutant scaling-x solver/engine/given.c 'v.power, -v.sign, -v.shift)' 'v.power, v.sign, -v.shift)' conform_scale
mutant scaling-norm solver/engine/scale.c 'kcl_scale_vector(wide, copy, n, power, 1, -most);' 'kcl_scale_vector(wide, copy, n, power, -1, -most);' conform_scale
mutant scaled-direct solver/rescue.c 'solve_directly(s, l, s->system.scaling.row, &f)' 'solve_directly(s, l, false, &f)' conform_scale
mutant selftest-sweeps solver/engine/selftest_runs.c 'device->layout == KCL_LAYOUT_GPU' 'false' test_selftest
mutant fill-level factors/fill.c 'f->level[m] + 1' 'f->level[m]' test_fill
mutant scaling-tested solver/certify.c 'return s->scaling.row ? kcl_residual_of' 'return false ? kcl_residual_of' conform_scale
# ---- several ranks
mutant ranks-sum distributed/ranks.c 'values[i] += all[1 + i];' 'values[i] = all[1 + i];' 'KRYLOCL_SOLVERS=cg mpi/conform_mpi'
mutant ranks-halo distributed/halo.c '(int32_t)(asked[i] - first);' '(int32_t)(0 * (asked[i] - first));' 'KRYLOCL_SOLVERS=cg mpi/conform_mpi'
mutant ranks-certificate solver/certify.c 'return q->ranks ? q->ranks->norm(q->ranks, q->type, v, n)' 'return q->ranks ? norm_2(q->type, v, n, m)' 'KRYLOCL_SOLVERS=cg mpi/conform_mpi'
# ---- files, memory
mutant reader-duplicates data/files/csr_build.c 'same ? add_mirrored(*sum, v, negated && col[m] > r) : v;' 'v;' test_read
mutant leak solver/engine/engine.c 'free((*e)->operators);' '' conform_alloc
mutant leak-next-method solver/auto/adapt.c 'if (rc || !fits) kcl_engine_free(out);' 'if (!fits) kcl_engine_free(out);' conform_alloc
# ---- lost devices
mutant lost-answer solver/readback.c 'k->known ? k->x : NULL' 'NULL' test_fallback
# ---- reads from a device
D=core/opencl/device/download.c
mutant download-overwritten $D 'return chunk < KCL_CHUNKS || p->copied' 'return true || p->copied' conform_upload
mutant download-offset $D 'CL_TRUE, CL_MAP_READ, offset, bytes, 0, NULL,' 'CL_TRUE, CL_MAP_READ, 0 * offset, bytes, 0, NULL,' conform_upload
mutant download-late $D 'ring_place(p, chunk), 0, NULL, read);' 'p->to + first_byte(p, chunk), 0, NULL, read);' test_fallback
mutant download-profile $D 'kcl_profile_keep(p->o, *read, "read", bytes);' '(void)0;' test_transfers
mutant transfer-room core/opencl/device/watched_transfers.c 'bytes > ROOM ? bytes : ROOM' 'ROOM' test_transfers
# ---- the persistent kernel's protocol
G=kernels/persistent.clh M=kernels/messages.clh R=kernels/release.clh S=core/opencl/persistent/persistent_stage_source.c
mutant message-sequence $M '*late |= ANY(o.odd ^ sequence);' '*late |= 0;' test_persistent
mutant message-parity $G '((number) & 1) * MOST_DOTS' '0 * MOST_DOTS' test_persistent
mutant halo-wait $G 'late = (int)(load_acquire(flags + g) - version) < 0;' 'late = 0;' test_persistent
mutant halo-release $R 'atomic_xchg(to, a);' '*to = a;' test_persistent
mutant halo-copies $S '"p_%s.current = n - p_%s.current;\n' '"p_%s.current = 0 * (n - p_%s.current);\n' test_persistent
mutant total-early $S 'SYNC();\nactive = control[WAS_ACTIVE];' 'active = control[WAS_ACTIVE];' test_persistent
mutant total-one-group $G 'g < MEMBERS; g += WG' 'g < MEMBERS - 1; g += WG' test_persistent
mutant persistent-replacement core/opencl/persistent/persistent_source.c 'if (++since_replace == %d)' 'if (++since_replace == -%d)' test_program
mutant launch-sequence core/opencl/persistent/persistent.c 'p->number +=' 'p->number = 0 *' test_persistent
mutant grid-barrier kernels/persistent.cl 'send_sums(mailbox, ++number, 0, total, scratch);' '++number;' test_persistent
mutant compilation-counts solver/auto/draft.c 'return d->share * d->compile + d->iterations * d->each;' 'return d->iterations * d->each;' test_first_solve
mutant compiled-at-once core/device/later.c 'l->lost + fmax(seconds, 0) < l->seconds' '0' test_first_solve
mutant loss-of-processes core/device/later.c 'read_lost(l->key) + l->unsaved;' 'l->unsaved;' test_first_solve
mutant values-as-before solver/auto/draft.c 'stages.fusion = b->engine->program->fusion;' '(void)b;' test_first_solve
mutant compiled-ahead-kept core/opencl/device/compile_ahead.c 'if (j->built) kcl_opencl_store(o, j->key, p);' '' test_first_solve
mutant waits-for-ahead core/opencl/device/compile_ahead.c 'if (wanted) adopt_ahead(o);' '' test_first_solve
mutant seeds-by-all kernels/stage.clh 'partial[g] = g ? s_make(0) : sum;' 'partial[g] = sum;' test_program

echo "$all faults, $unnoticed not noticed, $errors errors"
[ $((unnoticed + errors)) -eq 0 ]
