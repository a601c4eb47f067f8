#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Two environments and two cases: the runs go in turn, the counts are those that
# nbdkit's log filter sees nearest the plugin, and the file has all that is
# needed to repeat it.

# shellcheck disable=SC2016 # the shell of the job expands $uri
source ./functions.sh
set -e -u -x
# shellcheck source-path=SCRIPTDIR source=bench.sh
source "$top_srcdir/tests/bench.sh"
# shellcheck source-path=SCRIPTDIR source=log-totals.sh
source "$top_srcdir/tests/log-totals.sh"

requires_tool
requires jq --version
requires findmnt --version
requires python3 -c 'from jsonschema import Draft202012Validator'
requires qemu-img --version
requires nbdinfo --version
requires nbdkit --filter=blocksize null --version
requires nbdkit --filter=log null --version

cd "$tmp"
cat >quick.job <<'END'
[global]
LOG =
EACH =
ORDER =
nbdkit = --filter=log memory 4M logfile=${LOG}
prepare = echo prepare ${NAME} >>${ORDER}
client = qemu-img bench -w -f raw -d 1 -c ${count} -s ${size} "$uri"
cleanup = echo cleanup ${NAME} >>${ORDER}
image-size = 4M
size = 4K
runs = 3
warmup = 1

[small]
NAME = small-${EACH}
count = 10

[large]
NAME = large-${EACH}
count = 2
size = 64K
END

bench quick.job --output=results \
      --env="one:EACH=one,ORDER=$tmp/order,LOG=$tmp/log1" \
      --env="two:EACH=two,ORDER=$tmp/order,LOG=$tmp/log2,count=20"
test "$status" -eq 0

# Two preparations to learn what is offered, then a warm-up and three runs, each
# with its end, and the environments in turn.
printf 'prepare small-%s\ncleanup small-%s\n' \
       one one two two one one two two one one two two one one two two \
       one one two two >expected
sed 's/small/large/' expected >>expected.large
cat expected.large >>expected
diff -u expected order || fail "the order is not the expected one (-)"

# The log filter logs into one file: the last run of the last case.
results_check \
  '[cell("small"; "one").runs[].ops.write | .total_ios, .io_bytes]
     == [10, 40960, 10, 40960, 10, 40960]' \
  '[cell("small"; "two").runs[].ops.write.total_ios] == [20, 20, 20]'
log_totals log2 | grep '^write' >seen
results 'cell("large"; "two").runs[2].ops.write |
         "write \(.total_ios) \(.failed.total) \(.io_bytes)"' >told
diff -u seen told || fail "the log (-) and the result (+) differ"

# In words: they did not do the same work, and how much it was.
tr -s ' \n' ' ' <out >words
grep -F 'WARNING: small: two did not do the same work as one: write: 20 requests, 81920 bytes against 10 requests, 40960 bytes.' words
grep -E '^small +one +10 +40.0 KiB +1 +1$' out
# Three runs prove nothing.
grep 'a difference can be significant from 5 runs each on' words
grep -E '^small +two .* too few runs$' out
# A line a cell.
test "$(grep -c '^quick: .*: 3 runs$' err)" -eq 4

# What is needed to repeat it. In a chroot one may see no mount that has the
# directory.
type=$(findmnt -n -o FSTYPE --target "$TMPDIR" | tail -n 1)
if [ "$type" ]; then
  mounted="startswith(\"$type on \")"
else
  mounted='. == null'
fi
results_check \
  '.schema == 1' '.type == "bench"' \
  '.command[0] == "bench"' \
  '.system.kernel | startswith("Linux ")' \
  '[.system.before.time, .system.after.time] | all(endswith("Z"))' \
  ".system.file_system | $mounted" \
  '.jobs[0].name == "quick"' \
  '.jobs[0].environments | map(.name) == ["one", "two"]' \
  'cell("large"; "one").client
     == "qemu-img bench -w -f raw -d 1 -c 2 -s 64K \"$uri\""' \
  'cell("large"; "one").export["export-size"] == 4194304' \
  'cell("large"; "one").export.can_fast_zero == true' \
  'cell("large"; "one").nbdkit_version | startswith("nbdkit ")' \
  'cell("large"; "one").client_version | startswith("qemu-img ")' \
  'cell("large"; "one").asked_bytes == 131072' \
  'cell("large"; "one").summary.write_amplification == 1' \
  'cell("large"; "one").summary.seconds_from == "client"' \
  'all(cell("large"; "one").runs[]; .active_ns > 0)' \
  'cell("large"; "two").against_first | .other_work and .p_holm >= .p' \
  'cell("large"; "one").against_first == null'
validate ()
{
  python3 - "$top_srcdir/schema/nbdkit-stats-bench.schema.json" "$1" <<'END'
import json, jsonschema, sys
schema, results = (json.load(open(name)) for name in sys.argv[1:])
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.Draft202012Validator(schema).validate(results)
END
}
validate results
results_check ".jobs[0].text == $(jq -R -s . quick.job)"

# Without a second environment there is nothing to compare with, and without the
# client's own time the active time counts.
sed -i "s|qemu-img bench.*|nbdsh -u \"\$uri\" -c 'h.pwrite(bytes(512), 0)'|" \
    quick.job
bench quick.job --runs=1 --output=results \
      --env="only:EACH=only,ORDER=$tmp/order,LOG=/dev/null"
test "$status" -eq 0
if grep significant out; then fail "one environment was compared"; fi
results_check \
  'cell("small"; "only").summary.seconds_from == "active"' \
  'cell("small"; "only").summary | .seconds.mean == .active_seconds_median' \
  'cell("small"; "only").summary.seconds.stddev == null'

# The account of time, where the reports have one, adds up all runs.
jq -c '(.jobs[].cases[].cells[].runs[])
         |= (.account = {read: 0, write: (.elapsed_ns / 4), waiting: 0})' \
   results >accounts
bench quick.job --runs=1 --output=accounts --resume \
      --env="only:EACH=only,ORDER=$tmp/order,LOG=/dev/null"
test "$status" -eq 0
validate accounts
grep -xE 'case +environment +write' out
grep -xE 'small +only +25[.]0%' out

# The filter is nearest the plugin, wherever filters stand.
cat >nearest.job <<'END'
[before]
runs = 1
nbdkit = --filter=blocksize memory 1M maxlen=1024
client = nbdsh -u "$uri" -c 'h.pwrite(bytes(4096), 0)'
[behind]
runs = 1
nbdkit = memory 1M maxlen=1024 --filter=blocksize
client = nbdsh -u "$uri" -c 'h.pwrite(bytes(4096), 0)'
END
bench nearest.job --output=results
test "$status" -eq 0
results_check '[.jobs[].cases[].cells[].runs[].ops.write.total_ios] == [4, 4]'
