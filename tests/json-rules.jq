# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What must hold between the figures of any JSON report. With jq -r -f it
# prints a line for each rule that does not hold.

def sum: add // 0;
def close(x; y): (x - y | fabs) <= 1e-9 * ((x | fabs) + 1);
def rule(what; holds): if holds then empty else what end;

# The rate is n in ns nanoseconds, and null where no time passed.
def rate(n; ns):
  if ns == 0 then . == null else . != null and close(. * ns / 1e9; n) end;

def latency_rules:
  .lat_ns as $lat |
  rule("N is total_ios"; $lat.N == .total_ios),
  rule("bins and overflow add up to N";
       ($lat.bins | sum) + $lat.overflow == $lat.N),
  rule("the slowest is first";
       [.slowest[].latency_ns] | . == (sort | reverse)),
  rule("what was not measured is null";
       [$lat | .min, .max, .mean, .stddev | . == null] | unique ==
       [$lat.N == 0]),
  if $lat.N == 0 then empty else
    rule("min <= mean <= max";
         $lat.min <= $lat.mean * (1 + 1e-9) and
         $lat.mean <= $lat.max * (1 + 1e-9)),
    rule("mean is that of sum"; close($lat.mean * $lat.N; $lat.sum)),
    rule("stddev is that of sum and sum_squares";
         ($lat.sum_squares / $lat.N - ($lat.sum / $lat.N | . * .)
          | fabs) as $variance |
         ($variance - ($lat.stddev | . * .) | fabs) <=
         1e-9 * ($lat.sum_squares / $lat.N)),
    rule("percentiles rise from min to max";
         [$lat.min, $lat.percentile[], $lat.max] | . == sort)
  end;

def size_rules:
  .total_ios as $ios |
  rule("sizes add up to total_ios"; [.sizes[].requests] | sum == $ios),
  rule("sizes add up to io_bytes"; ([.sizes[].bytes] | sum) == .io_bytes),
  rule("the bytes of a class are between its bounds";
       all(.sizes[]; .from * .requests <= .bytes and
                     .bytes <= .to * .requests)),
  rule("times of sizes add up"; close([.sizes[].lat_ns_sum] | sum;
                                     .lat_ns.sum)),
  rule("depths of sizes are those of all";
       ([.sizes[].depths[].requests] | sum) <= ([.depths[].requests] | sum)),
  rule("misaligned <= total_ios"; .alignment.misaligned <= $ios),
  rule("offsets add up"; [.alignment.offset[].requests] | sum == $ios),
  rule("lengths add up"; [.alignment.length[].requests] | sum == $ios),
  rule("block fit adds up";
       .block_fit == null or (.block_fit.by_touched | sum) == $ios);

def failed_rules($kind):
  .failed |
  rule("failures add up"; ([.by_errno[].total] | sum) == .total),
  rule("times of failures add up"; ([.by_errno[].ns] | sum) == .ns),
  rule("the longest is one of them";
       ([.by_errno[].longest_ns] | max) == .longest_ns or $kind == "interval");

def in_flight_rules($busy):
  .in_flight |
  rule("mean in flight is that of ns";
       .mean == null or close(.mean * $busy; .ns)),
  rule("there is a mean where there is busy time";
       (.mean != null) == ($busy > 0)),
  rule("mean in flight <= max"; .mean == null or .mean <= .max * 1.05);

def depth_rules($kind):
  .total_ios as $ios | ([.depths[].requests] | sum) as $of_depths |
  rule("depths add up to total_ios";
       $of_depths == $ios or $kind == "interval"),
  rule("depths follow one another";
       [.depths[] | .from, .to // infinite] | . == sort);

# Some figures are known of the whole run alone, or may come in another interval
# than the request. So not all rules are for each kind: "interval" or "final".
def op_rules($name; $elapsed; $active; $kind):
  rule("bw_bytes"; . as $op | .bw_bytes | rate($op.io_bytes; $elapsed)),
  rule("iops"; . as $op | .iops | rate($op.total_ios; $elapsed)),
  rule("active_bw_bytes";
       . as $op | .active_bw_bytes | rate($op.io_bytes; $active)),
  rule("active_iops";
       . as $op | .active_iops | rate($op.total_ios; $active)),
  rule("busy_bw_bytes";
       . as $op | .busy_bw_bytes | rate($op.io_bytes; $op.busy_ns)),
  rule("busy <= elapsed"; .busy_ns <= $elapsed),
  rule("sequential_ios <= total_ios";
       .sequential_ios <= .total_ios or $kind == "interval"),
  rule("small_sequential_ios <= sequential_ios";
       .small_sequential_ios <= .sequential_ios),
  rule("only extents return something";
       has("returned") == ($name == "extents")),
  latency_rules, failed_rules($kind), depth_rules($kind),
  in_flight_rules(.busy_ns),
  if $name == "flush" then
    rule("flush has no size";
         .sizes == [] and .alignment == { offset: [], length: [], misaligned: 0 } and
         .block_fit == null and .io_bytes == 0)
  else size_rules end;

def all_ops: ["read", "write", "trim", "zero", "extents", "cache", "flush"];

# An interval has what there is news of, and a final report everything.
def news_rules($kind):
  (.ops | keys_unsorted) as $ops |
  rule("the operations are in order"; $ops == all_ops - (all_ops - $ops)),
  rule("all seven are there"; $kind == "interval" or $ops == all_ops),
  rule("an interval has operations with news";
       $kind == "final" or
       all(.ops[]; .total_ios + .failed.total + .fast_zero_refused.total +
                   .busy_ns + .in_flight.now + .sequential_ios +
                   (.returned.extents // 0) + ([.depths[].requests] | sum)
                   > 0)),
  rule("an interval has exports with news";
       $kind == "final" or all(.exports[]; .opened + .failed > 0));

def states: all_ops + ["opening", "several", "waiting", "no_client"];

# There is one state at each moment, so all of this is exact, but for a reader
# of doubles beyond 2^53 ns, which is 104 days.
def account_rules($elapsed; $kind):
  .busy_ns as $busy | .ops as $ops | (.account | keys_unsorted) as $states |
  rule("the states are in order"; $states == states - (states - $states)),
  rule("all states are there"; $kind == "interval" or $states == states),
  rule("an interval has states with news";
       $kind == "final" or all(.account[]; . > 0)),
  rule("the account adds up to the elapsed time";
       .account | sum == $elapsed),
  rule("what is busy in the account is the busy time";
       .account | del(.waiting, .no_client) | sum == $busy),
  rule("no operation is longer alone than at all";
       [.account | to_entries[] | select($ops[.key]) |
        .value <= $ops[.key].busy_ns] | all),
  rule("openings are as long alone at most";
       (.account.opening // 0) <= .open_busy_ns),
  rule("gaps are a part of waiting";
       $kind == "interval" or .gaps.sum <= .account.waiting);

def gap_rules:
  rule("bins and overflow add up to count";
       (.bins | sum) + .overflow == .count),
  rule("mean is sum / count";
       if .count == 0 then .sum == 0 and .mean == null
       else close(.mean * .count; .sum) end),
  rule("the longest is first"; [.longest[].ns] | . == (sort | reverse)),
  if .count == 0 then empty else
    rule("percentiles rise from min to max";
         [.min, .percentile[], .max] | . == sort)
  end;

def layer_rules($elapsed; $kind):
  . as $layer |
  news_rules($kind),
  rule("busy <= elapsed"; .busy_ns <= $elapsed),
  rule("active <= elapsed"; .active_ns <= $elapsed),
  rule("busy is with requests, with openings, or with both";
       [.request_busy_ns, .open_busy_ns] | max <= $layer.busy_ns and
                                           add >= $layer.busy_ns),
  .request_busy_ns as $busy | [.ops[].busy_ns] as $busy_of_ops |
  rule("no operation is longer busy"; all($busy_of_ops[]; . <= $busy)),
  rule("all together are no longer busy"; $busy <= ($busy_of_ops | sum)),
  in_flight_rules($busy),
  account_rules($elapsed; $kind),
  rule("an interval has gaps with news";
       $kind == "final" or .gaps == null or .gaps.count > 0),
  ((.gaps // empty) | gap_rules | "gaps: \(.)"),
  .active_ns as $active |
  (.ops | to_entries[] | .key as $name |
   .value | op_rules($name; $elapsed; $active; $kind) | "\($name): \(.)");

def rules($kind):
  .elapsed_ns as $elapsed |
  rule("layers are numbered"; [.layers[].layer] ==
                              [range(1; 1 + (.layers | length))]),
  rule("busy_ns is of the first"; .busy_ns == .layers[0].busy_ns),
  rule("active_ns is of the first"; .active_ns == .layers[0].active_ns),
  (.layers[] | "layer \(.layer): \(layer_rules($elapsed; $kind))");

# Of an interval and what is cumulative in it.
def cumulative_rules:
  def ops: [.layers[] | .ops | keys_unsorted];
  def amounts: [.elapsed_ns, (.layers[] | .busy_ns, .account[],
                (.ops[] | .total_ios, .io_bytes, .busy_ns, .failed.total))];
  def account: [.layers[] | .account | keys_unsorted];
  rule("they have the same operations"; ops == (.cumulative | ops)),
  rule("they have the same states"; account == (.cumulative | account)),
  rule("none has more in the interval";
       [amounts, (.cumulative | amounts)] | transpose | all(.[0] <= .[1])),
  (.cumulative |
   rule("layers are numbered"; [.layers[].layer] ==
                               [range(1; 1 + (.layers | length))]),
   rule("busy_ns is of the first"; .busy_ns == .layers[0].busy_ns),
   rule("active_ns is of the first"; .active_ns == .layers[0].active_ns));

# Of a final report: where the time went, whatever took it.
def diagnosis_rules:
  def is_part: IN("no-client", "client-bound", "slow-open", "several-kinds",
                  "one-at-a-time", "flush") or endswith("-time");
  . as $report | ([.diagnosis[].code] | index("account")) as $account |
  rule("the account comes first, where there was anything";
       $account == if .active_ns + .busy_ns > 0 then 0 else null end),
  (.diagnosis[] | select(.code == "account").numbers |
   rule("the account adds up to the elapsed time";
        .no_client_ns + .waiting_ns + .storage_ns == $report.elapsed_ns),
   rule("the storage is what was busy"; .storage_ns == $report.busy_ns),
   rule("what took most of it is told";
        [.no_client_ns, .waiting_ns, .largest_ns] | max
        | . <= $report.elapsed_ns / 2 or $report.elapsed_ns < 1e8
          or ([$report.diagnosis[].code] | any(is_part))));

rules(.type),
(select(.type == "final") | "diagnosis: \(diagnosis_rules)"),
(select(.type == "interval") | "cumulative: \(cumulative_rules)")
