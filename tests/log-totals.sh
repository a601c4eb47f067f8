# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.
# shellcheck shell=bash

# What nbdkit's own log filter saw beside ours, and what our report says, in one
# form: a line an operation that had a request,
#
#   NAME REQUESTS FAILED BYTES
#
# with "-" for bytes that the text report does not give exactly, and then the
# number of extents that came back.

# log_lines LOGFILE: without the time, which is "!" in a thread that nbdkit does
# not know.
log_lines ()
{
  sed -E 's/^(!|[0-9][^ ]* [^ ]*) //' "$1"
}

# log_totals LOGFILE
log_totals ()
{
  local -
  { set +x; } 2>/dev/null
  log_lines "$1" | awk '
    function number (text, i, n) {      # 0x1f, or decimal
      if (text !~ /^0x/) return text + 0
      for (i = 3; i <= length (text); i++)
        n = n * 16 + index ("0123456789abcdef", substr (text, i, 1)) - 1
      return n
    }
    function value (name, i) {          # of NAME=VALUE in this line
      for (i = 1; i <= NF; i++)
        if (index ($i, name "=") == 1)
          return substr ($i, length (name) + 2)
    }
    BEGIN {
      nr_ops = split ("read write trim zero extents cache flush", ops)
      for (i = 1; i <= nr_ops; i++) known[ops[i]] = 1
    }
    { op = tolower ($2); sub (/^[.][.][.]/, "", op) }
    $1 !~ /^connection=/ || !(op in known) { next }
    { id = $1 " " value("id") }
    $NF == "..." { count[id] = number(value("count")); next }
    value("return") != "0" { failed[op]++; next }
    {
      requests[op]++
      bytes[op] += count[id]
      returned += gsub (/"[^"]*"/, "")  # the type of each extent
    }
    END {
      for (i = 1; i <= nr_ops; i++) {
        op = ops[i]
        if (requests[op] + failed[op] == 0) continue
        printf "%s %d %d ", op, requests[op], failed[op]
        if (i <= 4) printf "%.0f\n", bytes[op]; else print "-"
      }
      if (requests["extents"]) print "extents returned", returned
    }'
}

# report_totals REPORT
report_totals ()
{
  local -
  { set +x; } 2>/dev/null
  awk '
    $1 == "bytes:" {
      gsub (",", "")
      bytes["read"] = $3; bytes["write"] = $5
      bytes["zero"] = $7; bytes["trim"] = $9
    }
    /^[a-z]+: [0-9]+ ops, / && $1 != "total:" {
      op = substr ($1, 1, length ($1) - 1)
      failed = / failed/ ? $0 : 0
      sub (/ failed.*/, "", failed); sub (/.* /, "", failed)
      print op, $2, failed, op in bytes ? bytes[op] : "-"
    }
    / returned, .* extents/ {
      sub (/ extents.*/, ""); sub (/.* /, ""); returned = $0
    }
    END { if (returned != "") print "extents returned", returned }' "$1"
}

# same_totals LOGFILE REPORT: both tell the same, and the report's total line is
# the sum of the others.
# shellcheck disable=SC2154 # functions.sh sets $tmp
same_totals ()
{
  local -
  { set +x; } 2>/dev/null
  cat "$2"
  log_totals "$1" >"$tmp/log-totals"
  report_totals "$2" >"$tmp/report-totals"
  cat "$tmp/log-totals"
  [ -s "$tmp/log-totals" ] || fail "the log has no request"
  diff -u "$tmp/log-totals" "$tmp/report-totals" ||
    fail "the log (-) and the report (+) differ"
  awk '$1 == "total:" { total = $2 }
       /^[a-z]+: [0-9]+ ops, / && $1 != "total:" { sum += $2 }
       END { exit !(total != "" && total == sum) }' "$2" ||
    fail "the total line is not the sum of the operations"
}
