/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Memory and strings.  Where there is no memory left the program ends here,
 * with STATUS_BAD, after telling it.
 */

#ifndef TOOLS_MEMORY_H
#define TOOLS_MEMORY_H

#include <stddef.h>

/* The caller frees what each gives. */
extern void *get_memory (size_t nr, size_t size);     /* all zero */
extern char *copy_string (const char *s);
extern char *copy_bytes (const char *s, size_t len);  /* with a 0 behind */
extern char *format_string (const char *fmt, ...)
  __attribute__ ((format (printf, 1, 2)));

/* An array that grows by one element: gives the array, moved perhaps, with
 * room for nr + 1 elements of the size.  The new one is all zero.
 */
extern void *grow (void *array, size_t nr, size_t size);

#endif /* TOOLS_MEMORY_H */
