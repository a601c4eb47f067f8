/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */


/* For what is preloaded into nbdkit to do harm to the filter only. */

#ifndef STATS_FROM_FILTER_H
#define STATS_FROM_FILTER_H

#include <dlfcn.h>
#include <execinfo.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>

/* The function of this name that comes after ours. */
#define NEXT(name) ((__typeof__ (&name)) dlsym (RTLD_NEXT, #name))

/* Where the code at this address comes from; its file and where that is. */
static inline Dl_info
object_of (const void *address)
{
  Dl_info info = { .dli_fname = NULL };

  dladdr (address, &info);
  return info;
}

/* Is the filter among the callers, nearer than nbdkit itself?  What the
 * layers below allocate for themselves is not ours.  The first call of all
 * loads a library, so make one early.
 */
static inline bool
from_filter (void)
{
  static _Thread_local bool looking;
  void *frames[64];
  bool found = false, other = false;
  int n;

  if (looking)
    return false;
  looking = true;
  n = backtrace (frames, sizeof frames / sizeof frames[0]);
  for (int i = 0; i < n && !found && !other; i++) {
    const Dl_info info = object_of (frames[i]);
    const Dl_info nbdkit = object_of ((void *) getauxval (AT_ENTRY));

    found = info.dli_fname
      && strstr (info.dli_fname, "nbdkit-stats-filter.so");
    other = info.dli_fbase == nbdkit.dli_fbase;
  }
  looking = false;
  return found;
}

#endif /* STATS_FROM_FILTER_H */
