/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The results of a benchmark as a JSON file: with all that is needed to
 * repeat it, and to go on with it.
 */

#ifndef TOOLS_BENCH_FILE_H
#define TOOLS_BENCH_FILE_H

#include "bench.h"

#define BENCH_SCHEMA 1

/* Write what there is by now, with its summary, if there is a file to write
 * to.  Returns -1 after telling why not.
 */
extern int bench_file_write (struct bench *bench);

/* Take over the runs that the file has, for those cells that do the same as
 * then.  A file that is not there has none.  Returns -1 after telling what
 * is wrong with it.
 */
extern int bench_file_resume (struct bench *bench);

#endif /* TOOLS_BENCH_FILE_H */
