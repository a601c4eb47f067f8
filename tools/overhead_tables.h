/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What "overhead" can measure: a table each, in a file of its own.  Each
 * returns -1 where a measurement failed, after telling how.
 */

#ifndef TOOLS_OVERHEAD_TABLES_H
#define TOOLS_OVERHEAD_TABLES_H

#include "overhead_plan.h"
#include "overhead_server.h"

/* How long a request takes. */
extern int overhead_time (const struct plan *plan, struct tables *tables);

/* What each request takes in the filter alone, and the worst one. */
extern int overhead_inside (const struct plan *plan, struct tables *tables);

/* The same where the caches are cold. */
extern int overhead_cold (const struct plan *plan, struct tables *tables);

/* Memory and other things that the filter keeps, or leaves behind. */
extern int overhead_memory (const struct plan *plan, struct tables *tables);

/* Instructions of a request. */
extern int overhead_instructions (const struct plan *plan,
                                  struct tables *tables);

/* One thread beside many that wait or have gone. */
extern int overhead_beside (const struct plan *plan, struct tables *tables);

/* Many connections at once. */
extern int overhead_opening (const struct plan *plan, struct tables *tables);

/* For them: a table whose columns are as wide as the names of filters need.
 * The last one is left out if it compares to the other filter and there is
 * none; its title has the name.  One table at a time.
 */
extern struct table overhead_table (const struct plan *plan,
                                    struct tables *tables, const char *key,
                                    const struct column *columns,
                                    unsigned nr_columns);

#endif /* TOOLS_OVERHEAD_TABLES_H */
