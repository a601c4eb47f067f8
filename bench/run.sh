#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Runs all benchmarks and writes results.md: "make bench". It takes a quarter of
# an hour, and nothing else should run meanwhile. "make bench QUICK=1" takes a
# minute and a half, writes quick.md in the build tree, and its figures mean
# little.

# shellcheck source=SCRIPTDIR/functions.sh
source "$(dirname "$0")/functions.sh"
set -e -u -o pipefail

if [ "$QUICK" ]; then
  results=quick.md
  connections=100
  speed="--repeat=3 --seconds=0.02"
  watch="--repeat=1 --seconds=0.2"
  many="--repeat=1 --seconds=0.02"
else
  results=$(dirname "$0")/results.md
  speed="--repeat=7"
  watch="--repeat=7 --seconds=1"
  many="--repeat=7"
  connections=1000
fi
speed_few=--backend=no-op,getppid,file-4096
with="stock:\$stock statsfile=/dev/null ours:\$ours statsfile=/dev/null"

say ()
{
  fmt -w 78
  echo
}

# show NAME COMMAND: run it, and show both it and what it prints, which is kept
# in $tmp/NAME, too.
show ()
{
  printf '    %s\n\n' "$2"
  eval "$2" | tee "$tmp/$1"
  echo
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
**The machine was busy with other things. The figures of several threads mean
little then.**
END
  fi
}

# cell FILE TITLE KEY...: what stands in the column of that title, in the row
# that begins with the keys
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

calc ()
{
  awk "BEGIN { printf \"$1\", $2 }"
}

# note THREADS FIGURE: how many CPUs the threads really had, since others may
# have been busy, too, and the figure with bound threads
note ()
{
  calc "%.1f CPUs were at hand; bound to CPUs: $2" \
       "$1 * $(cell speed "CPU ns" no-op "$1" bypassed) / \
        $(cell speed ns no-op "$1" bypassed)"
}

times_faster ()
{
  calc %.2f "1 / $(cell "$1" "/ stock" no-op 16 ours)"
}

# in_filter TITLE THREADS SIDE: of a request that the storage lets sleep
in_filter ()
{
  cell watch "$1" sleep "$2" "$3"
}

goals_of_sleep ()
{
  local threads
  for threads in 16 64 256 1024; do
    goal "storage that sleeps, $threads threads: CPU ns in the filter, \
ours / stock" "$(in_filter "/ stock" "$threads" ours)" "<=" 1
  done
  goal "storage that sleeps: CPU ns in the filter, 1024 threads / 16" \
       "$(calc %.2f "$(in_filter "added ns" 1024 ours) / \
                     $(in_filter "added ns" 16 ours)")" "<=" 2
  for threads in 16 64 256 1024; do
    goal "storage that sleeps, $threads threads: longest CPU ms of a request \
in the filter, ours - bypassed" \
         "$(calc %.2f "($(in_filter "longest CPU us" "$threads" ours) - \
                        $(in_filter "longest CPU us" "$threads" bypassed)) \
                       / 1000")" "<=" 1
  done
}

goals_of_many ()
{
  local spread
  goal "a busy thread, beside 4000 idle ones / alone" \
       "$(cell beside "/ alone" "4000 idle" ours)" "<=" 1.2 \
       "of the CPU: $(cell beside "CPU / alone" "4000 idle" ours)"
  goal "a busy thread, after 4000 that have gone / alone" \
       "$(cell beside "/ alone" "4000 gone" ours)" "<=" 1.2 \
       "of the CPU: $(cell beside "CPU / alone" "4000 gone" ours)"
  spread=$(cell opening "min..max" bypassed)
  goal "200 connections at once: ours / bypassed, within its spread" \
       "$(cell opening "/ bypassed" ours)" "<=" \
       "$(calc %.2f "1 + (${spread#*..} - ${spread%..*}) / \
                         $(cell opening ms bypassed)")"
  goal "fio, delay, 16 connections of depth 16: longest latency in ms, ours, \
above that without a filter by no more than its spread" \
       "$(cell longest greatest ours)" "<=" \
       "$(calc %.1f "2 * $(cell longest greatest none) - \
                     $(cell longest least none)")"
}

goals ()
{
  local heap resident
  heap=$(cell memory "own, heap" ours)
  resident=$(cell memory "own, resident" ours)

  row goal limit measured ""
  row ---- ----: -------: --
  goal "1 thread: time of a request, ours / stock" \
       "$(cell speed "/ stock" no-op 1 ours)" "<=" 0.85
  goal "1 thread: CPU ns of a request, ours - two clock reads" \
       "$(calc %.1f "$(cell speed "CPU ns" no-op 1 ours) - \
                     $(cell speed "CPU ns" no-op 1 "two clocks")")" "<=" 30
  goal "2 threads: time of a request, ours / stock" \
       "$(cell speed "/ stock" no-op 2 ours)" "<=" 0.30 \
       "$(note 2 "$(cell pin "/ stock" no-op 2 ours)")"
  goal "16 threads: requests a second, ours / stock" \
       "$(times_faster speed)" ">=" 4.5 "$(note 16 "$(times_faster pin)")"
  goal "fio, null, depth 16: CPU of nbdkit, ours / no filter" \
       "$(cell fio "CPU / none" null 16 ours)" "<=" 1.05
  goal "fio, null, depth 16: CPU of nbdkit, ours / stock" \
       "$(cell fio "CPU / stock" null 16 ours)" "<=" 1
  goal "16 threads: bytes a thread, heap or resident" \
       "$((heap > resident ? heap : resident))" "<=" 8192
  goal "1000 connections: bytes that the heap grew, ours - bypassed" \
       "$(($(cell memory "heap grew" ours) - \
           $(cell memory "heap grew" bypassed)))" "<=" 4096
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
nbdkit brings. A ratio is the median of the ratios of all rounds. Compare
figures within one run; another machine has others.
END
  machine
  echo
  warn_if_busy
  echo "## A request past the filter and through it"
  echo
  say <<END
\`overhead\` loads a filter as nbdkit does, puts a backend behind it that does
next to nothing, and sends requests, half reads and half writes, past the filter
and through it. "no-op" returns at once, "getppid" makes one system call, and
"file-N" opens a file, reads or writes N bytes and closes it. "ns" is how long a
request takes in its thread, "CPU ns" leaves out the time that the thread
waited, "1000/s" counts the requests of all threads. "two clocks" reads the
clock twice and does nothing else: no filter that measures time can be faster.
END
  show speed "overhead $speed ${QUICK:+$speed_few }$with"
  say <<END
With each thread bound to a CPU. nbdkit does not do that, but what several
threads do to each other is seen best so: unbound, the kernel may run them on
one CPU for a while, one after the other.
END
  show pin "overhead $speed --pin --threads=2,4,16 --backend=no-op $with"
  echo "All threads on one connection:"
  echo
  show one "overhead $speed --per-connection=16 --backend=no-op $with"
  echo "## Storage that sleeps"
  echo
  say <<END
Behind the filter, a request sleeps for 1 to 3 ms, as storage lets it: as many
are in flight as there are threads. "CPU ns" is the processor time of the whole
process for a request. "in filter" is what the calls of the filter take of it,
without what is behind, and with "own CPU", the filter's own threads; "added ns"
is how much that is more than without a filter, where reading the clocks is all
that is left. "longest" is the longest of all requests of all rounds: how much
processor time it took in the filter, and how long it was there, waiting
included. With many threads some wait for a processor, also without a filter.
END
  show watch "overhead --watch $watch --backend=sleep --threads=16,64,256,1024 \
$with"
  echo "## Many threads, and many connections"
  echo
  say <<END
One thread is busy, beside others that have sent ten requests and now wait, or
that have ended, 16 for each connection.
END
  show beside "overhead $many --per-connection=16 --backend=no-op \
--idle=16,256,4000 --gone=4000 $with"
  say <<END
200 connections of 16 threads come all at once. "ms" is how long it takes until
all are open and each thread has sent 10 requests. "first" is the longest of the
threads' first requests, as above.
END
  show opening "overhead $many --at-once --threads=3200 --per-connection=16 \
--backend=no-op $with"
  echo "## Instructions"
  echo
  say <<END
Counted by callgrind, with the backend "no-op", without the clock and the
kernel. A count does not depend on what else the machine does.
END
  show instructions "$(dirname "$0")/instructions.sh" |
    sed 's,^    .*/,    ,'
  echo "## Memory"
  echo
  say <<END
In bytes. Connections come and go, each with 16 threads that read and write.
"heap" is what was allocated, and "resident" the memory of the process but for
mapped files, both while all threads of the first connection are there; "own" is
what it takes more than without a filter. "grew" is how much more there is when
the last connection has gone than when the first had gone.
END
  show memory "overhead --connections=$connections $with"
  echo "## A real server"
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
