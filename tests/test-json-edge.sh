#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Where there is little to say, JSON reports are JSON all the same, an object a
# line and nothing else, and what was not measured is null: no nan, no infinity,
# nothing below zero.

# shellcheck disable=SC2016 # the shell of --run expands $uri
source ./functions.sh
set -e -u -x

requires jq --version
requires nbdkit --filter=error null --version
requires nbdsh --version

cd "$tmp"

# objects TYPES: these are in the report.
objects ()
{
  cat report
  grep -c '' report >lines
  grep -c '^{.*}$' report | diff lines -
  jq -c . report | grep -c '' | diff lines -
  jq -r .type report | uniq | paste -s -d ' ' >types
  [ "$(cat types)" = "$1" ] || fail "there are: $(cat types)"
  # Outside of strings there are true, false, null and numbers. The only sign
  # is that of a small number's exponent.
  sed 's/"\(\\.\|[^"\\]\)*"//g' report >values
  sed -E 's/\<(true|false|null)\>//g; s/[0-9]e[-+]?[0-9]/0/g' values >numbers
  if grep '[^][{}:,.0-9]' numbers; then fail "these are no numbers"; fi
  jq -e -s '[.. | numbers] | length > 0 and all(. >= 0 and . < 1e20)' report
  jq -r -f "$top_srcdir/tests/json-rules.jq" report >broken-rules
  [ ! -s broken-rules ] || fail "broken: $(cat broken-rules)"
}

# Of a read: nothing was measured.
nothing='.layers[0].ops.read |
         .total_ios == 0 and .iops == 0 and
         (.busy_bw_bytes == null or .busy_ns > 0) and
         (.lat_ns | [.min, .max, .mean, .stddev] | unique == [null])'
run ()
{
  rm -f report
  nbdkit -U - --filter=stats "$@" statsfile=report statsformat=json
}

# Nobody comes.
run null --run true
objects final
jq -e "$nothing" report

# Somebody does, and asks for nothing.
run null --run 'nbdsh -u "$uri" -c "pass"'
objects final
jq -e "$nothing" report
jq -e '.layers[0].connections.opened == 1' report

# One request, at the very beginning of the disk, and an empty interval.
cat >more-lines <<'EOF'
#!/bin/sh
# Until there are three more in the report.
lines=$(($(wc -l <report) + 3))
until [ "$(wc -l <report)" -ge "$lines" ]; do sleep 0.02; done
EOF
chmod +x more-lines
run memory 1M statsinterval=0.05 \
    --run 'nbdsh -u "$uri" -c "h.pread(1, 0)"; ./more-lines'
objects 'interval final'
jq -e -s '.[-1].layers[0].ops.read |
          .total_ios == 1 and .io_bytes == 1 and .lat_ns.stddev == 0 and
          .lat_ns.min == .lat_ns.max' report
jq -e -s 'any(.layers[0].ops == {})' report

# Only failures.
run --filter=error memory 1M error-rate=100% \
    --run 'nbdsh -u "$uri" -c "
for call in (lambda: h.pread(512, 0), lambda: h.pwrite(bytes(512), 0),
             lambda: h.zero(512, 0), lambda: h.trim(512, 0)):
    try:
        call()
    except nbd.Error:
        pass
    else:
        raise Exception(\"it did not fail\")"'
objects final
jq -e "$nothing" report
jq -e '[.layers[0].ops[] | .failed.total] == [1, 1, 1, 1, 0, 0, 0]' report

# A disk of no size, and a server that talks.
run memory 0 -v -D stats.report=1 statsinterval=0.05 \
    --run 'nbdsh -u "$uri" -c "h.flush()"; ./more-lines; echo a client'
objects 'interval final'
jq -e -s ".[-1] | $nothing" report
