#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# compare tells how two reports, or several runs on each side, are to one
# another: how much longer, whether that is proven, whether the work was the
# same, where the time went, and which findings came and went.

source ./functions.sh
set -e -u -x

requires_tool
requires jq --version
requires nbdkit null --version
requires nbdsh --version

cd "$tmp"
# shellcheck disable=SC2016 # the shell of --run expands it
nbdkit -U - --filter=stats memory 1M statsfile=report statsformat=json \
       --run 'nbdsh -u "$uri" -c "
for i in range(100):
    h.pwrite(bytes(4096), i * 4096)
h.flush()
"'

# made EXPRESSION SECONDS...: as many runs that took so long, with all else as
# it was but for what the expression changes.
made ()
{
  local expression=$1 seconds
  shift
  for seconds; do
    jq -c ".active_ns = $seconds * 1e9 | .layers[0].active_ns = .active_ns
           | .layers[0].ops.write.busy_ns = .active_ns - 1e6
           | del(.layers[0].account)
           | $expression" report
  done
}

# compared FILE FILE OPTION...: the exit status in $status.
compared ()
{
  status=0
  nbdkit-stats compare "$@" >out 2>err || status=$?
  cat out err
}

# said PATTERN: with the sentence in one line.
said ()
{
  tr '\n' ' ' <out | grep -E -- "$1"
}

# checked EXPRESSION: of the one comparison in JSON
checked ()
{
  nbdkit-stats compare --json "$first" "$second" >json
  jq -e ".comparisons[0] | $1" json || { cat json; false; }
}

made . 1.00 1.02 0.99 1.01 1.03 >quick
made . 1.31 1.34 1.30 1.33 1.35 >slow
made . 1.00 1.01 1.02 1.04 0.98 >alike
first=quick second=slow

# Proven: these samples lie apart.
compared quick slow
test "$status" -eq 0
said '^B takes 1\.3[12] times as long as A \(.*95% confidence, p = 0\.008\)'
said 'same work, 320 ms more in write\.'
said 'time +1\.01 s +1\.33 s +\+31\.7% +0\.008\*'
said 'busy +1\.01 s +1\.33 s +\+31\.7% +0\.008\*'
grep -E '^  requests +100 +100$' out
checked '.time_ns.p * 252 | round == 2'
checked '.time_ns.significant and .enough_runs and .work == "same"'
checked '.time_ratio | .low > 1.25 and .estimate > .low and .high > .estimate and
         .high < 1.4'
checked '.ops.write.requests | .a == 100 and .b == 100'
checked '.ops.write.bytes.a == 409600'

# Nothing is proven of what is alike, nor of a file and itself.
for second in alike quick; do
  compared quick "$second"
  said '^No difference in time is proven: '
  checked '.time_ns.significant | not'
done

# Nor of a single run, however far apart they are.
head -n 1 quick >one
head -n 1 slow >other
compared one other
said '^B takes 1\.31 times as long as A: the same work, 310 ms more in write\.'
said 'prove no difference'
first=one second=other
checked '.enough_runs == false and .time_ns.p == null and .time_ratio.low == null'

# For scripts: more than so much, and proven where it can be.
compared --fail-above=25 quick slow
test "$status" -eq 3
said '1\.3[12] times'
compared --fail-above=40 quick slow
test "$status" -eq 0
compared --fail-above=25 slow quick
test "$status" -eq 0
compared --fail-above=0.1 quick alike
test "$status" -eq 0
compared --fail-above=25 one other
test "$status" -eq 3

# Other work is told loudly, with what it is.
made '.layers[0].ops.write.total_ios = 303' 1.00 1.02 0.99 1.01 1.03 >busier
compared quick busier
said 'BUT NOT FOR THE SAME WORK'
said 'NOT THE SAME WORK: write, requests: A 100, B 303'
first=quick second=busier
checked '.work == "other"'
made '.layers[0].ops.write.total_ios = 101' 1.00 1.02 0.99 1.01 1.03 >busier
compared quick busier
said 'the same work within 1%'
made '.layers[0].ops.read.failed.total = 1' 1.00 1.02 0.99 1.01 1.03 >failed
compared quick failed
said 'NOT THE SAME WORK: read, failures: A 0, B 1'

# The account of time, where there is one, says where a difference lies: not in
# the time without a client.
made '.layers[0].account = {write: 1e9, waiting: 0, no_client: 1e9}' 1 >a
made '.layers[0].account = {write: 12e8, waiting: 5e8, no_client: 9e9}' 1.7 >b
compared a b
said 'the same work, 500 ms more waiting for requests\.'
said 'where the time went  *no_client +1\.00 s +9\.00 s .* waiting +0 ns +500 ms +new'
compared b a
said '500 ms less waiting for requests\.'

# Findings that came and went.
finding='{code: "flush-dominates", text: "", layer: 1, op: "flush", numbers: {}}'
made ".diagnosis = [$finding]" 1 1.01 1.02 >flushed
made ".diagnosis = [$finding | .op = null | .code = \"stalls\"]" 1 1.01 >stalled
compared flushed stalled
said 'findings only in A: flush-dominates of flush '
said 'findings only in B: stalls '
cat stalled flushed | tail -n 4 >most
compared most flushed
if said findings; then fail 'a finding of most runs is one of the side'; fi

# The layer that counts is the one nearest the plugin, if none is named.
made '.layers += [.layers[0] | .layer = 2 | .active_ns = 3e9]' 1 >two
compared one two
said '^B takes 3\.00 times'
compared --layer=1 one two
said '^B takes as long'
compared --layer=2 one two
test "$status" -eq 2
grep 'one:1: layers has no layer 2' err

# Markdown is a table, in which a name means nothing.
cp slow 'a|b*c'
compared --markdown quick 'a|b*c'
grep -F '| A | B | change | p |' out
grep -F '| time | 1.01 s | 1.33 s | +31.7% | 0.008\* |' out
grep -F 'B: a\|b\*c, 5 runs' out

# Bad options are refused.
for bad in "quick" "quick slow alike" "--fail-above=x quick slow" \
           "--fail-above=-1 quick slow" "--layer=0 quick slow"; do
  # shellcheck disable=SC2086 # several words
  compared $bad
  test "$status" -eq 2
  test "$(wc -l <err)" -eq 1
done

# A file of intervals alone has no run.
sed 's/"final"/"interval"/' report >intervals
compared intervals quick
test "$status" -eq 2
grep '^nbdkit-stats: intervals: there is no final report in it$' err
