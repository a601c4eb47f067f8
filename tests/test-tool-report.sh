#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Reports in JSON of real runs in other forms: JSON of what was read back is what
# the filter wrote, text and CSV have its figures, a row for each interval, and
# Prometheus's form is what promtool accepts.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=json.sh
source "$top_srcdir/tests/json.sh"

requires_tool
requires jq --version
requires nbdkit eval --version
requires nbdsh --version

cd "$tmp"
cat >client.py <<'END'
import time
for i in range(20):
    h.pwrite(b"x" * 4096, i * 4096)
    h.pread(512, i * 512)
    time.sleep(0.01)
for i in range(3):
    try:
        h.pread(512, 2 ** 20)
        raise Exception("this read should fail")
    except nbd.Error as error:
        assert error.errno == "ENOSPC", error
h.zero(65536, 0)
h.trim(65536, 0)
h.flush()
END

# run PARAMETERS...: with two layers.
run ()
{
  nbdkit -U - --filter=stats --filter=stats eval get_size='echo 4M' \
         can_write='exit 0' can_flush='exit 0' can_trim='exit 0' \
         can_zero='exit 0' \
         pwrite='cat >/dev/null' flush=: trim=: zero=: \
         pread='[ $4 != 1048576 ] || { echo ENOSPC >&2; exit 1; }
                head -c $3 /dev/zero' \
         statsfile=report statsformat=json statsblock=8K "$@" \
         --run 'nbdsh -u "$uri" -c - <client.py'
}

# same: whether the final reports in the file come out as they are.
same ()
{
  grep '"type":"final"' report >final
  "$top_builddir/tests/report-again" report | diff final -
}

run
same
nbdkit-stats report report | tee text
test "$(grep -c '^layer . of 2' text)" -eq 2
grep '^elapsed time:' text
for op in read write zero trim flush; do
  grep "^$op: $(json "$op.total_ios") ops" text
done
grep '^read: .*, 3 failed$' text
grep 'No space left on device' text

# As much of it as is asked for, by the run or now.
grep '^aligned to' text && fail 'all tables are in a brief report'
nbdkit-stats report --detail=full report >full
grep '^aligned to' full
nbdkit-stats report --detail=brief report | diff text -
run statsdetail=full
nbdkit-stats report report | grep '^aligned to'
for bad in --detail=more --format=more; do
  status=0
  nbdkit-stats report "$bad" report 2>err || status=$?
  test "$status" -eq 2
  grep 'there is no .* more; see nbdkit-stats report --help$' err
done

# A row each interval and the final report beneath, as often as there are runs.
rm report
run statsinterval=0.05 statsappend=true
run statsinterval=0.05 statsappend=true
same
intervals=$(grep -c '"type":"interval"' report)
nbdkit-stats report report | tee text
test "$(grep -cE '^[0-9]{2}:[0-9]{2}:[0-9]{2} ' text)" -eq "$intervals"
test "$(grep -c '^elapsed time:' text)" -eq 2
test "$(grep -c ' busy ' text)" -ge 2
test "$(grep -c "^report: .*, pid $(json .pid)\$" text)" -ge 2

# From standard input, and spread over several lines as jq writes them.
# shellcheck disable=SC2094 # it is read only
nbdkit-stats report - <report >stdin
diff text stdin
jq . report >spread
nbdkit-stats report spread | diff text -

# CSV has the figures of each interval and layer, in full.
nbdkit-stats report --format=csv report | tee rows
test "$(wc -l <rows)" -eq $((1 + 2 * intervals))
column ()
{
  tail -n +2 rows | cut -d, -f "$(head -n 1 rows | tr , '\n' |
                                    grep -n -x "$1" | cut -d: -f 1)"
}
for name in total_ios:requests io_bytes:bytes; do
  column "write_${name#*:}" |
    diff <(jq "select(.type == \"interval\") | .layers[]
               | .ops.write.${name%:*} // 0" report) -
done
column read_failed | diff <(jq 'select(.type == "interval") | .layers[]
                                | .ops.read.failed.total // 0' report) -

# Of a run without intervals it has all of the run.
tail -n 1 report >one
nbdkit-stats report --format=csv one >rows
test "$(wc -l <rows)" -eq 3
test "$(column write_requests | head -n 1)" -eq "$(json write.total_ios)"

# Prometheus has the last report, and no other.
nbdkit-stats report --format=prometheus report >last
nbdkit-stats report --format=prometheus one | diff last -
grep '^nbdkit_stats_requests_total{layer="1",op="write"} '"$(json write.total_ios)" last
if command -v promtool; then promtool check metrics <last; fi
