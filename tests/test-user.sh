#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A server that root started and that then becomes another user: the report is
# complete all the same, also where that user may write neither the old file nor
# a new one beside it.

source ./functions.sh
set -e -u -x

if [ "$(id -u)" -ne 0 ]; then
  echo "skipped: only root can become another user"
  exit 77
fi
# It makes its socket and its pid file after it became the other user.
chmod 777 "$tmp"
cd "$tmp"
requires nbdkit -U sock -u nobody null --run true

# whole FILE: it has one report and nothing else.
whole ()
{
  cat "$1"
  [ "$(head -c 14 "$1")" = 'elapsed time: ' ] &&
    [ "$(grep -c '^elapsed time: ' "$1")" -eq 1 ] &&
    grep '^total: ' "$1"
}

for owner in root nobody; do
  mkdir "$owner"
  chmod 755 "$owner"
  chown "$owner" "$owner"

  # A new file.
  start_nbdkit -u nobody --filter=stats null statsfile="$owner/report"
  [ "$(ps -o user= -p "$pid")" = nobody ] || fail "it is not another user"
  stop_nbdkit
  whole "$owner/report"

  # An old one, private to root and longer than the report will be.
  for ((i = 0; i < 1000; i++)); do
    echo 'an old report'
  done >"$owner/report"
  chown root "$owner/report"
  chmod 600 "$owner/report"
  start_nbdkit -u nobody --filter=stats null statsfile="$owner/report"
  [ "$(wc -l <"$owner/report")" -eq 1000 ] || fail "the old report is gone"
  stop_nbdkit
  whole "$owner/report"
  [ "$(stat -c %a "$owner/report")" = 600 ] || fail "it has other rights"

  # A log.
  echo 'a log' >"$owner/log"
  start_nbdkit -u nobody --filter=stats null statsfile="$owner/log" \
               statsappend=true
  stop_nbdkit
  cat "$owner/log"
  [ "$(head -n 1 "$owner/log")" = 'a log' ] || fail "the log was truncated"
  grep '^total: ' "$owner/log"

  [ "$(cd "$owner" && echo *)" = "log report" ] ||
    fail "there are $(ls "$owner")"
done

# Where it cannot be, it is told: the file was removed, and the user may not
# make a new one.
start_nbdkit -u nobody --filter=stats null statsfile=root/report 2>log
rm root/report
stop_nbdkit
cat log
grep "nbdkit: error: statsfile=$tmp/root/report: " log
