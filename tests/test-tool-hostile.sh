#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# A file that is no report is refused in one line with its name and, where it can
# be known, the line, with status 2, soon and with little memory: whatever it is.

source ./functions.sh
set -e -u -x

requires_tool

cd "$tmp"
nbdkit -U - --filter=stats null 1M statsfile=good statsformat=json \
       statsinterval=0.02 --run 'sleep 0.1'
test "$(wc -l <good)" -ge 2

# limited SECONDS CMD...: with no more than a GB of memory.
limited ()
{
  { local -; set +x; } 2>/dev/null
  # shellcheck disable=SC2016 # that shell expands it
  bash -c 'ulimit -v 1000000; exec timeout "$@"' bash "$@"
}

# refused FILE PATTERN: by each command that reads reports, with what it tells.
refused ()
{
  refused_by "compare $1 good" "$2"
  refused_by "compare good $1" "$2"
  refused_by "report --format=fio $1" "$2"
  refused_by "report $1" "$2"
}

# refused_by COMMAND PATTERN
refused_by ()
{
  local command=$1 status=0
  # shellcheck disable=SC2086 # several words
  limited 60 nbdkit-stats $command >out 2>err || status=$?
  cat err
  [ "$status" -eq 2 ] || fail "$command: status $status"
  [ "$(wc -l <err)" -eq 1 ] || fail "$command: not one line"
  grep "^nbdkit-stats: $2" err || fail "$command: not: $2"
}

refused missing 'missing: No such file or directory$'
mkdir directory
refused directory 'directory: Is a directory$'
: >empty
refused empty 'empty: there is no .*report in it$'

# Cut short: also in the middle of a line further down.
size=$(stat -c %s good)
for part in 1 $((size / 3)) $((size / 2)) $((size - 2)); do
  head -c "$part" good >short
  refused short "short:$(($(wc -l <short) + 1)): the file is cut short\$"
done

echo 'elapsed time: 1 s' >text
refused text 'text:1: not a report in JSON$'
{ cat good; echo junk; } >after
refused after "after:$(wc -l <after): not a report in JSON\$"
echo '{"a": tru}' >word
refused word 'word:1: not JSON: '
printf '{\n\n"a": "\xff"}\n' >bytes
refused bytes 'bytes:3: not JSON: '
printf '{"a": "\0"}\n' >zero
refused zero 'zero:1: not JSON$'

echo '{}' >other
refused other 'other:1: the report is not one of nbdkit-stats: it has no schema'
sed 's/"schema":2/"schema":3/' good >later
refused later 'later:1: schema is 3, and this version reads 2$'
sed 's/"schema":2/"schema":"2"/' good >string
refused string 'string:1: schema is not a count$'

# What another command writes is none, whatever its schema.
echo '{"schema":1,"nbdkit":"1.32.5"}' >overhead
refused overhead 'overhead:1: type is '
for type in bench comparison; do
  printf '{"schema":1,"type":"%s"}\n' "$type" >result
  refused_by 'report result' \
             "result:1: type is \"$type\": this is no report of the filter\$"
done
refused result 'result:1: type is "comparison": this is no report of the filter$'

# What is missing or of another kind is told with the way to it.
tail -n 1 good >final
sed 's/"total_ios":0,//' final >lacks
refused lacks 'lacks:1: layers\[0\]\.ops\.read\.total_ios is missing$'
sed 's/"flush":{/"flush":[],"x":{/' final >list
refused list 'list:1: layers\[0\]\.ops\.flush is not an object$'
sed 's/"layers":\[/"layers":[7,/' final >seven
refused_by 'report seven' 'seven:1: layers\[0\] is not an object$'
sed 's/"clients":[0-9]*/"clients":-1/' final >negative
refused_by 'report negative' 'negative:1: layers\[0\]\.connections\.clients is not a count$'
sed 's/"clients":[0-9]*/"clients":18446744073709551616/' final >large
refused_by 'report large' 'large:1: layers\[0\]\.connections\.clients is too large$'

sed 's/"waiting":[0-9]*/"waiting":99999999999999/' final >account
refused_by 'report account' \
           'account:1: layers\[0\]\.account\.waiting is more than elapsed_ns$'
sed 's/"total_ios":0/"total_ios":1/' final >one
refused_by 'report one' 'one:1: layers\[0\]\.ops\.read\.[a-z._]* '
sed 's/"active_ns":[0-9]*/"active_ns":-1/g' final >negative
refused_by 'compare negative good' \
           'negative:1: layers\[0\]\.active_ns is no figure$'
sed 's/"active_ns":[0-9]*/"active_ns":1e999/g' final >infinite
refused_by 'compare good infinite' \
           'infinite:1: layers\[0\]\.active_ns is no figure$'

# Nested without end, and junk without end.
yes '{"a":[' | head -n 100000 >deep
refused deep 'deep:[0-9]*: nested too deep for a report$'
{ echo '{"a":['; yes '[],' | head -n 4000000 | tr -d '\n'; echo '[]]}'; } >wide
refused wide 'wide:2: too large for a report$'
truncate -s 1G sparse
refused sparse 'sparse:1: not a report in JSON$'

# endless MESSAGE BEGIN REST: refused, though it goes on for ever.
endless ()
{
  local status=0
  { printf '%s' "$2"; yes "$3" | tr -d '\n'; } |
    limited 300 nbdkit-stats report - >out 2>err || status=$?
  cat err
  [ "$status" -eq 2 ] || fail "endless: status $status"
  grep "^nbdkit-stats: standard input:1: $1\$" err
}
endless 'too large for a report' '{"a":"' x
endless 'too large for a report' '{"a":[' '[],'
endless 'too large for a report' '{"a":[' '0,'

# A name that is no word does not break the line.
cp text $'a\nb'
status=0
nbdkit-stats report $'a\nb' 2>err || status=$?
test "$status" -eq 2
grep -F 'nbdkit-stats: a\x0ab:1: not a report in JSON' err

# A full disk is told, too.
status=0
nbdkit-stats report good >/dev/full 2>err || status=$?
test "$status" -eq 2
grep 'standard output: No space left on device' err
