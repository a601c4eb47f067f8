#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A server that is killed between any two steps of writing a report, or half way
# through one, leaves either the old report or the new one.

source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=preload.sh
source "$top_srcdir/tests/preload.sh"

requires jq --version
preload kill-at-call

cd "$tmp"

# killed N ARGS...: it was at the Nth step, and not told to end as nothing was
# left to be killed at.
killed ()
{
  local nr=$1 status=0
  shift
  rm -f pid sock
  KILL_AT_CALL=$nr nbdkit -f -U sock -P pid --filter=stats null statsfile=report \
              "$@" &
  pid=$!
  wait_until started_or_gone
  case $* in
    *statsinterval*) ;;
    *) kill "$pid" ;;
  esac
  wait "$pid" || status=$?
  case $status in
    137) return 0 ;;
    0) return 1 ;;
    *) fail "the exit status is $status" ;;
  esac
}

started_or_gone ()
{
  [ -s pid ] || gone "$pid"
}

# Figures aside, each report is the same. But a run that takes long, on a busy
# machine, finds one thing more, that there was no client: this is left out.
shape ()
{
  case $1 in
    json)
      jq -c '.diagnosis |= map(select(.code != "no-client")) |
             del(.. | numbers, strings)'
      ;;
    text)
      figures_aside |
        sed -z 's/\ndiagnosis\n- No client was [^[]*\[no-client\]\n$//'
      ;;
    prometheus)
      figures_aside
      ;;
  esac
}

figures_aside ()
{
  sed -E 's/ [0-9.e+-]+( |%|,|$)/ N\1/g'
}

for format in text json prometheus; do
  KILL_AT_CALL=0 nbdkit -U - --filter=stats null statsfile=whole \
                 statsformat=$format --run true
  shape $format <whole >expected
  [ -s expected ]

  # The only report of a run.
  old=0 new=0
  for ((n = 1; ; n++)); do
    echo 'an old report' >report
    killed "$n" statsformat=$format || break
    if [ "$(cat report)" = 'an old report' ]; then
      old=$((old + 1))
    else
      shape $format <report | diff expected - || fail "it is not whole"
      new=$((new + 1))
    fi
  done
  echo "killed with the old report: $old, with the new one: $new"
  [ "$old" -gt 2 ] || fail "it was never killed before the report was there"

  # Where one does not look, it is always the new one.
  shape $format <report | diff expected -
done

# A report each interval: only the last line of a file that grows can be cut
# off.
for ((n = 1; n <= 15; n++)); do
  echo '{"type":"old"}' >report
  killed "$n" statsformat=json statsinterval=0.01 ||
    fail "it was not killed"
  head -n "$(wc -l <report)" report >lines
  jq -r .type lines >types
  [ -s types ] || fail "there is no line"
  [ "$(wc -l <types)" -eq "$(wc -l <lines)" ]
  [ "$(head -n 1 types)" != old ] || [ "$(cat report)" = '{"type":"old"}' ] ||
    fail "a report was added to the old one"
done

# Of a file that is replaced nothing is cut off.
shape prometheus <whole >expected
for ((n = 1; n <= 20; n++)); do
  cp whole report
  killed "$n" statsformat=prometheus statsinterval=0.01 ||
    fail "it was not killed"
  shape prometheus <report | diff expected - || fail "it is not whole"
done
