/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* For libFuzzer: whatever a file of reports holds, it is read or refused,
 * and what was read can be told in any form.  "make fuzz-report" builds it,
 * with clang and CFLAGS that have -fsanitize=fuzzer-no-link.
 */

#include <config.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare_write.h"
#include "convert.h"
#include "report_reader.h"

extern int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static const convert_fn forms[] = {
  convert_text, convert_prometheus, convert_fio, convert_csv,
};
#define NR_FORMS (sizeof forms / sizeof forms[0])

static FILE *nowhere;

/* With itself. */
static void
compare (struct json_stream *stream)
{
  struct compare_file file = { .file = "fuzz" };
  struct comparison comparison;
  const struct compared compared = {
    .a = &file, .b = &file, .comparisons = &comparison, .nr = 1,
  };

  if (compare_stream_read (&file, stream, 0) == 0
      && file.sides[0].nr_runs > 0
      && comparison_make (&comparison, file.sides, file.sides) == 0) {
    compare_write_text (nowhere, &compared);
    compare_write_markdown (nowhere, &compared);
    compare_write_json (nowhere, &compared);
  }
  compare_file_free (&file);
}

/* The first byte says in which form, or to compare. */
int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  struct report_reader reader = { .stream = { .file = "fuzz", .line = 1 } };
  unsigned form;

  if (size < 2)
    return 0;
  form = data[0] % (NR_FORMS + 1);
  if (nowhere == NULL)
    nowhere = fopen ("/dev/null", "w");
  reader.stream.fp = fmemopen ((void *) (data + 1), size - 1, "r");
  if (nowhere == NULL || reader.stream.fp == NULL)
    abort ();
  if (form == NR_FORMS)
    compare (&reader.stream);
  else
    forms[form] (&reader, nowhere);
  report_reader_close (&reader);
  return 0;
}
