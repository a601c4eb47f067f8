/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Reads a job file: sections of settings, in the INI form that fio's users
 * know.  What the names mean is no matter here.
 *
 *   [section]
 *   name = value that may go on
 *     in lines that are indented
 *   # a comment, as is a line that begins with ;
 *
 * No threads.
 */

#ifndef TOOLS_JOB_FILE_H
#define TOOLS_JOB_FILE_H

#include <stddef.h>

struct setting {
  const char *file;             /* where it stands, for errors */
  unsigned line;                /* 0: not in a file */
  char *name;
  char *value;                  /* lines that go on are joined by a blank */
};

struct section {
  char *name;
  unsigned line;
  struct setting *settings;     /* no name twice */
  size_t nr_settings;
};

struct job_file {
  char *path;
  char *text;                   /* as it was read */
  struct section *sections;     /* no name twice */
  size_t nr_sections;
};

/* Each returns 0, or -1 after telling what is wrong, with file and line.
 * Either way job_file_free is called at the end.
 */
extern int job_file_read (struct job_file *file, const char *path);
extern int job_file_parse (struct job_file *file, const char *path,
                           const char *text, size_t size);
extern void job_file_free (struct job_file *file);

/* Returns NULL where there is none of the name. */
extern struct setting *section_find (const struct section *section,
                                     const char *name);

/* Add a setting; all is copied but the file's name. */
extern void section_add (struct section *section, const char *file,
                         unsigned line, const char *name,
                         const char *value);
extern void section_free (struct section *section);

#endif /* TOOLS_JOB_FILE_H */
