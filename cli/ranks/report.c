/* Ranks in the report and in the JSON of krylocl solve. */
#include "cli/ranks/report.h"
#include "cli/ranks/ranks.h"
#include "cli/ui/json.h"
#include "cli/ui/say.h"

#ifdef HAVE_MPI
#include "krylocl_mpi.h"

/* Imbalance: largest ratio of a rank's nonzeros to its intended share. */
static double rank_imbalance(const cli_run *r) {
  double most = 0, all = 0;
  for (int p = 0; p < r->share_count; p++) {
    const double own = (double)r->shares[p].nonzeros, share = r->shares[p].share;
    all += own, most = own > most * share ? own / share : most;
  }
  return all > 0 ? most / all : 1;
}

static const char *partition_name(const cli_run *r) {
  return r->o->partition ? r->o->partition : "rows";
}

/* Least predicted time of an iteration on one device alone; 0: no prediction. */
static double least_seconds_alone(const cli_run *r) {
  double least = INFINITY;
  for (int p = 0; p < r->share_count; p++)
    if (r->shares[p].seconds_alone > 0) least = fmin(least, r->shares[p].seconds_alone);
  return least < INFINITY ? least : 0;
}

/* Prints a hint if one device is certainly faster: most predictions are within a third
 * (docs/lab/2026-11-23-model.md). */
static void report_alone(const cli_run *r) {
  const kcl_report *p = &r->results[r->worst].report;
  const double one = least_seconds_alone(r), several = p->seconds_per_iteration;
  if (one > 0 && p->iterations >= 20 && 1.5 * one < several)
    cli_say(r->o, "hint        one device would take about %s per iteration, %d took %s\n",
            cli_seconds(one).s, cli_ranks(), cli_seconds(several).s);
}

static void report_rank(const cli_run *r, const kcl_mpi_share *s) {
  cli_say(r->o,
          "rank %-6d %s rows, %s of them with columns of others, %s nonzeros, %s elements of x "
          "from %d %s, %s\n",
          s->rank, cli_count(s->rows).s, cli_count(s->boundary_rows).s, cli_count(s->nonzeros).s,
          cli_count(s->halo).s, s->neighbours, s->neighbours == 1 ? "neighbour" : "neighbours",
          s->device);
}

void cli_report_ranks(const cli_run *r) {
  int64_t halo = 0, most = 0;
  int others = 0;
  double waited = 0;
  if (cli_ranks() == 1 || !r->shares) return;
  for (int p = 0; p < r->share_count; p++) {
    const kcl_mpi_share *s = &r->shares[p];
    const double waits = s->seconds_halo + s->seconds_sum;
    halo += s->halo, most = s->halo > most ? s->halo : most;
    others = s->neighbours > others ? s->neighbours : others;
    if (s->seconds_solve > 0) waited += waits / s->seconds_solve / r->share_count;
  }
  cli_say(r->o,
          "ranks       %d, partition %s, imbalance %.2f, %s elements of x exchanged per product "
          "(at most %s by a rank, with %d others), %.0f %% of the iterations' time waiting\n",
          cli_ranks(), partition_name(r), rank_imbalance(r), cli_count(halo).s, cli_count(most).s,
          others, 100 * waited);
  for (int p = 0; r->o->verbose && p < r->share_count; p++) report_rank(r, &r->shares[p]);
  report_alone(r);
}

void cli_json_ranks(struct cJSON *o, const cli_run *r) {
  int64_t halo = 0;
  if (cli_ranks() == 1 || !r->shares) return;
  cJSON *list = cJSON_AddArrayToObject(o, "ranks");
  for (int p = 0; p < r->share_count; p++) {
    const kcl_mpi_share *s = &r->shares[p];
    cJSON *one = cli_json_item(list);
    cli_json_count(one, "rank", s->rank), cli_json_text(one, "device", s->device);
    cli_json_count(one, "threads", s->threads), cli_json_text(one, "format", s->format);
    cli_json_count(one, "first_row", s->first_row), cli_json_count(one, "rows", s->rows);
    cli_json_count(one, "first_column", s->first_column),
        cli_json_count(one, "columns", s->columns);
    cli_json_count(one, "nonzeros", s->nonzeros), cli_json_number(one, "share", s->share);
    cli_json_count(one, "boundary_rows", s->boundary_rows);
    cli_json_count(one, "neighbours", s->neighbours), cli_json_count(one, "halo", s->halo);
    cli_json_count(one, "sends", s->sends);
    cli_json_number(one, "seconds_partition", s->seconds_partition);
    cli_json_number(one, "seconds_solve", s->seconds_solve);
    cli_json_number(one, "seconds_halo", s->seconds_halo);
    cli_json_number(one, "seconds_sum", s->seconds_sum);
    if (s->seconds_alone > 0) cli_json_number(one, "seconds_alone", s->seconds_alone);
    halo += s->halo;
  }
  cli_json_text(o, "partition", partition_name(r));
  cli_json_count(o, "communication_volume", halo);
  cli_json_number(o, "imbalance", rank_imbalance(r));
  if (least_seconds_alone(r) > 0)
    cli_json_number(o, "seconds_per_iteration_alone", least_seconds_alone(r));
}

#else /* built without MPI */

void cli_report_ranks(const cli_run *r) { (void)r; }
void cli_json_ranks(struct cJSON *o, const cli_run *r) { (void)o, (void)r; }

#endif
