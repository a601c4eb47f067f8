/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The value of a name where several sections may set it, with ${NAME} in it
 * replaced.
 */

#ifndef TOOLS_SCOPE_H
#define TOOLS_SCOPE_H

#include "job_file.h"

/* Sections, the one that counts first at the front.  Each may be NULL. */
#define SCOPE_LEVELS 3
struct scope {
  const struct section *levels[SCOPE_LEVELS];
};

/* The setting that counts, or NULL. */
extern const struct setting *scope_find (const struct scope *scope,
                                         const char *name);

/* Its value in *value, which the caller frees, or NULL where nothing sets
 * it.  Returns -1 after telling of a variable that is not defined, of one
 * that is made of itself, or of a value that became too long.
 */
extern int scope_value (const struct scope *scope, const char *name,
                        char **value);

#endif /* TOOLS_SCOPE_H */
