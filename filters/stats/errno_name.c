/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "errno_name.h"
#include "tally.h"

#ifdef HAVE_STRERRORNAME_NP
#define library_name(error) strerrorname_np (error)
#else
/* The errors that NBD itself knows, for C libraries without names. */
static const char *
library_name (int error)
{
  switch (error) {
  case EPERM:      return "EPERM";
  case EIO:        return "EIO";
  case ENOMEM:     return "ENOMEM";
  case EINVAL:     return "EINVAL";
  case ENOSPC:     return "ENOSPC";
  case EOVERFLOW:  return "EOVERFLOW";
  case EOPNOTSUPP: return "EOPNOTSUPP";
  case ESHUTDOWN:  return "ESHUTDOWN";
  default:         return NULL;
  }
}
#endif

const char *
errno_name (char buf[ERRNO_NAME_LEN], uint64_t error)
{
  const char *name;

  if (error == FAILURE_OTHER)
    return "other";
  name = library_name ((int) error);
  if (name)
    return name;
  snprintf (buf, ERRNO_NAME_LEN, "%" PRIu64, error);
  return buf;
}
