#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A signal ends a benchmark at once: the runs that it has are kept, what the job
# has to undo is undone, nothing is left, and --resume goes on.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=bench.sh
source "$top_srcdir/tests/bench.sh"

requires_tool
requires jq --version
requires nbdkit null --version

cd "$tmp"
# A line of a job has no room for long names of directories.
export here=$tmp
cat >slow.job <<END
[global]
nbdkit = memory 1M
prepare = echo >>"\$here/prepared"
cleanup = echo >>"\$here/undone"
runs = 3
[one]
client = echo >>"\$here/started"; test \$(wc -l <"\$here/started") -ne 2 ||
  sleep 1000
[two]
client = true
END

cat >ignored.job <<END
[global]
nbdkit = memory 1M
runs = 2
[one]
client = echo >>"\$here/begun"; until test -e "\$here/go-on"; do sleep 0.1;
  done
END

started ()
{
  [ "$(wc -l <started)" -eq "$1" ]
}

for signal in INT TERM HUP; do
  rm -f started prepared undone results
  touch started
  # A shell ignores INT in what it starts in the background.
  NBDKIT_STATS_TEST=interrupted-$$ \
    env --default-signal=INT nbdkit-stats bench slow.job --output=results \
    >out 2>err &
  pid=$!
  wait_until started 2
  kill -"$signal" "$pid"
  status=0
  wait "$pid" || status=$?
  cat out err
  test "$status" -eq $((128 + $(kill -l "$signal")))
  nothing_left "interrupted-$$"
  results_check '[.jobs[0].cases[].cells[0].runs | length] == [1, 0]' \
                '[.jobs[0].cases[].cells[0].failure] == [null, null]'
  test "$(wc -l <prepared)" -eq "$(wc -l <undone)"
done

# But one that is ignored, as by nohup, is none.
NBDKIT_STATS_TEST=interrupted-$$ \
  env --ignore-signal=HUP nbdkit-stats bench ignored.job >out 2>err &
pid=$!
wait_until test -e begun
kill -HUP "$pid"
touch go-on
wait "$pid"
cat out err
grep -x 'ignored: one: 2 runs' err

cp results half
bench slow.job --output=results --resume
test "$status" -eq 0
results_check '[.jobs[0].cases[].cells[0].runs | length] == [3, 3]' \
              '[.jobs[0].cases[].cells[0].summary.runs] == [3, 3]'
started 4
# The first is the one from then, and so is the system that it ran on.
jq -c .system half >was
jq -c '.earlier[]' results | diff was -
jq '.jobs[0].cases[0].cells[0].runs[0]' half >was
jq '.jobs[0].cases[0].cells[0].runs[0]' results | diff was -

# All is there: nothing runs, and more can be asked for.
bench slow.job --output=results --resume
started 4
jq -e '.earlier | length == 1' results
bench slow.job --output=results --resume --runs=4
jq -e '.earlier | length == 2' results
started 5
results_check '[.jobs[0].cases[].cells[0].runs | length] == [4, 4]'

# No runs are lost, be it a job, a case or an environment that is not there.
would_lose ()
{
  bench "${@:2}" --output=results --resume
  test "$status" -eq 2
  grep -x "nbdkit-stats: results: its runs of $1 would be lost: .*" err
  cmp was results
}
cp results was
cp slow.job other.job
mkdir less
sed '/two/,$d' slow.job >less/slow.job
would_lose 'slow: one' other.job
would_lose 'slow: two' less/slow.job
would_lose 'slow: one' slow.job --env=a:runs=3

# Runs of something else are not mixed with them.
sed -i 's/memory 1M/memory 2M/' slow.job
bench slow.job --output=results --resume
test "$status" -eq 2
grep -x 'nbdkit-stats: results: the case one did something else then' err
