#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Runs all benchmarks and writes results.md: "make bench". It takes a quarter of
# an hour, and nothing else should run meanwhile. "make bench QUICK=1" takes a
# minute and a half, writes quick.md in the build tree, and its figures mean
# little. REPEAT=N makes N rounds instead of seven.

# shellcheck source=SCRIPTDIR/functions.sh
source "$(dirname "$0")/functions.sh"
set -e -u -o pipefail

if [ "$QUICK" ]; then
  results=quick.md
  connections=100
  speed="--repeat=${REPEAT:-2} --seconds=0.02"
  watch="--repeat=1 --seconds=0.2"
  backends=no-op,getppid,file-4096
else
  results=$(dirname "$0")/results.md
  speed="--repeat=${REPEAT:-7}"
  watch="--repeat=${REPEAT:-7} --seconds=1"
  backends=no-op,getppid,file-512,file-1024,file-4096,file-8192,file-65536
  connections=1000
fi
with="ours:\$ours statsfile=/dev/null --against=stock:\$stock statsfile=/dev/null"
layer="--against=nofilter"

say ()
{
  fmt -w 78
  echo
}

# show NAME COMMAND: run it, and show both it and what it prints
show ()
{
  printf '    %s\n\n' "$2"
  eval "$2" | tee "$tmp/$1"
  echo
}

# overhead NAME OPTION...: show what the tool measures, and keep it as JSON in
# $tmp/NAME.json
overhead ()
{
  printf '```\n$ nbdkit-stats overhead %s\n\n' "${*:2}"
  eval "nbdkit-stats overhead ${*:2} --nbdkit=\$NBDKIT --output=$tmp/$1.json"
  printf '```\n\n'
}

first_line ()
{
  "$@" 2>&1 | sed -n 1p
}

machine ()
{
  row "" ""
  row --- ---
  row CPU "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | sed -n 1p)"
  row "CPUs at hand" "$(nproc)"
  row hypervisor "$(lscpu | sed -n 's/^Hypervisor vendor: *//p')"
  row kernel "$(uname -s) $(uname -r | sed 's/-.*//')"
  row "clock source" \
      "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
  row "temporary files on" "$(stat -f -c %T "$tmp")"
  row compiler "$(first_line "${CC:-cc}" --version), ${CFLAGS-}"
  row nbdkit "$("$NBDKIT" --version)"
  row fio "$(fio --version)"
  row "load average at the start" "$(load)"
}

load ()
{
  cut -d ' ' -f 1 /proc/loadavg
}

warn_if_busy ()
{
  if [ "$(calc %d "100 * $(load)")" -gt 50 ]; then
    say <<END
**The machine was busy with other things. The figures of several threads
mean little then.**
END
  fi
}

tell_rounds ()
{
  if [ "${REPEAT-}" ]; then
    say <<<"This run had $REPEAT rounds instead of seven."
  fi
}

calc ()
{
  awk "BEGIN { printf \"$1\", $2 }"
}

# figure NAME TABLE KEY THROUGH [COLUMN VALUE]...: out of what overhead kept: of
# the first row that has these values; of rounds the median
figure ()
{
  local name=$1 table=$2 key=$3
  set -- through "${@:4}"
  jq -r --arg table "$table" --arg key "$key" \
    '[$ARGS.positional | _nwise (2)] as $wanted
     | first (.[$table][]
              | select (. as $row
                        | all ($wanted[]; .[1] == ($row[.[0]] | tostring))))
     | .[$key] | .median? // .' "$tmp/$name.json" --args "$@"
}

# cell FILE TITLE KEY...: what stands in the column of that title, in the row
# that begins with the keys, of a table that show kept
cell ()
{
  local file=$1 title=$2
  shift 2
  awk -F ' *[|] *' -v title="$title" -v keys="$(printf '%s|' "$@")" '
    BEGIN { n = split (keys, key, "|") - 1 }
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == title) column = i }
    {
      same = 1
      for (i = 1; i <= n; i++) if ($(i + 1) != key[i]) same = 0
      if (same) { print $column; exit }
    }' "$tmp/$file" | sed 's/ (.*//'
}

# goal TEXT FIGURE RELATION LIMIT [NOTE]
goal ()
{
  local met
  met=$(awk -v a="$2" -v b="$4" -v relation="$3" 'BEGIN {
    print (relation == "<=" ? a <= b : a >= b) ? "met" : "**not met**" }')
  row "$1" "$3 $4" "$2" "$met${5:+, $5}"
}

# rounded FIGURE [DECIMALS]
rounded ()
{
  calc "%.${2:-3}f" "$1"
}

# no_op NAME KEY THROUGH THREADS: of a request that the backend does at once
no_op ()
{
  figure "$1" time "$2" "$3" backend no-op threads "$4"
}

# note THREADS FIGURE: how many CPUs the threads really had, since others may
# have been busy, too, and the figure with bound threads
note ()
{
  calc "%.1f CPUs were at hand; bound to CPUs: $2" \
       "$1 * $(no_op speed cpu_ns bypassed "$1") / \
        $(no_op speed ns bypassed "$1")"
}

times_faster ()
{
  calc %.2f "1 / $(no_op "$1" to_against ours 16)"
}

# sleeping KEY THREADS SIDE: of a request that the storage lets sleep
sleeping ()
{
  figure watch inside "$1" "$3" threads "$2"
}

goals_of_sleep ()
{
  local threads
  for threads in 16 64 256 1024; do
    goal "storage that sleeps, $threads threads: CPU ns in the filter, \
ours / stock" "$(rounded "$(sleeping to_against "$threads" ours)")" "<=" 1
  done
  goal "storage that sleeps: CPU ns in the filter, 1024 threads / 16" \
       "$(calc %.2f "$(sleeping added_ns 1024 ours) / \
                     $(sleeping added_ns 16 ours)")" "<=" 2
  for threads in 16 64 256 1024; do
    goal "storage that sleeps, $threads threads: longest CPU ms of a request \
in the filter, ours - bypassed" \
         "$(calc %.2f "($(sleeping longest_cpu_us "$threads" ours) - \
                        $(sleeping longest_cpu_us "$threads" bypassed)) \
                       / 1000")" "<=" 1
  done
}

# opening EXPRESSION THROUGH: of 200 connections at once
opening ()
{
  jq "first (.opening[] | select (.through == \"$2\")) | $1" \
     "$tmp/opening.json"
}

goals_of_many ()
{
  local others
  for others in idle gone; do
    goal "a busy thread, beside 4000 that are $others / alone" \
         "$(rounded "$(figure beside beside to_alone ours $others 4000)")" \
         "<=" 1.2 "of the CPU: \
$(rounded "$(figure beside beside cpu_to_alone ours $others 4000)")"
  done
  goal "200 connections at once: ours / bypassed, within its spread" \
       "$(rounded "$(opening .to_bypassed.median ours)")" "<=" \
       "$(rounded "$(opening '1 + (.ms.max - .ms.min) / .ms.median' \
                             bypassed)" 2)"
  goal "fio, delay, 16 connections of depth 16: longest latency in ms, ours, \
above that without a filter by no more than its spread" \
       "$(cell longest greatest ours)" "<=" \
       "$(calc %.1f "2 * $(cell longest greatest none) - \
                     $(cell longest least none)")"
}

# Cold caches, and what a request touches.
goals_of_cold ()
{
  local walked
  for walked in 262144 2097152; do
    goal "caches cold by $((walked / 1024)) KiB: half of all requests, ns \
added, ours / stock" "$(rounded "$(figure cold cold median_to_against ours \
                                   walked_bytes $walked)")" "<=" 0.5
  done
  goal "instructions of a request, ours - nofilter" \
       "$(calc %.1f "$(figure cold instructions added_instructions ours) - \
                     $(figure cold instructions added_instructions nofilter)")" \
       "<=" 570
  goal "fio, null, depth 1: CPU of nbdkit, ours / no filter" \
       "$(cell fio "CPU / none" null 1 ours)" "<=" 1.02
}

greater ()
{
  printf '%s\n' "$@" | sort -g | tail -n 1
}

# memory KEY SIDE
memory ()
{
  figure memory memory "$1" "$2"
}

goals ()
{
  row goal limit measured ""
  row ---- ----: -------: --
  goal "1 thread: time of a request, ours / stock" \
       "$(rounded "$(no_op speed to_against ours 1)")" "<=" 0.85
  goal "1 thread: CPU ns of a request, ours - nofilter - two clock reads" \
       "$(calc %.1f "$(no_op speed cpu_ns ours 1) - \
                     $(no_op speed cpu_ns nofilter 1) - \
                     $(no_op speed cpu_ns "two clocks" 1)")" "<=" 30
  goal "2 threads: time of a request, ours / stock" \
       "$(rounded "$(no_op speed to_against ours 2)")" "<=" 0.30 \
       "$(note 2 "$(rounded "$(no_op pin to_against ours 2)")")"
  goal "16 threads: requests a second, ours / stock" \
       "$(times_faster speed)" ">=" 4.5 "$(note 16 "$(times_faster pin)")"
  goal "fio, null, depth 16: CPU of nbdkit, ours / no filter" \
       "$(cell fio "CPU / none" null 16 ours)" "<=" 1.05
  goal "fio, null, depth 16: CPU of nbdkit, ours / stock" \
       "$(cell fio "CPU / stock" null 16 ours)" "<=" 1
  goal "16 threads: bytes a thread, heap or resident" "$(greater \
       "$(memory own_heap_per_thread ours)" \
       "$(memory own_resident_per_thread ours)")" "<=" 8192
  goal "1000 connections: bytes that the heap grew with the second half, \
ours - bypassed" \
       "$(calc %d "$(memory heap_grew ours) - $(memory heap_grew bypassed)")" \
       "<=" 4096
  goals_of_cold
  goals_of_sleep
  goals_of_many
}

report ()
{
  echo "# What the filter costs"
  echo
  say <<END
This page is what "make bench" wrote: nobody edited the figures. In the command
lines, \$ours is the filter of this build, and \$stock the stats filter that
nbdkit brings. What the columns are is told in nbdkit-stats-overhead(1): a ratio
is the median of the ratios of all rounds, and "spread" what lies between the
least and the greatest of them, in percent of the median. Compare figures within
one run; another machine has others.
END
  machine
  echo
  warn_if_busy
  tell_rounds
  echo "## A request past the filter and through it"
  echo
  say <<END
"no-op" returns at once, "getppid" makes one system call, and "file-N" opens a
file, reads or writes N bytes and closes it. "two clocks" reads the clock twice
and does nothing else: no filter that measures time can be faster. "nofilter" is
the filter of nbdkit that does nothing: what it takes, nbdkit takes for a layer.
END
  overhead speed "$with" "$layer" "$speed" --measure=time --clocks \
           --threads=1,2,4,16 --backend=$backends
  say <<END
With each thread bound to a CPU. nbdkit does not do that, but what several
threads do to each other is seen best so: unbound, the kernel may run them on
one CPU for a while, one after the other.
END
  overhead pin "$with" "$speed" --measure=time --pin --threads=2,4,16 \
           --backend=no-op
  echo "All threads on one connection:"
  echo
  overhead one "$with" "$speed" --measure=time --sharing=16 \
           --threads=2,4,16 --backend=no-op
  echo "## Cold caches, and instructions"
  echo
  say <<END
So many bytes are read between the requests and below the filter, so that the
caches forget what the filter needs; only the filter's time counts. Instructions
are those that callgrind counts, without the clock and the kernel: the count
does not depend on what else the machine does.
END
  overhead cold "$with" "$layer" "$speed" --measure=cold,instructions \
           --backend=no-op
  echo "## Storage that sleeps"
  echo
  say <<END
Below the filter, a request sleeps for 1 to 3 ms, as storage lets it: as many
are in flight as there are threads. "in filter" is the processor time of a
request, in ns: what the calls of the filter take of it, without what is below,
and with "own CPU", the filter's own threads; "added ns" is how much that is
more than without a filter, where reading the clocks is all that is left.
"longest" is the longest of all requests of all rounds: how long it was in the
filter, waiting included, and how much processor time it took there. With many
threads some wait for a processor, also without a filter.
END
  overhead watch "$with" "$watch" --measure=inside --backend=sleep \
           --threads=16,64,256,1024
  echo "## Many threads, and many connections"
  echo
  say <<END
One thread is busy, beside others that have sent ten requests and now wait, or
that have ended, 16 for each connection.
END
  overhead beside "$with" "$speed" --measure=beside --backend=no-op \
           --sharing=16 --idle=16,256,4000 --gone=4000
  say <<END
200 connections of 16 threads come all at once. "ms" is how long it takes until
all are open and each thread has sent 10 requests. "first" is the longest of the
threads' first requests, as above.
END
  overhead opening "$with" "$speed" --measure=opening --backend=no-op \
           --sharing=16
  echo "## Memory"
  echo
  say <<END
Connections come and go, each with 16 threads that read and write. "heap" is
what was allocated, and "resident" the memory of the process but for mapped
files, both while all threads of the first connection are there, and both beyond
what it is without a filter. "grew" is how much more there is when the last
connection has gone than when half of them had.
END
  overhead memory "$with" --measure=memory --connections=$connections
  echo "## A real client"
  echo
  say <<END
fio reads 4 KiB at random places through nbdkit, without a filter, with the
stock filter and with ours, in turn. "CPU" is all that nbdkit used. In brackets:
the least and the greatest of all rounds.
END
  show fio "$(dirname "$0")/end-to-end.sh" | sed 's,^    .*/,    ,'
  say <<END
Sixteen connections, each with 16 requests in flight, half reads and half
writes, to nbdkit with \`--filter=delay\`, which holds reads for 1 ms and writes
for 2 ms: the longest that fio waited for any request, in each round.
END
  show longest "$(dirname "$0")/end-to-end.sh longest" | sed 's,^    .*/,    ,'
  echo "## Goals"
  echo
  goals
}

report | tee "$tmp/results.md"
mv "$tmp/results.md" "$results"
