/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* One run of a cell: prepare, serve, client, clean up.  Nothing is left of
 * it, neither a process nor a file.
 */

#ifndef TOOLS_RUN_H
#define TOOLS_RUN_H

#include <stdbool.h>

#include "client.h"
#include "figures.h"
#include "job.h"

/* Directories of our own. */
struct workspace {
  char *images;                 /* the commands run here: it is measured */
  char *state;                  /* socket, report, what was said */
};

/* images: where to make the directory of that; or NULL.  Returns -1 after
 * telling why there can be none.
 */
extern int workspace_make (struct workspace *workspace, const char *images);
extern void workspace_remove (struct workspace *workspace);

struct run {
  char *failure;                /* what went wrong, or NULL */
  bool interrupted;             /* it does not count */
  double wall_s;                /* of the client, from its start to its end */
  struct client_figures client;
  struct figures figures;
};

/* The run's figures, and run_free at the end. */
extern void run_cell (const struct cell_plan *plan,
                      const struct workspace *workspace, struct run *run);
extern void run_free (struct run *run);

/* The same without the filter and with another client: what it says, or
 * NULL.  The caller frees it.
 */
extern char *run_other (const struct cell_plan *plan,
                        const struct workspace *workspace,
                        const char *client);

/* What a shell command says, or NULL where it fails or takes as long as ten
 * seconds.  The caller frees it.
 */
extern char *run_command (const char *command,
                          const struct workspace *workspace);

/* The last line of what a command said that is not blank, and not too long.
 * The caller frees it.
 */
extern char *last_words (const char *output);

#endif /* TOOLS_RUN_H */
