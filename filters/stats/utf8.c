/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

#include <config.h>

#include "utf8.h"

/* How many bytes the lead wants after it, or -1 where it is no lead. */
static int
followers (unsigned char lead)
{
  if (lead < 0x80)
    return 0;
  if (lead >= 0xc2 && lead <= 0xdf)
    return 1;
  if (lead >= 0xe0 && lead <= 0xef)
    return 2;
  if (lead >= 0xf0 && lead <= 0xf4)
    return 3;
  return -1;
}

/* Whether the byte may come second.  Some leads leave it less choice: the
 * rest would be a longer form than needed, a surrogate, or more than
 * U+10FFFF.
 */
static bool
is_second (unsigned char lead, unsigned char byte)
{
  const unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;

  return byte >= low && byte <= high;
}

size_t
utf8_next (const char *s, bool *good)
{
  const unsigned char *bytes = (const unsigned char *) s;
  const int wanted = followers (bytes[0]);
  int found = 0;

  while (found < wanted
         && (found == 0 ? is_second (bytes[0], bytes[1])
                        : (bytes[found + 1] & 0xc0) == 0x80))
    found++;
  *good = found == wanted;
  return 1 + (size_t) found;
}

/* The control characters of ASCII, and those from U+0080 to U+009F. */
static bool
is_control (const char *s)
{
  const unsigned char *bytes = (const unsigned char *) s;

  return bytes[0] < ' ' || bytes[0] == 0x7f
    || (bytes[0] == 0xc2 && bytes[1] < 0xa0);
}

void
utf8_write_plain (FILE *fp, const char *s)
{
  while (*s) {
    bool good;
    const size_t length = utf8_next (s, &good);

    if (good && !is_control (s))
      fwrite (s, 1, length, fp);
    else
      fputc ('?', fp);
    s += length;
  }
}
