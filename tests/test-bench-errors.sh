#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What is wrong with a job, the command line or the system is told in one line,
# with status 2, and nothing is left.

# shellcheck disable=SC2016 # the shell of the job expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=bench.sh
source "$top_srcdir/tests/bench.sh"

requires_tool
requires nbdinfo --version

cd "$tmp"
cat >good.job <<'END'
[case]
nbdkit = null
client = true
runs = 1
END
bench good.job
test "$status" -eq 0

# refused MESSAGE ARGS...
refused ()
{
  local message=$1
  shift
  bench "$@"
  [ "$status" -eq 2 ] || fail "'$*' ended with $status"
  [ "$(wc -l <err)" -eq 1 ] || fail "'$*' did not tell one line"
  [ ! -s out ] || fail "'$*' wrote to standard output"
  grep -F "nbdkit-stats: $message" err
}

# One of the reader's errors, with file and line; unit-job has the others.
sed 's/^runs/nonsense/' good.job >bad.job
refused 'bad.job:4: unknown key nonsense' bad.job
refused 'bad.job:4: unknown key nonsense' good.job bad.job
refused 'absent: there is no such file, and no installed job' absent
refused './absent: No such file or directory' ./absent
mkdir directory
refused 'directory: Is a directory' directory
truncate -s 1G zeros
refused 'zeros: this is too large for a job file' zeros

refused 'bench: a job is missing'
refused 'bench: --runs is 1 to 1000' --runs=0 good.job
refused 'bench: --runs is 1 to 1000' --runs=5x good.job
refused 'bench: --resume needs --output' --resume good.job
refused 'bench: --list goes without a job' --list good.job
refused '--env x: this is no NAME:KEY=VALUE' --env=x good.job
refused '--env x:runs: this is no KEY=VALUE: runs' --env=x:runs good.job
refused '--env x:runs=1,runs=2: runs is set already' \
        --env=x:runs=1,runs=2 good.job
refused '--env x: good.job has no NONE' --env=x:NONE=1 good.job
refused '--env: runs is no number' --env=x:runs=y good.job
refused 'absent.so: No such file' --filter=absent.so good.job
refused 'no directory can be made in absent: No such file' \
        --directory=absent good.job

# No nbdkit, no client.
refused 'case: there is no program absent-nbdkit' \
        --env=x:nbdkit-program=absent-nbdkit good.job
NBDKIT=absent-nbdkit \
  refused 'case: there is no program absent-nbdkit' good.job
refused 'case: there is no program absent-client' \
        '--env=x:client=absent-client && true' good.job
refused 'case: there is no program absent-tool' \
        '--env=x:prepare=absent-tool | true' good.job

# No result.
refused 'absent/results: No such file or directory' \
        --output=absent/results good.job
refused '/dev/full: ' --output=/dev/full good.job
test -c /dev/full
for kind in empty:1 '{}:1' '{"type":"final","schema":2}' \
            '{"type":"bench","schema":99}' '{"type":"bench"' nonsense; do
  printf '%s' "$kind" >results
  refused results --resume --output=results good.job
  # It is somebody's, and stays.
  test "$(cat results)" = "$kind"
done
: >results
refused 'results: there is nothing in it' --resume --output=results good.job

# Paths are those of whoever runs it, wherever nbdkit runs.
cp "$top_builddir/filters/stats/.libs/nbdkit-stats-filter.so" mine.so
bench --filter=mine.so good.job
test "$status" -eq 0
mkdir here
# A blank and what means something in a URI, too.
mkdir 'h%20 e&re'
for directory in here 'h%20 e&re'; do
  TMPDIR=$directory bench good.job --env='x:client=nbdinfo "$uri"'
  test "$status" -eq 0
  rmdir "$directory"
done
