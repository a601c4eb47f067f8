#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Somebody sets the wall clock by an hour, forward and back: as nbdkit starts,
# between two requests, in the middle of one, and at the end. All figures but
# the time stamps are as if nobody had, and reports keep coming.

# shellcheck disable=SC2016 # other shells expand
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=preload.sh
source "$top_srcdir/tests/preload.sh"
# shellcheck source-path=SCRIPTDIR source=figures.sh
source "$top_srcdir/tests/figures.sh"

requires jq --version
requires nbdkit eval --version
requires nbdsh --version
preload shift-clock

cd "$tmp"
export SHIFT_CLOCK=$tmp/shift
cat >set-clock <<'EOF'
#!/bin/sh
# By as many seconds it is wrong from now on, where it may be wrong at all.
if [ -n "$steps" ]; then
  echo "$1" >"$SHIFT_CLOCK.new"
  mv "$SHIFT_CLOCK.new" "$SHIFT_CLOCK"
fi
EOF
chmod +x set-clock
# A request takes 0.1 s, with the step in its middle.
cat >client.py <<'EOF'
import os
import time

def lines():
    try:
        with open(os.environ["report"]) as report:
            return len(report.readlines())
    except FileNotFoundError:
        return 0

# With the clock as it was there is a report of an interval, if there are any.
def set_clock(seconds):
    if os.environ["report"]:
        before = lines()
        while lines() == before:
            time.sleep(0.01)
    assert os.system("./set-clock %d" % seconds) == 0

h.pwrite(bytes(1000), 0)
set_clock(3600)
h.pread(3000, 4096)
set_clock(-3600)
h.pread(4096, 0)
h.pread(4096, 65536)
set_clock(3600)
EOF

# run STEPS ARGS...: $outer is how many nanoseconds all of it took
run ()
{
  local begin
  export steps=$1
  shift
  echo 0 >"$SHIFT_CLOCK"
  begin=$(monotonic)
  nbdkit -U - --filter=stats eval "$@" \
         get_ready='./set-clock -3600' \
         get_size='echo 1M' can_write='exit 0' \
         pread='sleep 0.05
                case $4 in
                  0) ./set-clock 3600 ;;
                  65536) ./set-clock -3600 ;;
                esac
                sleep 0.05
                head -c $3 /dev/zero' \
         pwrite='sleep 0.1; cat >/dev/null' \
         --run 'nbdsh -u "$uri" -c - <client.py'
  outer=$(($(monotonic) - begin))
}

# The clock that nobody can set, as the kernel tells it.
monotonic ()
{
  /usr/bin/python3 -c 'import time; print(time.monotonic_ns())'
}

for steps in '' steps; do
  export report=json$steps
  run "$steps" statsfile="json$steps" statsformat=json statsinterval=0.05
  jq -c '[.time, .elapsed_ns, .busy_ns]' "json$steps"
  jq -e -s '[.. | numbers] | all(. >= 0 and . < 18e18)' "json$steps"

  # No time is longer than all, and a request not shorter than it is.
  jq -e -s --argjson outer "$outer" '
    [.. | objects | del(.start_time_ns) | to_entries[] |
     select(.key | endswith("_ns")) | .value | numbers] |
    length > 0 and all(. <= $outer)' "json$steps"
  jq -e -s --argjson outer "$outer" '
    .[-1] | .type == "final" and
    .elapsed_ns >= .active_ns and
    .active_ns >= .layers[0].request_busy_ns and
    .busy_ns >= 4 * 99e6 and
    (.layers[0].ops.read | .busy_ns >= 3 * 99e6 and .lat_ns.min >= 99e6 and
                           .lat_ns.max < $outer - 3 * 99e6)' "json$steps"

  # An interval is none of an hour, nor does the next report wait for one.
  jq -e -s 'map(select(.type == "interval")) | length > 2' "json$steps"

  # What does not depend on time.
  tail -n 1 "json$steps" |
    jq '.layers[0].ops | map_values({total_ios, io_bytes, failed, sizes,
          alignment, sequential_ios, flags, in_flight: .in_flight.max}) |
        del(.. | .lat_ns_mean?, .lat_ns_sum?)' >"figures$steps"
done
diff figures figuressteps || fail "the clock made a difference"

# It was really set, and time stamps follow it.
jq -s -e 'map(.time | sub("\\.[0-9]+"; "") | fromdate) |
          [., .[1:]] | transpose[:-1] | map(.[1] - .[0]) |
          (map(select(. > 3000)) | length >= 1) and
          (map(select(. < -3000)) | length >= 1)' jsonsteps

# The other formats.
export report=
run steps statsfile=report
cat report
outer=$(awk "BEGIN { print $outer / 1e9 }")
check "$(seconds elapsed) >= 0.4 && $(seconds elapsed) <= $outer"
check "$(seconds busy) >= 0.39 && $(seconds busy) <= $(seconds elapsed)"
check "$(seconds read) >= 0.29 && $(seconds read) <= $(seconds busy)"
check "$(rate read total) > 0.9 * 11192 / $outer"
if grep -E '(^|[ (])-[0-9]|[0-9]{15}' report; then fail "see above"; fi

run steps statsfile=report.prom statsformat=prometheus statsinterval=0.05
outer=$(awk "BEGIN { print $outer / 1e9 }")
value ()
{
  sed -n "s/^nbdkit_stats_$1 //p" report.prom
}
grep -E '^nbdkit_stats_(elapsed|busy|request_duration_seconds_sum)' report.prom
check "$(value elapsed_seconds_total) >= 0.4"
check "$(value elapsed_seconds_total) <= $outer"
busy=$(value 'busy_seconds_total{layer="1",op="read"}')
check "$busy >= 0.29 && $busy <= $outer"
