/* Which combinations a conformance program tests.
 *
 *   KRYLOCL_FORMATS=ell,sell  KRYLOCL_SOLVERS=cg,idr  KRYLOCL_TYPES=dc    these alone; an unknown name is a failure
 *   KRYLOCL_SMALL=1           small sizes, for a simulated device
 *   KRYLOCL_THOROUGH=1        more combinations on a device (.ci/run); 2: all of them
 *
 * A device compiles what it runs, which takes nearly all of the time. So formats, methods, preconditioners and types take
 * turns there: each is met, and combinations with a kernel of their own, in the type whose turn it is. The native
 * executor compiles nothing and meets far more combinations.
 */
#ifndef KCL_FILTER_H
#define KCL_FILTER_H
#include "solver/calls.h"
#include "tests/check.h"
#include <string.h>

static inline int setting(const char *variable) {
  const char *s = getenv(variable);
  return s ? atoi(s) : 0;
}
/* The build has sanitizers: of systems in files the smallest are enough for the host's code. */
static inline bool sanitized(void) {
  const char *s = getenv("SAN");
  return s && *s;
}
/* Kernels are compiled with optimisation: a step of its own in .ci/run. */
static inline bool optimised(void) {
  const char *s = getenv("KRYLOCL_OPTIONS");
  return s && !*s;
}
static inline bool small(void) { return setting("KRYLOCL_SMALL"); }
static inline int thorough(void) { return setting("KRYLOCL_THOROUGH"); }
static inline bool few(void) { return small() && !thorough(); } /* each source once */

static inline bool wanted(kcl_type t) {
  const char *types = getenv("KRYLOCL_TYPES");
  return !types || !*types || strchr(types, kcl_type_letter(t));
}

/* Number i of a table meets one of the types that are wanted, in turn. */
static inline bool turn_of(kcl_type t, int i) {
  int before = 0, all = 0;
  for (kcl_type o = KCL_S; o <= KCL_Z; o++) all += wanted(o), before += wanted(o) && o < t;
  return wanted(t) && (thorough() > 1 || i % all == before);
}

/* Is the name in the variable's list? Without a list, every name is. */
static inline bool listed(const char *variable, const char *name) {
  const char *list = getenv(variable), *at = list ? strstr(list, name) : NULL;
  size_t n = strlen(name);
  while (at && !((at == list || at[-1] == ',') && (!at[n] || at[n] == ',')))
    at = strstr(at + 1, name);
  return !list || !*list || at;
}

static inline bool wanted_format(const char *name) { return listed("KRYLOCL_FORMATS", name); }
static inline bool wanted_solver(const char *name) { return listed("KRYLOCL_SOLVERS", name); }

/* An unknown name would test nothing. */
static inline void check_filter(const char *variable, kcl_registry registry) {
  const char *list = getenv(variable);
  for (const char *s = list; s && *s; s += strcspn(s, ","), s += *s == ',') {
    const size_t n = strcspn(s, ",");
    bool there = false;
    for (int i = 0; i < kcl_list_size(registry); i++) {
      const char *name = kcl_list(registry, i).name;
      there = there || (strlen(name) == n && !strncmp(name, s, n));
    }
    CHECKF(there, "%s: there is no '%.*s'", variable, (int)n, s);
  }
}

static inline void check_filters(void) {
  const char *types = getenv("KRYLOCL_TYPES");
  check_filter("KRYLOCL_FORMATS", KCL_FORMATS), check_filter("KRYLOCL_SOLVERS", KCL_SOLVERS);
  CHECKF(!types || !types[strspn(types, "sdcz")], "KRYLOCL_TYPES: %s, not of s d c z", types);
}
#endif
