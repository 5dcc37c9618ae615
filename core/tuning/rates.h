/* Rates of devices on record in the user's cache folder. */
#ifndef KCL_RATES_H
#define KCL_RATES_H

#include "core/base/base.h"

/* A measurement of a device. The record keeps the last KCL_RATES_KEPT, the newest first, and its rates are their medians: other
 * programs make a measurement too low, a cache can make it too high, and both are gone after a few later ones. */
enum { KCL_RATES_KEPT = 5 };
typedef struct kcl_rates {
  double stream, low, high; /* bytes/s: median, slowest and fastest pass over memory */
  double cached;  /* bytes/s, of vectors that fit into the last-level cache; 0: not measured */
  double launch;  /* seconds of the shortest stage on an OpenCL device; 0: not measured */
  int64_t vector; /* bytes per vector of those passes */
  int64_t date;   /* seconds since 1970 */
} kcl_rates;
typedef struct kcl_rates_record {
  kcl_rates list[KCL_RATES_KEPT];
  int64_t count;
} kcl_rates_record;
void kcl_rates_add(kcl_rates_record *r, const kcl_rates *measured);
/* The medians of the record, its slowest and its fastest pass, and the date of the newest. All 0: nothing is on record. */
kcl_rates kcl_rates_agreed(const kcl_rates_record *r);

/* Bytes per vector for a stream rate: four times the last-level cache (McCalpin 1995) and at least `least`, unless three of them
 * were more than `capacity` bytes; then a power of two less. */
int64_t kcl_stream_vector(int64_t last_cache, int64_t least, double capacity);

/* Sets the rates of ctx that were not measured: those on record for this device and driver, or 0. They are measured by
 * kcl_stream_measure. */
void kcl_rates_recall(kcl_context *ctx);

#endif
