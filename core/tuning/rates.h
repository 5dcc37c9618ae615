/* Rates of devices on record in the user's cache folder. */
#ifndef KCL_RATES_H
#define KCL_RATES_H

#include "core/base/base.h"

/* Sets the stream rate and the time of a launch of ctx where they were not measured: those on record for this device and
 * driver, or 0. They are measured by kcl_stream_measure. */
void kcl_rates_recall(kcl *ctx);

#endif
