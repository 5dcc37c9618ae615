/* Members of kcl_stats by name: the table of solver/interface/members.c has each of them, in order. */
#include "solver/interface/handles.h"
#include "tests/check.h"

static size_t size_of_kind(kcl_kind kind) {
  switch (kind) {
  case KCL_IS_DOUBLE: return sizeof(double);
  case KCL_IS_INT64: return sizeof(int64_t);
  case KCL_IS_BOOL: return sizeof(bool);
  default: return 0; /* kcl_stats has no others */
  }
}

/* Members lie side by side but for padding, which is less than a word. */
static void check_gap(size_t from, size_t to, const char *before) {
  if (from == offsetof(kcl_stats, bcsr_blocks)) from += sizeof((kcl_stats *)0)->bcsr_blocks;
  CHECKF(to >= from && to - from < sizeof(double), "%zu bytes before %s have no name", to - from,
         before);
}

int main(void) {
  size_t end = 0;
  for (const kcl_named *m = kcl_stats_members; m->name; m++) {
    check_gap(end, m->offset, m->name);
    CHECKF(size_of_kind(m->kind), "%s is of another kind", m->name);
    end = m->offset + size_of_kind(m->kind);
  }
  check_gap(end, sizeof(kcl_stats), "the end");
  return check_report();
}
