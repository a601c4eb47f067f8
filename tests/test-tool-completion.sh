#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Bash completes commands, options and their values from what --help tells.

source ./functions.sh
set -e -u -x

requires_tool

cd "$tmp"

# completed WORD...: what there is for the last word. An = is a word.
completed ()
{
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _nbdkit_stats
  echo "${COMPREPLY[*]}"
}

# shellcheck source-path=SCRIPTDIR source=../tools/nbdkit-stats.bash
source "$top_srcdir/tools/nbdkit-stats.bash"
complete -p nbdkit-stats | grep -F _nbdkit_stats

test "$(completed nbdkit-stats --ver)" = --version
test "$(completed nbdkit-stats xyz)" = ""
test "$(completed nbdkit-stats rep)" = report
completed nbdkit-stats '' >all
for word in compare report --help --version; do
  grep -w -e "$word" all
done
test "$(completed nbdkit-stats report --f)" = --format
test "$(completed nbdkit-stats report --format =)" = "text prometheus fio csv"
test "$(completed nbdkit-stats report --format = f)" = fio
test "$(completed nbdkit-stats compare --mark)" = --markdown
test "$(completed nbdkit-stats report fil)" = ""
