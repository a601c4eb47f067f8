# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.
# shellcheck shell=bash

# Figures out of the last JSON report in the file "report" in the working
# directory. An expression of jq's may begin with the name of an operation, as
# it is in the layer nearest the client, or with layer(N).

# shellcheck disable=SC2016 # the $ are jq's
json_names='
  def layer(n): .layers[n - 1];
  def op(name): layer(1).ops[name];
  def read: op("read"); def write: op("write"); def trim: op("trim");
  def zero: op("zero"); def extents: op("extents"); def cache: op("cache");
  def flush: op("flush");
  def sum(values): reduce values as $v (0; . + $v);
  def fit(o): [o.block_fit | .aligned, .smaller, .touched, .by_touched[]];'

# json EXPRESSION: its values, one a line
json ()
{
  local -
  { set +x; } 2>/dev/null
  tail -n 1 report | jq -c -r "$json_names $1"
}

# json_check EXPRESSION...: each is true. If not, what stands on the left of
# the first comparison is shown.
json_check ()
{
  local - expression
  { set +x; } 2>/dev/null
  for expression; do
    echo "json_check: $expression"
    [ "$(json "$expression")" = true ] && continue
    json "${expression%% [=<>!]*}" || :
    fail "this is wrong: $expression"
  done
}
