/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The parts of the JSON report that tell of one operation, and of the gaps,
 * which are counted in the same way.
 */

#ifndef STATS_JSON_OP_H
#define STATS_JSON_OP_H

#include "json_writer.h"
#include "snapshot.h"

/* Add an object of the operation's name with all its figures. */
extern void json_op (struct json *json, const struct recorder_totals *layer,
                     enum op op, const struct snapshot *snapshot);

/* Add "gaps": how long the layer waited for requests, and from when on. */
extern void json_gaps (struct json *json, const struct op_totals *gaps,
                       uint64_t start);

/* Add one with what there is of it in all so far. */
extern void json_op_totals (struct json *json,
                            const struct recorder_totals *layer, enum op op);

/* Add fio's percentiles of its latencies; nothing without any. */
extern void json_percentiles (struct json *json, const struct op_totals *op);

/* For all figures that may not have been measured: a mean of n numbers,
 * null where n is 0, and n in ns nanoseconds as n a second, null where no
 * time passed.
 */
extern void json_mean (struct json *json, const char *key, uint64_t sum,
                       uint64_t n);
extern void json_rate (struct json *json, const char *key, uint64_t n,
                       uint64_t ns);

/* How many requests were in flight: on average while there was one, at
 * most, now, and summed up over time.
 */
extern void json_in_flight (struct json *json, double mean,
                            uint64_t busy_ns, uint64_t most, uint64_t now,
                            uint64_t ns);

#endif /* STATS_JSON_OP_H */
