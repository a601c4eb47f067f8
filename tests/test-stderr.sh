#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Standard error, by whatever name and by none, is written as it is: a log that
# it leads to is not opened again, so nothing in it is lost or overwritten.

source ./functions.sh
set -e -u -x

mkdir "$tmp/dir"
cd "$tmp/dir"

# report_in LOG: the whole report is in it, once, and between two lines.
report_in ()
{
  cat "$1"
  sed 's/^elapsed time: [0-9.]* s$/elapsed/; s/^total: .*/total/' "$1" |
    grep -x -e 'before' -e 'after' -e 'elapsed' -e 'total' >../order
  diff - ../order <<<$'before\nelapsed\ntotal\nafter' ||
    fail "the lines of the log are not in this order"
}

for param in '' statsfile=- statsfile=/dev/stderr statsfile=/dev/fd/2 \
             statsfile=/proc/self/fd/2; do
  for append in '' statsappend=true; do
    # shellcheck disable=SC2206 # nothing where there is no parameter
    args=($param $append)

    # The log goes on where the shell was in it...
    exec 3>../log
    echo before >&3
    nbdkit -U - --filter=stats null "${args[@]}" --run true 2>&3
    echo after >&3
    exec 3>&-
    report_in ../log

    # ...or at its end...
    echo before >../log
    nbdkit -U - --filter=stats null "${args[@]}" --run true 2>>../log
    echo after >>../log
    report_in ../log

    # ...and may be a pipe.
    (echo before; nbdkit -U - --filter=stats null "${args[@]}" --run true 2>&1
     echo after) 2>/dev/null | cat >../log
    report_in ../log
  done
done

# There is no file of such a name, and none at all.
[ "$(ls -A)" = "" ] || fail "files were made: $(ls -A)"

# What the client writes to standard error comes before the report.
nbdkit -U - --filter=stats null --run 'echo before >&2' 2>../log
echo after >>../log
report_in ../log
