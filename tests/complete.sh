# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.
# shellcheck shell=bash

# Are reports whole? For tests that disturb the writing of them, in each format.

# complete FORMAT FILE: it has whole reports and nothing else, the final one at
# its end.
complete ()
{
  local -
  { set +x; } 2>/dev/null
  case $1 in
    text)
      tail -n 40 "$2"
      complete_text "$2" ;;
    json)
      jq -c '[.type, .elapsed_ns]' "$2" | tail -n 40
      whole_json "$2" && [ "$(tail -n 1 "$2" | jq -r .type)" = final ] ;;
    prometheus)
      tail -n 5 "$2"
      whole_prometheus "$2" ;;
  esac
}

# so_far FORMAT FILE: the same, but the final one may still be missing.
so_far ()
{
  case $1 in
    text)       [ "$(tail -c 1 "$2")" = "" ] && grep -q '^UTC *seconds ' "$2" ;;
    json)       whole_json "$2" ;;
    prometheus) whole_prometheus "$2" ;;
  esac
}

# Of a text report the total is always there, and the end of the last line.
complete_text ()
{
  [ "$(grep -c '^elapsed time: [0-9.]* s$' "$1")" -eq 1 ] &&
    grep -q '^total: [0-9]* ops, ' "$1" && [ "$(tail -c 1 "$1")" = "" ]
}

# One object a line.
whole_json ()
{
  [ -s "$1" ] && [ "$(tail -c 1 "$1")" = "" ] &&
    [ "$(jq -c . "$1" | wc -l)" -eq "$(wc -l <"$1")" ]
}

# From the first line to the last.
whole_prometheus ()
{
  [[ $(head -n 1 "$1") == '# HELP '* ]] && [ "$(tail -c 1 "$1")" = "" ] &&
    tail -n 1 "$1" | grep -q 'duration_seconds_count{layer="[0-9]*",op="flush"} '
}

# errors FILE: the lines of error in what nbdkit wrote to standard error
errors ()
{
  grep '^nbdkit: .*error: ' "$1"
}
