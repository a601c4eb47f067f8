/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "in_flight.h"

int
in_flight_reserve (struct in_flight *in_flight, unsigned owners)
{
  /* Twice, since some of an owner that has gone may not be taken off. */
  const unsigned capacity = 2 * owners;
  struct in_flight_request *open;

  if (capacity <= in_flight->capacity)
    return 0;
  open = realloc (in_flight->open, capacity * sizeof *open);
  if (open == NULL)
    return -1;
  in_flight->open = open;
  in_flight->capacity = capacity;
  return 0;
}

void
in_flight_free (struct in_flight *in_flight)
{
  free (in_flight->open);
}

void
in_flight_forget_recent (struct in_flight *in_flight)
{
  in_flight->recent_most = in_flight->nr_open;
  for (unsigned op = 0; op < NR_OPS; op++)
    in_flight->op_recent_most[op] = in_flight->op_open[op];
}

void
in_flight_end (struct in_flight *in_flight, const void *owner, uint64_t end)
{
  struct in_flight_request *request = in_flight->open;
  struct in_flight_request *stop = request + in_flight->nr_open;
  struct in_flight_request ended;

  while (request < stop
         && (request->owner != owner || request->end != IN_FLIGHT_OPEN))
    request++;
  if (request == stop)
    return;
  ended = *request;
  ended.end = end;
  memmove (request, request + 1,
           (size_t) (stop - request - 1) * sizeof *request);
  in_flight->nr_open--;
  in_flight_insert (in_flight, ended);
}
