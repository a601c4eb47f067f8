/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* What the storage waited for.  Pauses before many requests and a few stalls
 * need different cures, and the gaps tell them apart.
 */

#include <config.h>

#include <inttypes.h>
#include <stdio.h>

#include "clock.h"
#include "num2str.h"
#include "rules.h"

/* The longest gaps, as far as these are known one by one. */
struct stalls {
  unsigned n;
  bool more;                    /* there may be more of that length */
  uint64_t ns, shortest_ns;     /* all of them, and one */
};

static struct stalls
find_stalls (const struct context *c)
{
  const struct op_totals *gaps = &c->layer->time.gaps;
  const struct slow_request *longest = gaps->extremes.slowest;
  struct stalls stalls = { 0 };

  while (stalls.n < NR_SLOWEST && longest[stalls.n].latency_ns
         && longest[stalls.n].latency_ns >= c->rule->stall_ns) {
    stalls.shortest_ns = longest[stalls.n].latency_ns;
    stalls.ns += longest[stalls.n++].latency_ns;
  }
  stalls.more = stalls.n == NR_SLOWEST && gaps->tally.requests > stalls.n;
  return stalls;
}

enum { WORDS_LEN = 160 };

static const char *
stall_words (char buf[WORDS_LEN], const struct stalls *stalls)
{
  char shortest[NUM2STR_LEN], all[NUM2STR_LEN];

  num2str (shortest, (double) stalls->shortest_ns, NUM_TIME);
  num2str (all, (double) stalls->ns, NUM_TIME);
  if (stalls->n == 1)
    snprintf (buf, WORDS_LEN, "1 stall of %s", all);
  else
    snprintf (buf, WORDS_LEN, "%s%u %s of %s and more, together %s",
              stalls->more ? "the longest " : "", stalls->n,
              stalls->more ? "gaps" : "stalls", shortest, all);
  return buf;
}

/* At least half of the gaps are as long: where the bin of the middle one
 * begins, or longer if the shortest of all is.
 */
static uint64_t
median_at_least (const struct op_totals *gaps)
{
  const uint64_t half = (gaps->tally.requests + 1) / 2;
  const uint64_t min_ns = gaps->extremes.min_ns;
  uint64_t n = 0, low;
  unsigned bin = HISTOGRAM_ALL;

  while (bin > 0 && n < half)
    n += gaps->tally.bins[--bin];
  low = histogram_low (bin);
  return low < min_ns ? min_ns : low;
}

/* What is before each request is before half of them, and is most of it. */
static const char *
gap_words (char buf[WORDS_LEN], const struct op_totals *gaps)
{
  const uint64_t n = gaps->tally.requests;
  const uint64_t median_ns = median_at_least (gaps);
  char median[NUM2STR_LEN], mean[NUM2STR_LEN];

  num2str (median, (double) median_ns, NUM_TIME);
  num2str (mean, op_mean_ns (gaps), NUM_TIME);
  if (n == 1)
    snprintf (buf, WORDS_LEN, "1 gap of %s", mean);
  else if (op_mean_ns (gaps) > 2 * (double) median_ns)
    snprintf (buf, WORDS_LEN, "%" PRIu64 " gaps, %s on average, though at "
              "least half of them are shorter", n, mean);
  else
    snprintf (buf, WORDS_LEN, "%" PRIu64 " gaps, half of them %s or more: the "
              "time that the client and the way to it take for each request",
              n, median);
  return buf;
}

/* What no request ended. */
static const char *
rest_words (char buf[WORDS_LEN], uint64_t ns)
{
  char seconds[NUM2STR_LEN];

  snprintf (buf, WORDS_LEN, "%s of it until the end, or until a client came "
            "or went", seconds2str (seconds, (double) ns));
  return buf;
}

/* Of the three parts of the waiting, the largest. */
static const char *
waiting_words (char buf[WORDS_LEN], const struct context *c,
               const struct stalls *stalls)
{
  const struct timeline_totals *time = &c->layer->time;
  const uint64_t gaps_ns = time->gaps.tally.latency_ns;
  const uint64_t short_ns = clock_since (stalls->ns, gaps_ns);
  const uint64_t rest_ns = clock_since (gaps_ns,
                                        time->account[ACCOUNT_WAITING]);

  if (rest_ns > stalls->ns && rest_ns > short_ns)
    return rest_words (buf, rest_ns);
  return stalls->ns >= short_ns ? stall_words (buf, stalls)
                                : gap_words (buf, &time->gaps);
}

static void
set_waiting_numbers (struct finding *finding, const struct op_totals *gaps,
                     const struct stalls *stalls)
{
  set_number (finding, 1, "gaps", (double) gaps->tally.requests);
  set_number (finding, 2, "gap_p50_ns", (double) op_percentile (gaps, 50000));
  set_number (finding, 3, "stalls", stalls->n);
  set_number (finding, 4, "stalls_ns", (double) stalls->ns);
}

bool
check_client_bound (struct context *c)
{
  const uint64_t waiting_ns = c->layer->time.account[ACCOUNT_WAITING];
  const double share = percent (waiting_ns, connected_ns (c));
  const struct stalls stalls = find_stalls (c);
  char words[WORDS_LEN];

  if (waiting_ns == 0 || share < c->rule->threshold)
    return false;
  say (c->finding, elapsed_percent (c, waiting_ns), "Nothing was in flight for "
       "%.1f%% of the time with a client connected: %s. Look at whatever sends "
       "the requests: the client, the way to it, or filters nearer to it.",
       share, waiting_words (words, c, &stalls));
  set_number (c->finding, 0, "waiting_percent", share);
  set_waiting_numbers (c->finding, &c->layer->time.gaps, &stalls);
  return true;
}

bool
check_stalls (struct context *c)
{
  const struct op_totals *gaps = &c->layer->time.gaps;
  const struct stalls stalls = find_stalls (c);
  const double share = elapsed_percent (c, stalls.ns);
  char words[WORDS_LEN], when[NUM2STR_LEN];

  if (stalls.n == 0 || share < c->rule->threshold)
    return false;
  say (c->finding, share, "No request came for a while, with a client "
       "connected: %s, %.1f%% of the elapsed time. The longest began %s after "
       "the start.", stall_words (words, &stalls), share,
       seconds2str (when, (double) clock_since (c->snapshot->start,
                                       gaps->extremes.slowest[0].begin)));
  set_number (c->finding, 0, "percent_of_elapsed", share);
  set_waiting_numbers (c->finding, gaps, &stalls);
  return true;
}
