/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include <stdbool.h>

#include "account.h"
#include "clock.h"
#include "num2str.h"

/* The names of the states that no operation has. */
static const struct {
  const char *word;             /* for programs */
  const char *text;
} names[NR_STATES - NR_OPS] = {
  [ACCOUNT_OPENING - NR_OPS] = { "opening", "opening exports" },
  [ACCOUNT_SEVERAL - NR_OPS] = { "several", "several kinds at once" },
  [ACCOUNT_WAITING - NR_OPS] = { "waiting", "waiting for requests" },
  [ACCOUNT_NO_CLIENT - NR_OPS] = { "no_client", "no client connected" },
};

const char *
account_state_name (enum account_state state)
{
  return (unsigned) state < NR_OPS ? op_name ((enum op) state)
    : names[state - NR_OPS].word;
}

static const char *
state_text (unsigned state)
{
  return state < NR_OPS ? op_name (state) : names[state - NR_OPS].text;
}

/* Fill in the states from the longest on; of those as long, in their order. */
static void
rank (unsigned states[NR_STATES], const uint64_t account[NR_STATES])
{
  for (unsigned state = 0; state < NR_STATES; state++) {
    unsigned place = state;

    for (; place > 0 && account[states[place - 1]] < account[state]; place--)
      states[place] = states[place - 1];
    states[place] = state;
  }
}

/* Whether a row would say more than 0.000 and 0.0%. */
static bool
is_shown (uint64_t ns, uint64_t elapsed_ns)
{
  return ns >= NS_PER_S / 2000 || ratio (ns, elapsed_ns) >= 0.0005;
}

static void
write_state (FILE *fp, unsigned state, uint64_t ns, uint64_t elapsed_ns)
{
  static const char bar[] = "####################################";
  const int width = sizeof bar - 1;
  const int length = (int) (ratio (ns, elapsed_ns) * width + 0.5);
  char seconds[NUM2STR_LEN];

  fprintf (fp, "  %-22s%11s%6.1f%%", state_text (state),
           decimal2str (seconds, (double) ns / NS_PER_S, 3, 11),
           percent (ns, elapsed_ns));
  fprintf (fp, "%s%.*s\n", length ? "  " : "", length, bar);
}

void
table_account (FILE *fp, const struct snapshot *snapshot, size_t place)
{
  const uint64_t *account = snapshot->layers[place].time.account;
  const uint64_t elapsed_ns = snapshot->elapsed_ns;
  unsigned states[NR_STATES];

  rank (states, account);
  if (account[states[0]] == 0)
    return;
  fprintf (fp, "\n%-24s%11s%7s\n", "where the time went", "seconds", "%");
  for (unsigned i = 0; i < NR_STATES; i++) {
    const uint64_t ns = account[states[i]];

    if (is_shown (ns, elapsed_ns))
      write_state (fp, states[i], ns, elapsed_ns);
  }
}
