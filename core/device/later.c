/* Programs whose compilation has to pay first. While an engine iterates in place of a faster one that is not compiled, nobody knows how many
 * iterations will come. So the seconds that it loses are added up, over solves and processes, and compilation begins when they reach the
 * seconds that it is expected to take:
 *
 *   lost on record + lost since + lost, or about to be lost, by this solve >= seconds to compile
 *
 * Loss and compilation together then take at most about twice as long as the best decision in hindsight (ski rental; Karlin et al. 1988). The
 * record is an entry of the cache folder for each list of programs; it ends when their compilation begins. Processes that add to it at the
 * same time may lose each other's seconds, and one that is killed those of its last solves. */
#include "core/base/cache.h"
#include "core/device/device.h"
#include <inttypes.h>

static const double SHARE = 0.01; /* of the seconds to compile, after which the record is written */
static const char record_folder[] = "compile";

struct kcl_later {
  kcl_context *ctx;
  kcl_ahead *ahead; /* until it begins; owned */
  int owners;
  bool begun;
  double seconds; /* to compile, expected */
  double lost;    /* by all solves that are known of, */
  double unsaved; /* and of these not on record yet */
  char key[40];   /* of the record */
};

static double read_lost(const char *key) {
  double lost = 0;
  size_t size = 0;
  void *kept = kcl_cache_get(record_folder, key, &size);
  if (kept && size == sizeof lost) memcpy(&lost, kept, size);
  free(kept);
  return lost > 0 && lost < 1e9 ? lost : 0;
}

static void save_lost(kcl_later *l) {
  const double all = read_lost(l->key) + l->unsaved;
  kcl_cache_put(record_folder, l->key, &all, sizeof all);
  l->unsaved = 0;
}

kcl_later *kcl_later_create(const kcl_program *k, const kcl_executor *ex) {
  kcl_ahead *a = k->ctx->opencl ? kcl_opencl_backend->ahead(ex) : NULL;
  kcl_later *l = a ? calloc(1, sizeof *l) : NULL;
  if (a && !l) kcl_opencl_backend->ahead_free(a);
  if (!l) return NULL;
  *l = (kcl_later){.ctx = k->ctx, .ahead = a, .owners = 1, .seconds = kcl_executor_expected(k, ex)};
  snprintf(l->key, sizeof l->key, "lost 1\n%016" PRIx64, kcl_opencl_backend->ahead_sum(a));
  l->lost = read_lost(l->key);
  return l;
}

kcl_later *kcl_later_share(kcl_later *l) {
  if (l) l->owners++;
  return l;
}

void kcl_later_free(kcl_later **l) {
  kcl_later *last = *l;
  *l = NULL;
  if (!last || --last->owners) return;
  if (!last->begun && last->unsaved > 0) save_lost(last);
  if (!last->begun) kcl_opencl_backend->ahead_free(last->ahead);
  free(last);
}

double kcl_later_lost(const kcl_later *l) { return l ? l->lost : 0; }

void kcl_later_lose(kcl_later *l, double seconds) {
  if (!l || l->begun || !(seconds > 0)) return;
  l->lost += seconds, l->unsaved += seconds;
  if (l->unsaved > SHARE * l->seconds) save_lost(l);
}

void kcl_later_begin(kcl_later *l, double seconds) {
  const double none = 0;
  if (!l || l->begun || l->lost + fmax(seconds, 0) < l->seconds) return;
  if (!kcl_opencl_backend->ahead_begin(l->ahead)) return;
  l->begun = true, l->ahead = NULL;
  kcl_cache_put(record_folder, l->key, &none, sizeof none);
}

bool kcl_later_ended(const kcl_later *l) { return l && l->begun && !kcl_compiles_beside(l->ctx); }

bool kcl_compiles_beside(kcl_context *ctx) {
  return ctx->opencl && !kcl_opencl_backend->ahead_ended(ctx);
}
