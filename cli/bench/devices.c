/* The devices of krylocl bench. Each device with each number of threads has a context of its own for the whole
 * run. */
#include "cli/bench/bench.h"
#include "cli/ui/terminal.h"

void cli_bench_stream(const cli_options *o, cli_bench_place *p) {
  double now;
  cli_busy(o, "measuring the memory rate of %s", p->place);
  if (!kcl_stream_measure(p->ctx, &now)) kcl_stream_get(p->ctx, &p->stream);
}

kcl_stream cli_bench_newer(const kcl_stream *a, const kcl_stream *b) {
  return a->date > b->date || (a->date == b->date && a->rate >= b->rate) ? *a : *b;
}

/* Opens a device with a number of threads, unless it is there already. */
static int open_place(cli_bench_run *r, const char *device, int threads) {
  cli_bench_place p = {.ctx = NULL};
  const char *layout = getenv("KRYLOCL_LAYOUT");
  int rc = kcl_context_create(NULL, 0, &p.ctx) ? cli_fail(KCL_MEMORY, "out of memory") : 0;
  if (rc) return rc;
  kcl_context_watch(p.ctx, cli_watch, (void *)r->o);
  CLI_TRY(cli_lib(kcl_select(p.ctx, device, threads)));
  CLI_TRY(cli_lib(kcl_device_current(p.ctx, &p.device)));
  kcl_allow_padding(p.ctx, r->o->force);
  snprintf(p.place, sizeof p.place, "%s", cli_device_place(&p.device).s);
  if (p.device.platform >= 0 && layout) snprintf(p.layout, sizeof p.layout, "%s", layout);
  for (int i = 0; i < r->place_count; i++)
    if (!strcmp(r->places[i].place, p.place) &&
        r->places[i].device.compute_units == p.device.compute_units)
      goto done;
  cli_bench_stream(r->o, &p);
  CLI_TRY(cli_bench_add_place(r, &p) < 0 ? cli_fail(KCL_MEMORY, "out of memory: the devices") : 0);
  cli_bench_say_place(r->o, &p);
  p.ctx = NULL;
done:
  kcl_context_free(&p.ctx);
  return rc;
}

typedef struct opening {
  cli_bench_run *r;
  const char *device;
} opening;

static int most_threads(void *self, const char *word) {
  int *most = self, n = strcmp(word, "max") ? atoi(word) : 0;
  *most = !n || !*most ? 0 : n > *most ? n : *most;
  return 0;
}

static int open_threads(void *self, const char *word) {
  opening *p = self;
  return open_place(p->r, p->device, strcmp(word, "max") ? atoi(word) : 0);
}

/* Opens a device: the cpu device with each number of threads, others once. */
static int open_bench_device(void *self, const char *word) {
  opening *p = self;
  p->device = *word ? word : NULL;
  const char *named = p->device ? p->device : getenv("KRYLOCL_DEVICE");
  const char *threads = p->r->o->threads_list;
  bool native = !named || !*named || !strcmp(named, "cpu") || !strcmp(named, "auto");
  return cli_each_word(threads && native ? threads : "max", open_threads, p);
}

int cli_bench_open_places(cli_bench_run *r) {
  CLI_OWNED_BY(kcl_context_free) kcl_context *ctx = NULL;
  CLI_OWNED kcl_device *list = NULL;
  opening p = {.r = r};
  int count = 0;
  r->threads = r->o->threads_list ? 1 : 0;
  cli_each_word(r->o->threads_list, most_threads, &r->threads);
  kcl_set_threads(r->threads);
  cli_busy(r->o, "opening the devices");
  if (!r->o->device || strcmp(r->o->device, "all"))
    return cli_each_word(r->o->device ? r->o->device : "", open_bench_device, &p);
  CLI_CALL(kcl_context_create(NULL, 0, &ctx) ? cli_fail(KCL_MEMORY, "out of memory") : 0);
  CLI_CALL(cli_lib(kcl_device_list(ctx, &list, &count)));
  for (int i = 0; i < count; i++) CLI_CALL(open_bench_device(&p, cli_device_place(&list[i]).s));
  return 0;
}
