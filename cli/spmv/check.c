/* The checks of a product: every row of every column against its rounding bound (solver/product_check.c). */
#include "cli/spmv/check.h"
#include "cli/input/input.h"
#include "cli/ui/json.h"
#include "cli/ui/terminal.h"
#include "cli/ui/text.h"

static const double *addend_column(const cli_product *p, int64_t j) {
  return p->y0 ? cli_column(p->y0, j) : NULL;
}

static int check_column(kcl_context *ctx, const cli_product *p, const kcl_csr *A, int64_t j,
                        cli_product_verdict *v) {
  kcl_product_error e;
  int rc = kcl_update_check(ctx, A, p->precision, p->alpha, cli_column(p->x, j), p->beta,
                            addend_column(p, j), cli_column(p->y, j), &e);
  if (!rc && (j == 0 || e.ratio > v->worst.ratio)) v->worst = e, v->worst_column = j;
  return cli_lib(rc);
}

static int compare_column(kcl_context *ctx, const cli_product *p, const kcl_csr *A, int64_t j,
                          cli_product_verdict *v) {
  kcl_product_difference d;
  int rc =
      kcl_product_compare(ctx, A, p->precision, p->alpha, cli_column(p->x, j), p->beta,
                          addend_column(p, j), cli_column(p->y, j), cli_column(p->other, j), &d);
  if (rc) return cli_lib(rc);
  if (j == 0 || d.ratio > v->difference.ratio) v->difference = d, v->difference_column = j;
  if (j == 0 || d.largest > v->largest)
    v->largest = d.largest, v->largest_row = d.largest_row, v->largest_column = j;
  v->beyond += d.beyond;
  return 0;
}

int cli_check_product(kcl_context *ctx, const cli_options *o, const cli_product *p,
                      cli_product_verdict *v) {
  CLI_OWNED_BY(kcl_csr_free) kcl_csr *AH = NULL;
  *v = (cli_product_verdict){.rows = p->y->rows, .columns = p->y->cols};
  if (!o->verify && !p->other) return 0;
  cli_busy(o, "checking");
  if (o->adjoint) CLI_CALL(cli_lib(kcl_csr_adjoint(ctx, p->A, &AH)));
  for (int64_t j = 0; j < p->x->cols; j++) {
    if (o->verify) CLI_CALL(check_column(ctx, p, AH ? AH : p->A, j, v));
    if (p->other) CLI_CALL(compare_column(ctx, p, AH ? AH : p->A, j, v));
  }
  return 0;
}

/* Prints "row 17", and the column where there are several. */
static void say_row_of_y(const cli_options *o, const cli_product_verdict *v, int64_t row,
                         int64_t column) {
  cli_say(o, "row %s", cli_count(row + 1).s);
  if (v->columns > 1) cli_say(o, ", column %s", cli_count(column + 1).s);
}

static bool is_within(double ratio) { return ratio <= 1; }

static void say_ratio_verdict(const cli_options *o, const char *name, double ratio) {
  FILE *f = cli_out(o);
  cli_say(o, "%-11s %s%s%s: ", name, cli_style(f, is_within(ratio) ? CLI_GREEN : CLI_RED),
          is_within(ratio) ? "passed" : "FAILED", cli_style(f, CLI_PLAIN));
}

static void say_difference(const cli_options *o, const cli_product_verdict *v) {
  const kcl_product_difference *d = &v->difference;
  say_ratio_verdict(o, "compare", d->ratio);
  cli_say(o, "the largest difference from %s is %.3g of its bound, %.3e of %.3e in ",
          cli_base(o->other), d->ratio, d->difference, d->bound);
  say_row_of_y(o, v, d->row, v->difference_column);
  cli_say(o, "\n            in numbers %.3e in ", v->largest);
  say_row_of_y(o, v, v->largest_row, v->largest_column);
  cli_say(o, "; %s of %s elements beyond their bound\n", cli_count(v->beyond).s,
          cli_count(v->columns * v->rows).s);
}

void cli_say_product_check(const cli_options *o, const cli_product_verdict *v) {
  const kcl_product_error *e = &v->worst;
  if (o->verify) {
    say_ratio_verdict(o, "check", e->ratio);
    cli_say(o, "the largest error is %.3g of its bound, %.3e of %.3e in ", e->ratio, e->error,
            e->bound);
    say_row_of_y(o, v, e->row, v->worst_column);
    cli_say(o, "\n");
  }
  if (o->other) say_difference(o, v);
}

static cJSON *json_ratio_verdict(cJSON *out, const char *name, double ratio) {
  cJSON *c = cJSON_AddObjectToObject(out, name);
  cli_json_text(c, "verdict", kcl_verdict_name(is_within(ratio) ? KCL_PASSED : KCL_FAILED));
  cli_json_number(c, "ratio", ratio);
  return c;
}

static void json_difference(cJSON *out, const cli_options *o, const cli_product_verdict *v) {
  const kcl_product_difference *d = &v->difference;
  cJSON *c = json_ratio_verdict(out, "compare", d->ratio);
  cli_json_text(c, "file", o->other);
  cli_json_number(c, "difference", d->difference);
  cli_json_number(c, "bound", d->bound);
  cli_json_count(c, "row", d->row + 1);
  cli_json_count(c, "column", v->difference_column + 1);
  cli_json_number(c, "largest", v->largest);
  cli_json_count(c, "largest_row", v->largest_row + 1);
  cli_json_count(c, "largest_column", v->largest_column + 1);
  cli_json_count(c, "beyond", v->beyond);
}

void cli_json_product_check(cJSON *out, const cli_options *o, const cli_product_verdict *v) {
  if (o->verify) {
    cJSON *c = json_ratio_verdict(out, "check", v->worst.ratio);
    cli_json_number(c, "error", v->worst.error);
    cli_json_number(c, "bound", v->worst.bound);
    cli_json_count(c, "row", v->worst.row + 1);
    cli_json_count(c, "column", v->worst_column + 1);
  }
  if (o->other) json_difference(out, o, v);
}

int cli_product_check_code(const cli_options *o, const cli_product_verdict *v) {
  if (o->verify && !is_within(v->worst.ratio))
    return cli_fail(
        CLI_CHECK_FAILED,
        "the check failed: row %s of column %s is off by %.3g times what rounding explains",
        cli_count(v->worst.row + 1).s, cli_count(v->worst_column + 1).s, v->worst.ratio);
  if (o->other && !is_within(v->difference.ratio))
    return cli_fail(CLI_CHECK_FAILED,
                    "y differs from %s: %s elements by more than rounding explains, row %s of "
                    "column %s by %.3g times as much",
                    o->other, cli_count(v->beyond).s, cli_count(v->difference.row + 1).s,
                    cli_count(v->difference_column + 1).s, v->difference.ratio);
  return 0;
}
