#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What is wrong with overhead's command line, with a filter or with nbdkit is
# told, in nbdkit's words if they are, and nothing is left behind.

source ./functions.sh
set -e -u -x

requires_tool
cd "$tmp"

# All that overhead and nbdkit make is made here.
mkdir work
export TMPDIR=$tmp/work

# ended STATUS WORDS ARGUMENT...: it ends so, with these words
ended ()
{
  local expected=$1 words=$2 status=0
  shift 2
  nbdkit-stats overhead "$@" >out 2>err || status=$?
  cat err
  [ "$status" -eq "$expected" ] || fail "'$*' ended with $status"
  grep -e "$words" err || fail "'$*' was told in other words"
  if grep -v '^nbdkit-stats: ' err; then fail "a line has no name"; fi
  [ -z "$(ls -A work)" ] || fail "something was left behind"
}

ended 2 'a filter is missing'
ended 2 'a filter has no name' name:
ended 2 'no filter before statsfile=x' statsfile=x stats
ended 2 'no filter before --against' --against stats
ended 2 'another filter needs --against' stats nofilter
ended 2 'two are called stats' stats --against stats
ended 2 '/bin is no KEY=VALUE' stats /bin
ended 2 "--threads does not take '0'" stats --threads=0
ended 2 "--threads does not take '4097'" stats --threads=4097
ended 2 "--threads does not take '1,'" stats --threads=1,
ended 2 "--threads does not take '-1'" stats --threads=-1
ended 2 "--backend does not take 'no-op,nonsense'" stats --backend=no-op,nonsense
ended 2 "--measure does not take 'nonsense'" stats --measure=nonsense
ended 2 "--seconds does not take '0'" stats --seconds=0
ended 2 "--seconds does not take 'nan'" stats --seconds=nan
ended 2 "--cold does not take '2T'" stats --cold=2T
ended 2 "--rw does not take 'all'" stats --rw=all
ended 2 "--repeat does not take '101'" stats --repeat=101
ended 2 "--output does not take ''" stats --output=

# Versions of nbdkit quote a name differently, or tell the path of its file.
ended 2 "nonsense: .*cannot open filter ['\"].*nonsense" nonsense
ended 2 "x: .*cannot open filter ['\"]/x.so['\"]" x:/x.so
ended 2 'nonsense=1: this parameter is not known' nofilter nonsense=1
ended 2 'statsformat=nonsense' stats statsformat=nonsense
ended 2 'partition: .*partition table' partition partition=1
ended 2 'the disk too small for a request' truncate truncate=1k
ended 2 '2 requests failed.*Input/output error' error error-rate=100%
ended 2 'nonsense: No such file' stats --nbdkit=nonsense
ended 2 'bypassed: nbdkit left no result: exit status 1' stats --nbdkit=false
ended 2 'left no result: exit status 0' stats --nbdkit=true
ended 2 "none/json: No such file" stats --output=none/json
TMPDIR=$tmp/none ended 2 "no directory can be made in $tmp/none" stats

# What fails only later.
ended 1 'requests failed' error error-rate=1% --backend=no-op
# Nobody reads it: that is not measured to the end.
status=0
nbdkit-stats overhead nofilter --measure=time --seconds=0.01 --repeat=1 \
             --backend=no-op --threads=1 >/dev/full 2>err || status=$?
cat err
test "$status" -ne 0
grep 'standard output: No space left on device' err

# It would not end.
ended 2 'see --timeout' delay rdelay=1000 --timeout=0.1

# Without it there is less to tell.
mkdir bin
for program in nbdkit bash env sh sed; do
  ln -s "$(type -P "$program")" bin
done
PATH=$tmp/bin "$top_builddir/tools/nbdkit-stats" overhead nofilter \
    --measure=instructions 2>err
cat err
grep 'valgrind is missing' err
