#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A benchmark neither loses memory nor touches what is not its own: one that
# works, that fails, that goes on, and whose job or results are hostile.

# shellcheck disable=SC2016 # variables of jobs
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=bench.sh
source "$top_srcdir/tests/bench.sh"

requires_tool
requires valgrind --version

cd "$tmp"
# Of itself alone: what it runs is none of ours.
checked ()
{
  local expected=$1
  shift
  status=0
  valgrind -q --leak-check=full --errors-for-leak-kinds=definite \
           --error-exitcode=99 nbdkit-stats bench "$@" >out 2>err || status=$?
  cat out err
  [ "$status" -eq "$expected" ] || fail "it ended with $status"
}

cat >good.job <<'END'
[global]
nbdkit = memory 1M
client = ${CLIENT}
CLIENT = true
runs = 2
[one]
[two]
timeout = 3
END
checked 0 good.job --env=a:runs=2 --env=b:runs=2 --output=results
checked 0 good.job --env=a:runs=3 --env=b:runs=3 --output=results --resume
checked 1 good.job --env=a:CLIENT=false --env='b:client=echo no; false'
checked 0 --list

size=$(wc -c <results)
for part in 1 2 3 5 8; do
  head -c $((size * part / 9)) results >cut.json
  checked 2 good.job --env=a:runs=3 --env=b:runs=3 --output=cut.json --resume
done
# The shape of something else: no cell is found in it, and all is run again.
jq -c '.jobs[].cases = 7 | .earlier = {} | .system = []' results >other
checked 0 good.job --env=a:runs=1 --env=b:runs=1 --output=other --resume

printf '[a]\nnbdkit = ${A}\nA = ${B}\nB = ${A}\nclient = x\n' >bad.job
checked 2 bad.job
printf '[a]\nnbdkit = \0\n' >bad.job
checked 2 bad.job
head -c 100000 /dev/urandom >bad.job
checked 2 bad.job
