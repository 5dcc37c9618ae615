/* The time that a solve still needs, from its residuals so far. Three lines are fitted to the logarithm of the
 * residual against time: over the last quarter, half and three quarters of the solve. If they agree, the residual
 * is assumed to continue so. If not, or if the rest would take much longer than the solve has taken, the time is
 * not known. */
#include "cli/solve/estimate.h"
#include <stdio.h>

static const double AGREE = 1.5; /* largest ratio between the times that the lines predict */
static const double AHEAD = 3;   /* limit of the prediction, in multiples of the seconds so far */
static const double GAP = 0.01;  /* seconds between two points, at first */
static const double FEW = 3;     /* seconds before anything is said */
enum { LINES = 3, LEAST = 4 /* points of a line */ };

/* Drops every second point when the list is full. */
static void thin_points(cli_estimate *e) {
  e->count /= 2, e->gap *= 2;
  for (int i = 0; i < e->count; i++) e->point[i] = e->point[2 * i + 1];
}

void cli_estimate_add(cli_estimate *e, double seconds, double residual) {
  const double last = e->count ? e->point[e->count - 1].seconds : -INFINITY;
  if (!e->count || seconds < last) *e = (cli_estimate){.gap = GAP}; /* another solve */
  if (!(residual > 0 && residual < INFINITY) || (e->count && seconds < last + e->gap)) return;
  if (e->count == CLI_POINTS) thin_points(e);
  e->point[e->count++] = (cli_point){seconds, log(residual)};
}

/* Fits a least-squares line to the points from `begin` on. False: there are too few. */
static bool fit_residual_line(const cli_estimate *e, double begin, double *slope,
                              double *mean_seconds, double *mean_log) {
  double n = 0, t = 0, y = 0, tt = 0, ty = 0;
  for (int i = 0; i < e->count; i++) {
    const cli_point *p = &e->point[i];
    if (p->seconds >= begin) {
      n++;
      t += p->seconds;
      y += p->log_residual;
    }
  }
  if (n < LEAST) return false;
  *mean_seconds = t /= n, *mean_log = y /= n;
  for (int i = 0; i < e->count; i++) {
    const cli_point *p = &e->point[i];
    if (p->seconds < begin) continue;
    tt += (p->seconds - t) * (p->seconds - t), ty += (p->seconds - t) * (p->log_residual - y);
  }
  *slope = tt > 0 ? ty / tt : 0;
  return true;
}

double cli_estimate_left(const cli_estimate *e, double target) {
  const double now = e->count ? e->point[e->count - 1].seconds : 0;
  double slope[LINES], t, y, least = INFINITY, most = 0;
  int rising = 0;
  for (int i = 0; i < LINES; i++) {
    if (!fit_residual_line(e, (i + 1) * now / (LINES + 1), &slope[i], &t, &y)) return -1;
    rising += slope[i] >= 0;
  }
  if (now < FEW || !(target > 0)) return -1;
  if (rising) return rising == LINES ? INFINITY : -1;
  const double above = y + slope[LINES - 1] * (now - t) - log(target); /* by the last quarter */
  if (above <= 0) return 0;
  for (int i = 0; i < LINES; i++)
    least = fmin(least, above / -slope[i]), most = fmax(most, above / -slope[i]);
  return most > AGREE * least || most > AHEAD * now ? -1 : sqrt(least * most);
}

/* The estimate in words with one digit: more is not known. */
static double round_seconds(double v) { return v < 9.5 ? round(v) : 10 * round(v / 10); }

cli_text cli_estimate_words(const cli_estimate *e, double target) {
  const double left = cli_estimate_left(e, target);
  cli_text t = {""};
  if (left == INFINITY)
    snprintf(t.s, sizeof t.s, "not falling");
  else if (left >= 3300)
    snprintf(t.s, sizeof t.s, "about %.0f h left", round_seconds(left / 3600));
  else if (left >= 55)
    snprintf(t.s, sizeof t.s, "about %.0f min left", round_seconds(left / 60));
  else if (left >= 1)
    snprintf(t.s, sizeof t.s, "about %.0f s left", round_seconds(left));
  else if (left >= 0)
    snprintf(t.s, sizeof t.s, "less than 1 s left");
  return t;
}
