/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* Where reports go: what is in the file and beside it, and which errors
 * are told.
 *
 * It is linked with --wrap for the calls that make a new file, to look at
 * it at each of them.
 */

#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "clock.h"
#include "output.h"
#include "unit.h"

#define NR_MODES (OUTPUT_APPEND + 1)

/* Each test has a directory of its own, and one file name in it. */
static char dir[PATH_MAX];
static char path[PATH_MAX + NAME_MAX + 2];
static mode_t old_umask;
static unsigned old_descriptors;

/* What was told as errors since the last look. */
static char errors[4096];
static unsigned nr_errors;

static void tell (const char *fmt, ...)
  __attribute__ ((format (printf, 1, 2)));

static void
tell (const char *fmt, ...)
{
  va_list args;

  va_start (args, fmt);
  vsnprintf (errors, sizeof errors, fmt, args);
  va_end (args);
  nr_errors++;
}

static void
assert_no_error (void)
{
  if (nr_errors)
    fail_msg ("an error was told: %s", errors);
}

/* There was one error, on one line, that has all these words. */
static void
assert_error (const char *word1, const char *word2, const char *word3)
{
  const char *const words[] = { word1, word2, word3 };

  assert_int_equal (nr_errors, 1);
  assert_null (strchr (errors, '\n'));
  for (unsigned i = 0; i < 3; i++) {
    if (strstr (errors, words[i]) == NULL)
      fail_msg ("this error does not say \"%s\": %s", words[i], errors);
  }
  nr_errors = 0;
}

static unsigned
entries (const char *directory)
{
  DIR *d = opendir (directory);
  unsigned n = 0;

  assert_non_null (d);
  while (readdir (d))
    n++;
  closedir (d);
  return n;
}

/* How many files there are, "." and ".." not counted. */
static unsigned
files (void)
{
  return entries (dir) - 2;
}

static void
name_file (const char *name)
{
  snprintf (path, sizeof path, "%s/%s", dir, name);
}

/* Lead standard error elsewhere for a while. */

static int saved_stderr = -1;

static void
redirect_stderr (int fd)
{
  saved_stderr = fcntl (STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
  assert_int_not_equal (saved_stderr, -1);
  assert_int_equal (dup2 (fd, STDERR_FILENO), STDERR_FILENO);
}

static void
restore_stderr (void)
{
  dup2 (saved_stderr, STDERR_FILENO);
  close (saved_stderr);
  saved_stderr = -1;
}

/* What happens at the calls that make a new file and write to it. */

static void (*at_call) (void);
static bool no_fallocate;       /* the file system cannot reserve room */

static void
called (void)
{
  void (*f) (void) = at_call;

  /* What it does may make such calls, too. */
  at_call = NULL;
  if (f)
    f ();
  at_call = f;
}

#define WRAP(type, name, parameters, ...)               \
  extern type __real_##name parameters;                 \
  extern type __wrap_##name parameters;                 \
  type                                                  \
  __wrap_##name parameters                              \
  {                                                     \
    const type r = __real_##name (__VA_ARGS__);         \
    const int saved_errno = errno;                      \
                                                        \
    called ();                                          \
    errno = saved_errno;                                \
    return r;                                           \
  }

WRAP (int, mkostemp, (char *name, int flags), name, flags)
WRAP (int, fchmod, (int fd, mode_t mode), fd, mode)
WRAP (int, fchown, (int fd, uid_t uid, gid_t gid), fd, uid, gid)
WRAP (ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at),
      fd, data, size, at)
WRAP (int, rename, (const char *from, const char *to), from, to)

extern int __real_fallocate (int fd, int mode, off_t at, off_t size);
extern int __wrap_fallocate (int fd, int mode, off_t at, off_t size);

int
__wrap_fallocate (int fd, int mode, off_t at, off_t size)
{
  called ();
  errno = EOPNOTSUPP;
  return no_fallocate ? -1 : __real_fallocate (fd, mode, at, size);
}

#define ROOT 0
#define NOBODY 65534

/* Where we are root we can be another user for a while. */
static void
become (uid_t user)
{
  if (getuid () == 0)
    assert_int_equal (seteuid (user), 0);
}

static int
start (void **state)
{
  const char *parent = getenv ("TMPDIR");
  char name[PATH_MAX - 32];

  (void) state;
  snprintf (name, sizeof name, "%s/nbdkit-stats.XXXXXX",
            parent ? parent : "/tmp");
  if (mkdtemp (name) == NULL || realpath (name, dir) == NULL)
    return -1;
  name_file ("report");
  old_umask = umask (022);
  nr_errors = 0;
  at_call = NULL;
  no_fallocate = false;
  old_descriptors = entries ("/proc/self/fd");
  return 0;
}

static void
remove_all (void)
{
  DIR *d = opendir (dir);
  struct dirent *entry;

  if (d == NULL)
    return;
  while ((entry = readdir (d)) != NULL)
    unlinkat (dirfd (d), entry->d_name, 0);
  closedir (d);
  rmdir (dir);
}

static int
stop (void **state)
{
  (void) state;
  /* After a failure things may be as the test had made them. */
  if (getuid () == 0 && geteuid () != 0 && seteuid (0) == -1)
    return -1;
  if (saved_stderr != -1)
    restore_stderr ();
  umount2 (path, MNT_DETACH);
  umount2 (dir, MNT_DETACH);
  umask (old_umask);
  remove_all ();
  /* Nothing was left open. */
  return entries ("/proc/self/fd") == old_descriptors ? 0 : -1;
}

static void
write_file (const char *name, const char *content)
{
  FILE *fp = fopen (name, "w");

  assert_non_null (fp);
  assert_true (fputs (content, fp) >= 0);
  assert_int_equal (fclose (fp), 0);
}

static void
assert_content (const char *name, const char *expected)
{
  static char content[65536];
  FILE *fp = fopen (name, "r");
  size_t size;

  assert_non_null (fp);
  size = fread (content, 1, sizeof content - 1, fp);
  fclose (fp);
  content[size] = '\0';
  assert_string_equal (content, expected);
}

static struct output *
open_output (enum output_mode mode)
{
  struct output *output = output_open (path, mode, tell);

  assert_no_error ();
  assert_non_null (output);
  return output;
}

static void
write_report (struct output *output, const char *report)
{
  assert_int_equal (output_write (output, report, strlen (report), false), 0);
  assert_no_error ();
}

static struct stat
stat_of (const char *name)
{
  struct stat st;

  assert_int_equal (lstat (name, &st), 0);
  return st;
}

static mode_t
mode_of (const char *name)
{
  return stat_of (name).st_mode & 07777;
}

/* Replacing a file. */

/* The old report stands until the new one is complete; then the name
 * leads to the new one, and a reader of the old one still has all of it.
 */
static void
test_replace (void **state)
{
  struct output *output;
  struct stat before;
  char old[32] = "";
  int fd;

  (void) state;
  write_file (path, "an old report\n");
  before = stat_of (path);
  fd = open (path, O_RDONLY);

  output = open_output (OUTPUT_LATEST);
  output_after_fork (output);
  assert_string_equal (output_name (output), path);
  assert_content (path, "an old report\n");
  assert_int_equal (stat_of (path).st_ino, before.st_ino);

  write_report (output, "new\n");
  assert_content (path, "new\n");
  assert_int_not_equal (stat_of (path).st_ino, before.st_ino);
  assert_int_equal (files (), 1);
  assert_int_equal (read (fd, old, sizeof old - 1), 14);
  assert_string_equal (old, "an old report\n");

  write_report (output, "the next one, which is longer\n");
  write_report (output, "last\n");
  assert_content (path, "last\n");
  assert_int_equal (files (), 1);
  close (fd);
  output_close (output);
}

/* A new file is there from the start, so that an error would be told. */
static void
test_new_file (void **state)
{
  struct output *output = open_output (OUTPUT_LATEST);

  (void) state;
  assert_content (path, "");
  write_report (output, "new\n");
  assert_content (path, "new\n");
  assert_int_equal (files (), 1);
  output_close (output);
}

/* A report is as big as it likes. */
static void
test_big (void **state)
{
  const size_t size = 3 * 1024 * 1024 + 1;
  char *report = malloc (size), *read_back = malloc (size);
  struct output *output = open_output (OUTPUT_LATEST);
  FILE *fp;

  (void) state;
  for (size_t i = 0; i < size; i++)
    report[i] = "0123456789\n"[i % 11];
  assert_int_equal (output_write (output, report, size, false), 0);
  assert_int_equal (stat_of (path).st_size, size);
  fp = fopen (path, "r");
  assert_int_equal (fread (read_back, 1, size, fp), size);
  fclose (fp);
  assert_memory_equal (report, read_back, size);
  output_close (output);
  free (report);
  free (read_back);
}

static void
test_removed_meanwhile (void **state)
{
  struct output *output = open_output (OUTPUT_LATEST);

  (void) state;
  unlink (path);
  write_report (output, "new\n");
  assert_content (path, "new\n");
  output_close (output);
}

/* The directory is gone: nothing can be done, but it is told. */
static void
test_removed_directory (void **state)
{
  (void) state;
  for (enum output_mode mode = 0; mode < NR_MODES; mode++) {
    struct output *output = open_output (mode);

    unlink (path);
    assert_int_equal (rmdir (dir), 0);
    assert_int_equal (output_write (output, "new\n", 4, false), -1);
    assert_error ("statsfile", path, "No such file or directory");
    output_close (output);
    assert_int_equal (mkdir (dir, 0700), 0);
  }
}

/* A symbolic link stays one, and what it leads to is replaced. */
static void
test_symlink (void **state)
{
  char target[sizeof path];
  struct output *output;

  (void) state;
  snprintf (target, sizeof target, "%s/target", dir);
  assert_int_equal (symlink ("target", path), 0);

  /* Once with a target that is not there yet. */
  for (unsigned i = 0; i < 2; i++) {
    output = open_output (OUTPUT_LATEST);
    write_report (output, i == 0 ? "first\n" : "second\n");
    assert_true (S_ISLNK (stat_of (path).st_mode));
    assert_true (S_ISREG (stat_of (target).st_mode));
    assert_content (target, i == 0 ? "first\n" : "second\n");
    assert_int_equal (files (), 2);
    output_close (output);
  }
  output = open_output (OUTPUT_APPEND);
  write_report (output, "third\n");
  assert_true (S_ISLNK (stat_of (path).st_mode));
  assert_content (target, "second\nthird\n");
  output_close (output);
}

/* A new file has the rights that the umask gives. */
static void
test_umask (void **state)
{
  static const struct { mode_t mask, mode; } table[] = {
    { 022, 0644 }, { 027, 0640 }, { 077, 0600 }, { 0, 0666 },
  };

  (void) state;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    for (enum output_mode mode = 0; mode < NR_MODES; mode++) {
      struct output *output;

      umask (table[i].mask);
      output = open_output (mode);
      assert_int_equal (mode_of (path), table[i].mode);
      write_report (output, "new\n");
      assert_int_equal (mode_of (path), table[i].mode);
      output_close (output);
      unlink (path);
    }
  }
}

/* An old file keeps its rights and, where we may, its owner. */
static void
test_rights (void **state)
{
  struct output *output;
  struct stat st;

  (void) state;
  write_file (path, "old\n");
  assert_int_equal (chmod (path, 0640), 0);
  if (geteuid () == 0)
    assert_int_equal (chown (path, 65534, 65534), 0);
  output = open_output (OUTPUT_LATEST);
  write_report (output, "new\n");
  st = stat_of (path);
  assert_int_equal (st.st_mode & 07777, 0640);
  if (geteuid () == 0) {
    assert_int_equal (st.st_uid, 65534);
    assert_int_equal (st.st_gid, 65534);
  }
  output_close (output);
}

/* They are those of the file that is there when the report is written. */
static void
test_rights_changed (void **state)
{
  (void) state;
  for (enum output_mode mode = 0; mode < NR_MODES; mode++) {
    struct output *output;

    write_file (path, "old\n");
    output = open_output (mode);
    assert_int_equal (chmod (path, 0600), 0);
    write_report (output, "1\n");
    assert_int_equal (mode_of (path), 0600);
    assert_int_equal (chmod (path, 0640), 0);
    if (geteuid () == 0)
      assert_int_equal (chown (path, 65534, 65534), 0);
    write_report (output, "2\n");
    assert_int_equal (mode_of (path), 0640);
    if (geteuid () == 0) {
      assert_int_equal (stat_of (path).st_uid, 65534);
      assert_int_equal (stat_of (path).st_gid, 65534);
    }

    /* Another one was put there, and then none. */
    unlink (path);
    write_file (path, "another\n");
    assert_int_equal (chmod (path, 0604), 0);
    write_report (output, "3\n");
    assert_int_equal (mode_of (path), 0604);
    unlink (path);
    write_report (output, "4\n");
    assert_int_equal (mode_of (path), 0604);
    assert_content (path, "4\n");
    unlink (path);
    output_close (output);
  }
}

/* At no moment has the new file more rights than the old one. */

static mode_t most_rights;
static unsigned new_files_seen;

static void
assert_rights (void)
{
  DIR *d = opendir (dir);
  struct dirent *entry;
  struct stat st;

  while ((entry = readdir (d)) != NULL) {
    if (entry->d_name[0] == '.' || fstatat (dirfd (d), entry->d_name, &st, 0))
      continue;
    if (st.st_mode & 07777 & ~most_rights)
      tell ("%s had the mode %o", entry->d_name, st.st_mode);
    new_files_seen += strcmp (entry->d_name, "report") != 0;
  }
  closedir (d);
}

static void
test_rights_meanwhile (void **state)
{
  static const mode_t modes[] = { 0600, 0400, 0640, 0644, 0606, 04755 };

  (void) state;
  for (size_t i = 0; i < LENGTH (modes); i++) {
    struct output *output;

    write_file (path, "old\n");
    output = open_output (OUTPUT_LATEST);
    assert_int_equal (chmod (path, modes[i]), 0);
    /* mkostemp makes it 0600, which for this user are no more rights. */
    most_rights = modes[i] | 0200;
    new_files_seen = 0;
    umask (0);
    at_call = assert_rights;
    write_report (output, "new\n");
    at_call = NULL;
    assert_true (new_files_seen >= 4);
    assert_int_equal (mode_of (path), modes[i]);
    assert_content (path, "new\n");
    output_close (output);
    unlink (path);
  }
}

/* Access control lists and other attributes stay, and the mask of a list
 * never becomes the right of the group.
 */

struct acl_entry { uint16_t tag, perm; uint32_t id; };

/* As Linux has it: one more user may do what mask says. */
static void
set_acl (const char *name, uint16_t mask)
{
  const struct {
    uint32_t version;
    struct acl_entry entries[5];
  } acl = { 2, { { 0x01, 6, UINT32_MAX }, { 0x02, 6, 65534 },
                 { 0x04, 0, UINT32_MAX }, { 0x10, mask, UINT32_MAX },
                 { 0x20, 0, UINT32_MAX } } };

  if (setxattr (name, "system.posix_acl_access", &acl, sizeof acl, 0) == -1) {
    print_message ("skipped: no access control lists: %s\n",
                   strerror (errno));
    skip ();
  }
}

/* The rights of the group itself. */
static unsigned
acl_group (const char *name)
{
  struct { uint32_t version; struct acl_entry entries[5]; } acl;

  assert_int_equal (getxattr (name, "system.posix_acl_access", &acl,
                              sizeof acl), sizeof acl);
  assert_int_equal (acl.entries[1].id, 65534);
  assert_int_equal (acl.entries[2].tag, 0x04);
  return acl.entries[2].perm;
}

static void
test_acl (void **state)
{
  (void) state;
  for (enum output_mode mode = 0; mode < NR_MODES; mode++) {
    struct output *output;
    struct stat before;

    write_file (path, "an old report\n");
    set_acl (path, 6);
    before = stat_of (path);
    assert_int_equal (before.st_mode & 0777, 0660);
    output = open_output (mode);
    write_report (output, "1\n");
    write_report (output, "2\n");
    assert_int_equal (acl_group (path), 0);
    assert_int_equal (stat_of (path).st_ino, before.st_ino);
    assert_content (path, mode == OUTPUT_LATEST ? "2\n"
                    : mode == OUTPUT_NEW ? "1\n2\n"
                    : "an old report\n1\n2\n");
    assert_int_equal (files (), 1);

    /* Without the old file there is no list, and the group has nothing. */
    unlink (path);
    write_report (output, "3\n");
    assert_int_equal (mode_of (path), 0600);
    unlink (path);
    output_close (output);
  }
}

/* What a new file would have by itself is no reason. */
static void
test_attributes (void **state)
{
  struct output *output;
  struct stat before;
  char value[16];

  (void) state;
  write_file (path, "an old report\n");
  before = stat_of (path);
  if (setxattr (path, "user.note", "mine", 4, 0) == -1)
    skip ();
  output = open_output (OUTPUT_LATEST);
  write_report (output, "1\n");
  assert_content (path, "1\n");
  assert_int_equal (getxattr (path, "user.note", value, sizeof value), 4);
  assert_int_equal (stat_of (path).st_ino, before.st_ino);

  assert_int_equal (removexattr (path, "user.note"), 0);
  write_report (output, "2\n");
  assert_content (path, "2\n");
  assert_int_not_equal (stat_of (path).st_ino, before.st_ino);
  assert_int_equal (files (), 1);
  output_close (output);
}

/* The owner cannot be kept by another user: then the file is, unless that
 * makes no difference.
 */
static void
test_other_owner (void **state)
{
  static const struct { mode_t mode; bool replaced; } table[] = {
    { 0644, true }, { 0600, false }, { 0664, false }, { 0640, false },
    { 0660, false }, { 0666, false },
  };

  (void) state;
  if (geteuid () != 0)
    skip ();
  for (size_t i = 0; i < LENGTH (table); i++) {
    struct output *output;
    struct stat before;

    write_file (path, "an old report\n");
    assert_int_equal (chmod (path, table[i].mode), 0);
    before = stat_of (path);
    output = open_output (OUTPUT_LATEST);
    assert_int_equal (chmod (dir, 0777), 0);
    become (NOBODY);
    write_report (output, "new\n");
    become (ROOT);
    assert_content (path, "new\n");
    assert_int_equal (mode_of (path), table[i].mode);
    assert_int_equal (stat_of (path).st_ino != before.st_ino,
                      table[i].replaced);
    assert_int_equal (files (), 1);
    output_close (output);
    unlink (path);
  }
}

/* Names. */

/* As long as they may be. */
static void
test_long_name (void **state)
{
  char name[NAME_MAX + 1];

  (void) state;
  for (size_t len = NAME_MAX - 10; len <= NAME_MAX; len++) {
    struct output *output;

    memset (name, 'n', len);
    name[len] = '\0';
    name_file (name);
    output = open_output (OUTPUT_LATEST);
    write_report (output, "new\n");
    assert_content (path, "new\n");
    assert_int_equal (files (), 1);
    unlink (path);
    output_close (output);
  }
}

/* Others write the same file at the same time, from a container where they
 * have the same process number: they do not disturb each other.
 */
static struct output *other_output;

static void
other_report (void)
{
  if (output_write (other_output, "other\n", 6, false) == -1)
    tell ("the other one was disturbed");
}

static void
test_same_pid (void **state)
{
  struct output *output = open_output (OUTPUT_LATEST);

  (void) state;
  other_output = open_output (OUTPUT_LATEST);
  at_call = other_report;
  write_report (output, "ours\n");
  at_call = NULL;
  assert_content (path, "other\n");   /* after our rename */
  write_report (output, "ours\n");
  assert_content (path, "ours\n");
  assert_int_equal (files (), 1);
  output_close (output);
  output_close (other_output);
}

/* What takes its place. */

/* A file of that kind is at path. */
static void
put (mode_t kind)
{
  char target[sizeof path];

  snprintf (target, sizeof target, "%s/target", dir);
  unlink (path);
  switch (kind) {
  case S_IFLNK:
    write_file (target, "target\n");
    assert_int_equal (symlink ("target", path), 0);
    break;
  case S_IFDIR:
    assert_int_equal (mkdir (path, 0700), 0);
    break;
  default:
    assert_int_equal (mknod (path, kind | 0666, 0), 0);
  }
}

/* It is not written through, nor waited for, nor replaced; that is told.
 * When it has gone, reports are written again.
 */
static void
test_another_kind (void **state)
{
  static const mode_t kinds[] = { S_IFLNK, S_IFIFO, S_IFDIR, S_IFSOCK };

  (void) state;
  for (size_t i = 0; i < LENGTH (kinds); i++) {
    for (enum output_mode mode = 0; mode < NR_MODES; mode++) {
      for (int begun = 0; begun <= 1; begun++) {
        struct output *output = open_output (mode);
        char target[sizeof path];

        if (begun)
          write_report (output, "1\n");
        put (kinds[i]);
        assert_int_equal (output_write (output, "2\n", 2, false), -1);
        assert_error ("statsfile", path, "no regular file");
        assert_int_equal (stat_of (path).st_mode & S_IFMT, kinds[i]);
        if (kinds[i] == S_IFLNK) {
          snprintf (target, sizeof target, "%s/target", dir);
          assert_content (target, "target\n");
          unlink (target);
        }
        assert_int_equal (files (), 1);
        if (kinds[i] == S_IFDIR)
          rmdir (path);
        else
          unlink (path);
        write_report (output, "3\n");
        assert_content (path, "3\n");
        unlink (path);
        output_close (output);
      }
    }
  }
}

/* A file system of our own on dir, out of sight of all other processes,
 * with room for so many pages.  Skips the test where it is not allowed.
 */
static void
mount_small (unsigned pages)
{
  char options[64];

  snprintf (options, sizeof options, "size=%ld",
            (long) pages * sysconf (_SC_PAGESIZE));
  if (unshare (CLONE_NEWNS) == -1
      || mount ("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == -1
      || mount ("tmpfs", dir, "tmpfs", 0, options) == -1) {
    print_message ("skipped: cannot mount a small file system: %s\n",
                   strerror (errno));
    skip ();
  }
}

/* A file that is a mount point of its own, as in containers. */
static void
test_mount_point (void **state)
{
  char source[sizeof path];

  (void) state;
  mount_small (8);
  snprintf (source, sizeof source, "%s/source", dir);
  for (enum output_mode mode = 0; mode < NR_MODES; mode++) {
    struct output *output;

    write_file (source, "an old report, and it is a long one\n");
    write_file (path, "");
    assert_int_equal (mount (source, path, "none", MS_BIND, NULL), 0);
    output = open_output (mode);
    write_report (output, "1\n");
    write_report (output, "2, longer\n");
    write_report (output, "3\n");
    assert_content (source, mode == OUTPUT_LATEST ? "3\n"
                    : mode == OUTPUT_NEW ? "1\n2, longer\n3\n"
                    : "an old report, and it is a long one\n"
                      "1\n2, longer\n3\n");
    assert_int_equal (files (), 2);
    output_close (output);
    assert_int_equal (umount2 (path, 0), 0);
  }
  name_file ("report");
  assert_int_equal (umount2 (dir, MNT_DETACH), 0);
}

/* A server that became another user can no longer make files there.  It
 * writes into the one that it opened before.
 */
static void
test_other_user (void **state)
{
  struct output *output;

  (void) state;
  write_file (path, "an old report, and it is a long one\n");
  assert_int_equal (chmod (dir, 0755), 0);
  output = open_output (OUTPUT_LATEST);
  assert_int_equal (chmod (dir, 0555), 0);
  become (NOBODY);

  write_report (output, "new\n");
  assert_content (path, "new\n");
  write_report (output, "another one\n");
  write_report (output, "the last\n");
  assert_content (path, "the last\n");
  assert_int_equal (files (), 1);

  become (ROOT);
  assert_int_equal (chmod (dir, 0755), 0);
  unlink (path);
  assert_int_equal (chmod (dir, 0555), 0);
  become (NOBODY);
  assert_int_equal (output_write (output, "new\n", 4, false), -1);
  assert_error ("statsfile", path, "No such file or directory");

  become (ROOT);
  assert_int_equal (chmod (dir, 0755), 0);
  output_close (output);
}

/* In a sticky directory like /tmp it could make a file, but not put it in
 * the place of another user's.
 */
static void
test_sticky (void **state)
{
  struct output *output;
  struct stat before;

  (void) state;
  if (geteuid () != 0)
    skip ();
  write_file (path, "an old report, and it is a long one\n");
  before = stat_of (path);
  assert_int_equal (chmod (dir, 01777), 0);
  output = open_output (OUTPUT_LATEST);
  become (NOBODY);
  write_report (output, "new\n");
  write_report (output, "the last\n");
  become (ROOT);
  assert_content (path, "the last\n");
  assert_int_equal (stat_of (path).st_ino, before.st_ino);
  assert_int_equal (files (), 1);
  output_close (output);
}

/* The first report of a run replaces the old one, further ones join it. */
static void
test_new (void **state)
{
  struct output *output;
  struct stat before;
  char old[32] = "";
  int fd;

  (void) state;
  write_file (path, "an old report\n");
  before = stat_of (path);
  fd = open (path, O_RDONLY);
  output = open_output (OUTPUT_NEW);
  assert_content (path, "an old report\n");

  write_report (output, "first\n");
  assert_content (path, "first\n");
  assert_int_not_equal (stat_of (path).st_ino, before.st_ino);
  assert_int_equal (read (fd, old, sizeof old - 1), 14);
  before = stat_of (path);
  write_report (output, "second\n");
  write_report (output, "third\n");
  assert_content (path, "first\nsecond\nthird\n");
  assert_int_equal (stat_of (path).st_ino, before.st_ino);

  unlink (path);
  write_report (output, "fourth\n");
  assert_content (path, "fourth\n");
  assert_int_equal (files (), 1);
  close (fd);
  output_close (output);
}

/* The same through the descriptor that was opened before. */
static void
test_new_other_user (void **state)
{
  struct output *output;

  (void) state;
  write_file (path, "an old report, and it is a long one\n");
  output = open_output (OUTPUT_NEW);
  assert_int_equal (chmod (dir, 0555), 0);
  become (NOBODY);
  write_report (output, "first\n");
  assert_content (path, "first\n");
  write_report (output, "second\n");
  assert_content (path, "first\nsecond\n");
  become (ROOT);
  assert_int_equal (chmod (dir, 0755), 0);
  output_close (output);
}

/* Appending to a file. */

static void
test_append (void **state)
{
  struct output *output;
  struct stat before;

  (void) state;
  write_file (path, "a log\n");
  before = stat_of (path);
  for (unsigned i = 0; i < 2; i++) {
    output = open_output (OUTPUT_APPEND);
    write_report (output, "first\n");
    write_report (output, "second\n");
    output_close (output);
  }
  assert_content (path, "a log\nfirst\nsecond\nfirst\nsecond\n");
  assert_int_equal (stat_of (path).st_ino, before.st_ino);
  assert_int_equal (files (), 1);
}

/* A process that was killed while it wrote left half a line: ours is not
 * glued to it.
 */
static void
test_append_fragment (void **state)
{
  static const struct { const char *log, *then; } table[] = {
    { "", "first\nsecond\n" },
    { "\n", "\nfirst\nsecond\n" },
    { "a log\n", "a log\nfirst\nsecond\n" },
    { "a log\nand ha", "a log\nand ha\nfirst\nsecond\n" },
    { "x", "x\nfirst\nsecond\n" },
  };

  (void) state;
  for (size_t i = 0; i < LENGTH (table); i++) {
    struct output *output;

    write_file (path, table[i].log);
    output = open_output (OUTPUT_APPEND);
    assert_content (path, table[i].log);
    write_report (output, "first\n");
    write_report (output, "second\n");
    assert_content (path, table[i].then);
    output_close (output);
  }
}

/* What looked like half a line was a write that was going on, and whose
 * process had lost the processor.  Whoever asks for room has to wait for
 * its end.
 */
static void
end_line (void)
{
  FILE *fp = fopen (path, "a");

  assert_non_null (fp);
  assert_true (fputs ("lf a line\n", fp) >= 0);
  assert_int_equal (fclose (fp), 0);
}

static void
test_append_in_write (void **state)
{
  struct output *output;

  (void) state;
  write_file (path, "a log\nand ha");
  output = open_output (OUTPUT_APPEND);
  at_call = end_line;
  write_report (output, "first\n");
  at_call = NULL;
  assert_content (path, "a log\nand half a line\nfirst\n");
  output_close (output);
}

/* The log was moved away, as logrotate does, or removed: a new one. */
static void
test_append_moved (void **state)
{
  struct output *output = open_output (OUTPUT_APPEND);
  char moved[sizeof path];

  (void) state;
  snprintf (moved, sizeof moved, "%s/moved", dir);
  write_report (output, "first\n");
  assert_int_equal (rename (path, moved), 0);
  write_report (output, "second\n");
  write_report (output, "third\n");
  assert_content (moved, "first\n");
  assert_content (path, "second\nthird\n");

  assert_int_equal (unlink (path), 0);
  write_report (output, "fourth\n");
  assert_content (path, "fourth\n");
  output_close (output);
}

/* A heading is needed at the top of whatever file the next report goes to,
 * and where one that should have been there was lost.
 */
static void
test_at_top (void **state)
{
  char moved[sizeof path];

  (void) state;
  snprintf (moved, sizeof moved, "%s/moved", dir);
  for (enum output_mode mode = OUTPUT_NEW; mode <= OUTPUT_APPEND;
       mode += OUTPUT_APPEND - OUTPUT_NEW) {
    struct output *output;

    write_file (path, "of others\n");
    output = open_output (mode);
    assert_true (output_at_top (output));
    write_report (output, "first\n");
    assert_false (output_at_top (output));
    write_report (output, "second\n");
    assert_false (output_at_top (output));
    assert_int_equal (rename (path, moved), 0);
    assert_true (output_at_top (output));
    write_report (output, "third\n");
    assert_false (output_at_top (output));
    assert_int_equal (truncate (path, 0), 0);
    assert_true (output_at_top (output));
    write_report (output, "fourth\n");
    assert_int_equal (unlink (path), 0);
    write_file (path, "of others\n");
    assert_true (output_at_top (output));
    write_report (output, "fifth\n");
    assert_false (output_at_top (output));
    assert_content (path, "of others\nfifth\n");
    output_close (output);
  }
}

/* Several processes append to one file: each report comes out whole. */

enum { PROCESSES = 4, REPORTS = 100, LINES = 60 };

/* A report names its process in each line, and its number. */
static size_t
make_report (char *report, size_t size, int process, int number)
{
  size_t used = 0;

  for (int line = 0; line < LINES; line++)
    used += (size_t) snprintf (report + used, size - used,
                               "%d %d %d and the rest of the line\n",
                               process, number, line);
  return used;
}

static int
append_reports (int process)
{
  static char report[LINES * 64];
  struct output *output = output_open (path, OUTPUT_APPEND, tell);

  if (output == NULL)
    return 1;
  for (int i = 0; i < REPORTS; i++) {
    const size_t size = make_report (report, sizeof report, process, i);

    if (output_write (output, report, size, false) == -1)
      return 1;
    sched_yield ();
  }
  output_close (output);
  return 0;
}

static void
test_append_processes (void **state)
{
  int next[PROCESSES] = { 0 }, process, number, line, expected = 0;
  int of = -1, status;
  char text[128];
  FILE *fp;

  (void) state;
  for (int i = 0; i < PROCESSES; i++) {
    pid_t pid = fork ();

    assert_int_not_equal (pid, -1);
    if (pid == 0)
      _exit (append_reports (i));
  }
  for (int i = 0; i < PROCESSES; i++) {
    assert_int_not_equal (wait (&status), -1);
    assert_int_equal (status, 0);
  }

  fp = fopen (path, "r");
  assert_non_null (fp);
  while (fgets (text, sizeof text, fp)) {
    assert_int_equal (sscanf (text, "%d %d %d and", &process, &number,
                              &line), 3);
    assert_in_range (process, 0, PROCESSES - 1);
    assert_int_equal (line, expected);
    if (line > 0)
      assert_int_equal (process, of);
    of = process;
    assert_int_equal (number, next[process]);
    expected = (line + 1) % LINES;
    if (expected == 0)
      next[process]++;
  }
  fclose (fp);
  for (int i = 0; i < PROCESSES; i++)
    assert_int_equal (next[i], REPORTS);
}

/* A full disk. */

static void
test_dev_full (void **state)
{
  (void) state;
  snprintf (path, sizeof path, "/dev/full");
  for (enum output_mode mode = 0; mode < NR_MODES; mode++) {
    struct output *output = open_output (mode);

    assert_int_equal (output_write (output, "new\n", 4, false), -1);
    assert_error ("statsfile", "/dev/full", "No space left on device");
    output_close (output);
  }
}

/* Make a file of so many pages. */
static void
fill (const char *name, unsigned pages)
{
  char file[sizeof path];
  const size_t size = pages * (size_t) sysconf (_SC_PAGESIZE);
  char *buf = calloc (1, size);
  FILE *fp;

  snprintf (file, sizeof file, "%s/%s", dir, name);
  fp = fopen (file, "w");
  assert_non_null (fp);
  assert_int_equal (fwrite (buf, 1, size, fp), size);
  assert_int_equal (fclose (fp), 0);
  free (buf);
}

/* Make room again. */
static void
remove_file (const char *name)
{
  name_file (name);
  unlink (path);
  name_file ("report");
}

/* A report of four pages. */
static char *
large_report (size_t *size)
{
  char *report;

  *size = 4 * (size_t) sysconf (_SC_PAGESIZE);
  report = malloc (*size);
  assert_non_null (report);
  return memset (report, 'x', *size);
}

/* A report that did not fit leaves the file as it was, with no part of the
 * report in it and nothing beside it; one that fits is written later.
 */
static void
test_full (void **state)
{
  size_t size;
  char *report;

  (void) state;
  mount_small (8);
  report = large_report (&size);
  for (enum output_mode mode = 0; mode < NR_MODES; mode++) {
    struct output *output;

    write_file (path, "an old report\n");
    output = open_output (mode);
    fill ("filler", 5);

    /* There is room for a part of it. */
    assert_int_equal (output_write (output, report, size, false), -1);
    assert_error ("statsfile", path, "No space left on device");
    assert_content (path, "an old report\n");
    assert_int_equal (files (), 2);

    /* There is room for nothing more at all. */
    fill ("more", 2);
    assert_int_equal (output_write (output, report, size, true), -1);
    assert_error ("statsfile", path, "No space left on device");
    assert_content (path, "an old report\n");
    assert_int_equal (files (), 3);

    remove_file ("filler");
    write_report (output, "new\n");
    assert_content (path, mode == OUTPUT_APPEND ? "an old report\nnew\n"
                                                : "new\n");
    output_close (output);
    remove_file ("more");
  }
  unlink (path);
  assert_int_equal (umount2 (dir, MNT_DETACH), 0);
  free (report);
}

/* After a report of ours that was written through the descriptor, one does
 * not fit: none of it is left, nor a gap before the next one.
 */
static void
test_full_other_user (void **state)
{
  struct output *output;
  size_t size;
  char *report;

  (void) state;
  mount_small (8);
  report = large_report (&size);
  write_file (path, "an old report\n");
  output = open_output (OUTPUT_NEW);
  fill ("filler", 5);
  assert_int_equal (chmod (dir, 0555), 0);
  become (NOBODY);
  write_report (output, "first\n");
  assert_int_equal (output_write (output, report, size, false), -1);
  become (ROOT);
  assert_error ("statsfile", path, "No space left on device");
  assert_content (path, "first\n");
  remove_file ("filler");
  become (NOBODY);
  write_report (output, "second\n");
  become (ROOT);
  assert_int_equal (stat_of (path).st_size, strlen ("first\nsecond\n"));
  assert_content (path, "first\nsecond\n");
  output_close (output);
  unlink (path);
  assert_int_equal (umount2 (dir, MNT_DETACH), 0);
  free (report);
}

/* Where it is written in place, a report that does not fit leaves the old
 * one as it was; also where the file system cannot reserve room.
 */
static void
test_full_in_place (void **state)
{
  struct output *output;
  size_t size;
  char *report;

  (void) state;
  mount_small (8);
  report = large_report (&size);
  for (int no = 0; no <= 1; no++) {
    no_fallocate = no;
    write_file (path, "an old report\n");
    output = open_output (OUTPUT_LATEST);
    fill ("filler", 5);
    assert_int_equal (chmod (dir, 0555), 0);
    become (NOBODY);
    assert_int_equal (output_write (output, report, size, false), -1);
    become (ROOT);
    assert_error ("statsfile", path, "No space left on device");
    assert_content (path, "an old report\n");

    /* What fits is written. */
    become (NOBODY);
    assert_int_equal (output_write (output, report, size / 2, false), 0);
    assert_int_equal (stat_of (path).st_size, size / 2);
    write_report (output, "last\n");
    become (ROOT);
    assert_content (path, "last\n");
    remove_file ("filler");
    output_close (output);
  }
  unlink (path);
  assert_int_equal (umount2 (dir, MNT_DETACH), 0);
  free (report);
}

/* A limit of a file's size (ulimit -f) is an error and not the end of the
 * server.
 */
static void
test_file_size_limit (void **state)
{
  struct rlimit old, limit;
  sigset_t mask;

  (void) state;
  assert_int_equal (getrlimit (RLIMIT_FSIZE, &old), 0);
  limit = old;
  limit.rlim_cur = 20;
  for (enum output_mode mode = 0; mode < NR_MODES; mode++) {
    struct output *output;

    write_file (path, "an old report\n");
    output = open_output (mode);
    assert_int_equal (setrlimit (RLIMIT_FSIZE, &limit), 0);
    output_write (output, "one line and another one\n", 25, false);
    assert_int_equal (setrlimit (RLIMIT_FSIZE, &old), 0);
    assert_error ("statsfile", path, "the report is lost");
    assert_content (path, "an old report\n");
    assert_int_equal (files (), 1);
    output_close (output);
  }
  pthread_sigmask (SIG_SETMASK, NULL, &mask);
  assert_int_equal (sigismember (&mask, SIGXFSZ), 0);
}

/* Also where it is written in place, over a longer one or a shorter. */
static void
test_file_size_limit_in_place (void **state)
{
  static const char *const old[] = {
    "an old report\n", "an old report that is longer than the new one\n",
  };
  struct rlimit before, limit;

  (void) state;
  assert_int_equal (getrlimit (RLIMIT_FSIZE, &before), 0);
  limit = before;
  limit.rlim_cur = 20;
  for (size_t i = 0; i < LENGTH (old); i++) {
    for (int no = 0; no <= 1; no++) {
      struct output *output;

      no_fallocate = no;
      write_file (path, old[i]);
      set_acl (path, 6);
      output = open_output (OUTPUT_LATEST);
      assert_int_equal (setrlimit (RLIMIT_FSIZE, &limit), 0);
      output_write (output, "one line and another one\n", 25, false);
      assert_int_equal (setrlimit (RLIMIT_FSIZE, &before), 0);
      assert_error ("statsfile", path, "the report is lost");
      assert_content (path, old[i]);
      output_close (output);
    }
  }
}

/* FIFOs, terminals and so on. */

/* Several times what a pipe holds, to a slow reader.  No more, since all of a
 * report has five seconds, and on a busy machine reader and writer wait long
 * for their turns.
 */

enum { BIG = 256 * 1024 + 3, SLOW = 30000 };

static struct reader {
  pthread_t thread, writer;
  int fd;
  char *buf;
  size_t size, got;
} reader;

static void
on_signal (int sig)
{
  (void) sig;
}

/* Read this many bytes and close it: first slowly, when the writer has
 * filled the pipe and waits, and then gets a signal in its system call.
 */
static void *
read_all (void *vp)
{
  struct pollfd pfd = { .fd = reader.fd, .events = POLLIN };
  ssize_t r = 1;

  (void) vp;
  while (r > 0 && reader.got < reader.size) {
    size_t n = reader.size - reader.got;

    /* Before the writer comes to a FIFO it looks as if it were at its end. */
    poll (&pfd, 1, -1);
    if (reader.got < SLOW) {
      usleep (500);
      pthread_kill (reader.writer, SIGUSR1);
      n = n < 5000 ? n : 5000;
    }
    r = read (reader.fd, reader.buf + reader.got, n);
    if (r > 0)
      reader.got += (size_t) r;
  }
  close (reader.fd);
  return NULL;
}

/* In a thread of its own, while the caller writes. */
static void
start_reader (int fd, size_t size)
{
  const struct sigaction action = { .sa_handler = on_signal };

  reader = (struct reader) {
    .writer = pthread_self (), .fd = fd,
    .buf = calloc (1, size), .size = size,
  };
  assert_int_not_equal (fd, -1);
  assert_non_null (reader.buf);
  assert_int_equal (sigaction (SIGUSR1, &action, NULL), 0);
  assert_int_equal (
    pthread_create (&reader.thread, NULL, read_all, NULL), 0);
}

/* The reader got all of it, in order. */
static void
assert_reader_got (const char *report, size_t size)
{
  pthread_join (reader.thread, NULL);
  assert_int_equal (reader.got, size);
  assert_memory_equal (reader.buf, report, size);
  free (reader.buf);
}

/* Nobody would ever read it, and the server is to end: at once.  A hundred
 * that waited would take 500 seconds.
 */
static void
test_fifo_without_reader (void **state)
{
  const uint64_t before = clock_now ();
  struct output *output;

  (void) state;
  assert_int_equal (mkfifo (path, 0600), 0);
  output = open_output (OUTPUT_LATEST);
  assert_int_equal (output_write (output, "new\n", 4, false), -1);
  assert_error ("statsfile", path, "reader");
  for (unsigned i = 1; i < 100; i++)
    assert_int_equal (output_write (output, "new\n", 4, false), -1);
  assert_no_error ();
  assert_true (clock_since (before, clock_now ()) < 100 * S);
  output_close (output);
}

static char *
big_report (void)
{
  char *report = malloc (BIG);

  assert_non_null (report);
  for (size_t i = 0; i < BIG; i++)
    report[i] = (char) ('a' + i % 26);
  return report;
}

static int
open_to_read (const char *fifo)
{
  int fd = open (fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

  if (fd != -1)
    fcntl (fd, F_SETFL, 0);
  return fd;
}

static void
test_fifo (void **state)
{
  struct output *output;
  char *report = big_report ();

  (void) state;
  assert_int_equal (mkfifo (path, 0600), 0);
  output = open_output (OUTPUT_LATEST);
  assert_string_equal (output_name (output), path);
  for (unsigned i = 0; i < 2; i++) {
    start_reader (open_to_read (path), BIG);
    assert_int_equal (output_write (output, report, BIG, false), 0);
    assert_reader_got (report, BIG);
    assert_no_error ();
  }
  assert_true (S_ISFIFO (stat_of (path).st_mode));
  assert_int_equal (files (), 1);
  output_close (output);
  free (report);
}

/* What takes the place of a FIFO is not used. */
static void
test_fifo_replaced (void **state)
{
  char target[sizeof path];
  struct output *output;
  int reader_fd;

  (void) state;
  snprintf (target, sizeof target, "%s/target", dir);
  assert_int_equal (mkfifo (path, 0600), 0);
  output = open_output (OUTPUT_LATEST);
  put (S_IFLNK);
  assert_int_equal (output_write (output, "1\n", 2, true), -1);
  assert_error ("statsfile", path, "no FIFO has taken its place");
  assert_content (target, "target\n");
  unlink (target);
  assert_int_equal (mkfifo (target, 0600), 0);
  reader_fd = open_to_read (target);
  assert_int_equal (output_write (output, "1\n", 2, true), -1);
  assert_error ("statsfile", path, "no FIFO has taken its place");
  close (reader_fd);
  unlink (path);
  write_file (path, "a file\n");
  assert_int_equal (output_write (output, "2\n", 2, true), -1);
  assert_error ("statsfile", path, "no FIFO has taken its place");
  assert_content (path, "a file\n");
  unlink (path);
  assert_int_equal (mkfifo (path, 0600), 0);
  reader_fd = open_to_read (path);
  assert_true (output_at_top (output));
  write_report (output, "3\n");
  assert_false (output_at_top (output));
  close (reader_fd);
  assert_int_equal (output_write (output, "4\n", 2, true), -1);
  assert_error ("statsfile", path, "the report is lost");
  assert_true (output_at_top (output));
  output_close (output);
}

/* The reader goes away: an error, and no signal that kills. */
static void
test_fifo_reader_goes (void **state)
{
  struct output *output;
  char *report = big_report ();

  (void) state;
  assert_int_equal (mkfifo (path, 0600), 0);
  output = open_output (OUTPUT_LATEST);
  start_reader (open_to_read (path), 1000);
  assert_int_equal (output_write (output, report, BIG, false), -1);
  assert_reader_got (report, 1000);
  assert_error ("statsfile", path, "the report is lost");
  output_close (output);
  free (report);
}

/* Of reports that are lost one after the other the first is told, and the
 * last; and the next one that is lost after one was written.
 */
static void
test_told_once (void **state)
{
  struct output *output;
  int reader_fd;

  (void) state;
  assert_int_equal (mkfifo (path, 0600), 0);
  output = open_output (OUTPUT_NEW);
  assert_int_equal (output_write (output, "1\n", 2, false), -1);
  assert_error ("statsfile", path, "the report is lost");
  assert_int_equal (output_write (output, "2\n", 2, false), -1);
  assert_int_equal (output_write (output, "3\n", 2, false), -1);
  assert_no_error ();

  reader_fd = open_to_read (path);
  write_report (output, "4\n");
  close (reader_fd);
  assert_int_equal (output_write (output, "5\n", 2, false), -1);
  assert_error ("statsfile", path, "the report is lost");
  assert_int_equal (output_write (output, "6\n", 2, false), -1);
  assert_no_error ();
  assert_int_equal (output_write (output, "7\n", 2, true), -1);
  assert_error ("statsfile", path, "the report is lost");
  output_close (output);
}

/* A report for which there was no memory is told in the same way. */
static void
test_lost (void **state)
{
  struct output *output = open_output (OUTPUT_NEW);

  (void) state;
  output_lost (output, false);
  assert_error ("statsfile", path, "Cannot allocate memory");
  output_lost (output, false);
  assert_no_error ();
  output_lost (output, true);
  assert_error ("statsfile", path, "Cannot allocate memory");
  write_report (output, "first\n");
  assert_content (path, "first\n");
  output_lost (output, false);
  assert_error ("statsfile", path, "the report is lost");
  output_close (output);
}

/* Standard error is what is behind descriptor 2, written as it is. */

static void
test_stderr (void **state)
{
  char by_pid[64];
  const char *const names[] = {
    NULL, "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2", "/dev//stderr",
    "/dev/./fd//2", "/proc/thread-self/fd/2", by_pid,
  };

  (void) state;
  snprintf (by_pid, sizeof by_pid, "/proc/%ld/fd/2", (long) getpid ());
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    struct output *output;
    int fd = open (path, O_RDWR | O_CREAT | O_TRUNC, 0600);

    assert_int_not_equal (fd, -1);
    redirect_stderr (fd);
    assert_int_equal (write (STDERR_FILENO, "before\n", 7), 7);
    output = output_open (names[i], OUTPUT_NEW, tell);
    if (output) {
      output_after_fork (output);
      output_write (output, "report 1\n", 9, false);
      output_write (output, "report 2\n", 9, false);
    }
    if (write (STDERR_FILENO, "after\n", 6) != 6)
      tell ("stderr was closed");
    restore_stderr ();
    close (fd);
    assert_non_null (output);
    assert_no_error ();
    assert_string_equal (output_name (output), "standard error");
    assert_content (path, "before\nreport 1\nreport 2\nafter\n");
    assert_int_equal (files (), 1);
    output_close (output);
  }
}

/* Whoever started us may have made the pipe non-blocking. */
static void
test_stderr_pipe (void **state)
{
  char *report = big_report ();
  struct output *output;
  int fds[2], r = -1;

  (void) state;
  for (int nonblock = 0; nonblock <= 1; nonblock++) {
    assert_int_equal (pipe2 (fds, O_CLOEXEC), 0);
    if (nonblock)
      fcntl (fds[1], F_SETFL, O_NONBLOCK);
    redirect_stderr (fds[1]);
    close (fds[1]);
    start_reader (fds[0], BIG);
    output = output_open (NULL, OUTPUT_NEW, tell);
    if (output)
      r = output_write (output, report, BIG, false);
    output_close (output);
    restore_stderr ();
    assert_reader_got (report, BIG);
    assert_int_equal (r, 0);
    assert_no_error ();
  }
  free (report);
}

static void
test_stderr_full (void **state)
{
  struct output *output;
  int r = 0, fd = open ("/dev/full", O_WRONLY | O_CLOEXEC);

  (void) state;
  redirect_stderr (fd);
  output = output_open (NULL, OUTPUT_NEW, tell);
  if (output)
    r = output_write (output, "new\n", 4, false);
  output_close (output);
  restore_stderr ();
  close (fd);
  assert_int_equal (r, -1);
  assert_error ("statsfile", "standard error", "No space left on device");
}

/* In the background the server leads standard error to /dev/null, and the
 * report goes to the system log; where it led there from the beginning,
 * the user wanted it so.
 */
static void
test_background (void **state)
{
  int null = open ("/dev/null", O_WRONLY | O_CLOEXEC);
  int file = open (path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  struct output *wanted, *gone;

  (void) state;
  redirect_stderr (file);
  gone = output_open (NULL, OUTPUT_NEW, tell);
  dup2 (null, STDERR_FILENO);
  output_after_fork (gone);
  wanted = output_open (NULL, OUTPUT_NEW, tell);
  output_after_fork (wanted);
  if (output_write (wanted, "nobody reads this\n", 18, false) == -1)
    tell ("it could not be thrown away");
  restore_stderr ();
  close (null);
  close (file);

  assert_no_error ();
  assert_string_equal (output_name (gone), "the system log");
  assert_string_equal (output_name (wanted), "standard error");
  if (access ("/dev/log", W_OK) == 0)
    assert_content (path, "");
  else
    assert_content (path, "nbdkit: error: statsfile: in the background the "
                    "report goes to the system log, which is not there: "
                    "No such file or directory; give statsfile=FILE\n");
  output_close (gone);
  output_close (wanted);
}

/* Other descriptors by their names.  A file behind one is neither
 * truncated nor replaced, and whoever opened it may close it.
 */
static void
test_descriptor (void **state)
{
  struct output *output;
  struct stat before;
  char log[sizeof path];
  int fd;

  (void) state;
  memcpy (log, path, sizeof log);
  write_file (log, "a log\n");
  before = stat_of (log);
  for (unsigned i = 0; i < 2; i++) {
    fd = open (log, O_WRONLY | O_APPEND | O_CLOEXEC);
    snprintf (path, sizeof path, i ? "/dev/fd/%d" : "/proc/self/fd/%d", fd);
    output = open_output (OUTPUT_LATEST);
    close (fd);
    write_report (output, "new\n");
    output_close (output);
  }
  assert_content (log, "a log\nnew\nnew\n");
  assert_int_equal (stat_of (log).st_ino, before.st_ino);
  assert_int_equal (files (), 1);
}

/* The end of a pipe, as a shell's >(command) gives it. */
static void
test_descriptor_pipe (void **state)
{
  char *report = big_report ();
  struct output *output;
  int fds[2];

  (void) state;
  assert_int_equal (pipe2 (fds, O_CLOEXEC), 0);
  snprintf (path, sizeof path, "/dev/fd/%d", fds[1]);
  output = open_output (OUTPUT_LATEST);
  close (fds[1]);
  start_reader (fds[0], BIG);
  assert_int_equal (output_write (output, report, BIG, false), 0);
  assert_no_error ();
  assert_reader_got (report, BIG);
  output_close (output);
  free (report);
}

/* Any other path to a file that is open as standard error or standard
 * output: a link to the descriptor, a link to the file, a hard link, its own
 * name.  It is written through the descriptor, as a log.
 */
static void
test_log_by_name (void **state)
{
  static const int fds[] = { STDERR_FILENO, STDOUT_FILENO };
  static const char *const links[] = {
    "/dev/stderr", "/dev/stdout", "log", "./log", "/dev/fd/2", "/dev/fd/1",
  };
  char log[sizeof path], hard[sizeof path];
  struct stat before;

  (void) state;
  snprintf (log, sizeof log, "%s/log", dir);
  snprintf (hard, sizeof hard, "%s/hard", dir);
  write_file (log, "a log\n");
  assert_int_equal (link (log, hard), 0);
  before = stat_of (log);
  for (size_t i = 0; i < LENGTH (links) + 2; i++) {
    for (size_t j = 0; j < LENGTH (fds); j++) {
      struct output *output;
      int fd = open (log, O_RDWR | O_APPEND | O_CLOEXEC);
      int saved = fcntl (fds[j], F_DUPFD_CLOEXEC, 10);

      if (i < LENGTH (links) && strchr (links[i], '/') == links[i]
          && (strstr (links[i], "err") || strchr (links[i], '2')) == j) {
        close (fd);
        close (saved);
        continue;
      }
      if (i < LENGTH (links)) {
        unlink (path);
        assert_int_equal (symlink (links[i], path), 0);
      }
      dup2 (fd, fds[j]);
      output = output_open (i < LENGTH (links) ? path
                            : i == LENGTH (links) ? log : hard,
                            OUTPUT_LATEST, tell);
      if (output)
        output_write (output, "new\n", 4, true);
      dup2 (saved, fds[j]);
      close (saved);
      assert_non_null (output);
      assert_no_error ();
      assert_content (log, "a log\nnew\n");
      assert_int_equal (stat_of (log).st_ino, before.st_ino);
      assert_int_equal (ftruncate (fd, 6), 0);
      close (fd);
      output_close (output);
    }
  }
}

/* It keeps the place of the descriptor, whose flags stay. */
static void
test_flags_stay (void **state)
{
  struct output *output;
  int fds[2];

  (void) state;
  assert_int_equal (pipe2 (fds, O_CLOEXEC), 0);
  redirect_stderr (fds[1]);
  output = output_open (NULL, OUTPUT_NEW, tell);
  if (output)
    output_write (output, "new\n", 4, false);
  assert_int_equal (fcntl (fds[1], F_GETFL) & O_NONBLOCK, 0);
  output_close (output);
  restore_stderr ();
  assert_no_error ();
  close (fds[0]);
  close (fds[1]);
}

/* A pipe that is full, and that nobody reads. */
static void
fill_pipe (int fd)
{
  char page[4096] = "";

  fcntl (fd, F_SETFL, O_NONBLOCK);
  while (write (fd, page, sizeof page) > 0)
    ;
  fcntl (fd, F_SETFL, 0);
}

/* As standard error: neither the report nor its error is waited for, and
 * the next reports do not even wait five seconds.  Once with the rights to
 * open the pipe again, once without.
 */
static void
test_stderr_nobody_reads (void **state)
{
  const bool root = geteuid () == 0;

  (void) state;
  for (int other = 0; other <= root; other++) {
    struct output *output;
    uint64_t before, first, next;
    int fds[2], r = 0;

    assert_int_equal (pipe2 (fds, O_CLOEXEC), 0);
    fill_pipe (fds[1]);
    redirect_stderr (fds[1]);
    if (other)
      become (NOBODY);
    output = output_open (NULL, OUTPUT_NEW, tell);
    before = clock_now ();
    if (output)
      r = output_write (output, "new\n", 4, false);
    first = clock_since (before, clock_now ());
    for (unsigned i = 0; output && i < 100; i++)
      output_write (output, "new\n", 4, i == 99);
    next = clock_since (before + first, clock_now ());
    output_close (output);
    if (other)
      become (ROOT);
    restore_stderr ();
    close (fds[0]);
    close (fds[1]);
    assert_int_equal (r, -1);
    assert_int_equal (nr_errors, 0);
    assert_true (first >= 4 * S);
    /* A hundred that waited would take 500 seconds. */
    assert_true (next < 100 * S);
  }
}

/* Where a report goes to the same file as another descriptor. */
static void
test_leads_to (void **state)
{
  struct output *output;
  int fds[2], other = open ("/dev/null", O_WRONLY | O_CLOEXEC);

  (void) state;
  assert_int_equal (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds),
                    0);
  snprintf (path, sizeof path, "/dev/fd/%d", fds[0]);
  output = open_output (OUTPUT_NEW);
  assert_true (output_leads_to (output, fds[0]));
  assert_false (output_leads_to (output, fds[1]));
  assert_false (output_leads_to (output, other));
  output_close (output);
  close (fds[0]);
  close (fds[1]);
  close (other);
}

/* A descriptor that is open for reading only is told at the start. */
static void
test_read_only_descriptor (void **state)
{
  int fds[2];

  (void) state;
  assert_int_equal (pipe2 (fds, O_CLOEXEC), 0);
  snprintf (path, sizeof path, "/dev/fd/%d", fds[0]);
  assert_null (output_open (path, OUTPUT_NEW, tell));
  assert_error ("statsfile", path, "Bad file descriptor");
  close (fds[0]);
  close (fds[1]);
}

/* What cannot work is told when it is opened. */
static void
test_bad_paths (void **state)
{
  char blocker[sizeof path];

  (void) state;
  for (enum output_mode mode = 0; mode < NR_MODES; mode++) {
    snprintf (path, sizeof path, "%s", dir);
    assert_null (output_open (path, mode, tell));
    assert_error ("statsfile", path, "Is a directory");

    name_file ("none/report");
    assert_null (output_open (path, mode, tell));
    assert_error ("statsfile", path, "No such file or directory");

    snprintf (path, sizeof path, "/dev/fd/987");
    assert_null (output_open (path, mode, tell));
    assert_error ("statsfile", path, "Bad file descriptor");

    name_file ("file");
    write_file (path, "old\n");
    snprintf (blocker, sizeof blocker, "%s", path);
    name_file ("file/report");
    assert_null (output_open (path, mode, tell));
    assert_error ("statsfile", path, "Not a directory");
    assert_content (blocker, "old\n");

    name_file ("loop");
    unlink (path);
    assert_int_equal (symlink ("loop", path), 0);
    assert_null (output_open (path, mode, tell));
    assert_error ("statsfile", path, "Too many levels of symbolic links");
  }
}

static void
test_not_allowed (void **state)
{
  struct output *output;

  (void) state;
  write_file (path, "old\n");
  assert_int_equal (chmod (path, 0444), 0);
  assert_int_equal (chmod (dir, 0755), 0);
  become (NOBODY);
  output = output_open (path, OUTPUT_NEW, tell);
  become (ROOT);
  assert_null (output);
  assert_error ("statsfile", path, "Permission denied");
  assert_content (path, "old\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown (f, start, stop)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_replace),
    TEST (test_new_file),
    TEST (test_big),
    TEST (test_removed_meanwhile),
    TEST (test_removed_directory),
    TEST (test_symlink),
    TEST (test_umask),
    TEST (test_rights),
    TEST (test_rights_changed),
    TEST (test_rights_meanwhile),
    TEST (test_acl),
    TEST (test_attributes),
    TEST (test_other_owner),
    TEST (test_long_name),
    TEST (test_same_pid),
    TEST (test_another_kind),
    TEST (test_mount_point),
    TEST (test_other_user),
    TEST (test_sticky),
    TEST (test_new),
    TEST (test_new_other_user),
    TEST (test_append),
    TEST (test_append_fragment),
    TEST (test_append_in_write),
    TEST (test_append_moved),
    TEST (test_at_top),
    TEST (test_append_processes),
    TEST (test_dev_full),
    TEST (test_full),
    TEST (test_full_other_user),
    TEST (test_full_in_place),
    TEST (test_file_size_limit),
    TEST (test_file_size_limit_in_place),
    TEST (test_fifo_without_reader),
    TEST (test_fifo),
    TEST (test_fifo_replaced),
    TEST (test_fifo_reader_goes),
    TEST (test_told_once),
    TEST (test_lost),
    TEST (test_stderr),
    TEST (test_stderr_pipe),
    TEST (test_stderr_full),
    TEST (test_background),
    TEST (test_descriptor),
    TEST (test_descriptor_pipe),
    TEST (test_log_by_name),
    TEST (test_flags_stay),
    TEST (test_stderr_nobody_reads),
    TEST (test_leads_to),
    TEST (test_read_only_descriptor),
    TEST (test_bad_paths),
    TEST (test_not_allowed),
  };

  /* As in nbdkit. */
  signal (SIGPIPE, SIG_IGN);
  return cmocka_run_group_tests (tests, NULL, NULL);
}
