# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.
# shellcheck shell=bash

# A second log filter, $upper_log, for above where the log filter is below. Two
# in one nbdkit have variables of their own only if they are two files; and its
# parameter is upperlg=FILE, since it would hide logfile from the lower one.

log_filter=$(nbdkit --dump-config | sed -n 's/^filterdir=//p')
log_filter+=/nbdkit-log-filter.so
requires test -f "$log_filter"

# shellcheck disable=SC2154 # functions.sh sets $tmp
mkdir "$tmp/upper"
upper_log=$tmp/upper/nbdkit-log-filter.so
sed 's/logfile/upperlg/g' "$log_filter" >"$upper_log"
