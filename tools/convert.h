/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Reports of a file in another form.  Each function reads them all, to the
 * end, and writes them to a stream whose errors it leaves to ferror.  It
 * returns an enum exit_status: after an error, which it has told, what was
 * read before is written.
 */

#ifndef TOOLS_CONVERT_H
#define TOOLS_CONVERT_H

#include <stdio.h>

#include "report_reader.h"

typedef int (*convert_fn) (struct report_reader *reader, FILE *fp);

/* As the filter would have written them with statsformat=text, or with
 * statsformat=prometheus, where the last report of a run is all there is.
 * The text has the detail that the run's parameters asked for, or that of
 * the name.
 */
extern int convert_text (struct report_reader *reader, FILE *fp);
extern int convert_text_brief (struct report_reader *reader, FILE *fp);
extern int convert_text_full (struct report_reader *reader, FILE *fp);
extern int convert_prometheus (struct report_reader *reader, FILE *fp);

/* Final reports in the form of fio's --output-format=json+, a job for each
 * layer of each.
 */
extern int convert_fio (struct report_reader *reader, FILE *fp);

/* A line for each layer of each interval; where a run has none, of all of
 * it.
 */
extern int convert_csv (struct report_reader *reader, FILE *fp);

/* For these functions: the status when reading has ended so, after that
 * many reports of the kind that is wanted.  It is an error where there were
 * none.
 */
extern int convert_end (const struct report_reader *reader, enum next end,
                        unsigned reports, const char *kind);

#endif /* TOOLS_CONVERT_H */
