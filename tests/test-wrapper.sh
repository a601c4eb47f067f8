#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# ./nbdkit runs the filter of this build by its short name, and hands on
# everything else as it was given.

source ./functions.sh
set -e -u -x

filter=$top_builddir/filters/stats/.libs/nbdkit-stats-filter.so

# In nbdkit's place: show the arguments, and end with a status of our choice.
cat >"$tmp/show" <<'END'
#!/bin/sh
for arg; do printf '<%s>\n' "$arg"; done
exit "${status:-0}"
END
chmod +x "$tmp/show"

# check ARGS... => EXPECTED...
check ()
{
  local args=()
  while [ "$1" != '=>' ]; do args+=("$1"); shift; done
  shift
  NBDKIT="$tmp/show" "$top_builddir/nbdkit" "${args[@]}" >"$tmp/got"
  "$tmp/show" "$@" >"$tmp/expected"
  diff -u "$tmp/expected" "$tmp/got" || fail "these went wrong: ${args[*]}"
}

# The filter, in each way to name it.
check --filter=stats null '=>' "--filter=$filter" null
check --filter stats null '=>' --filter "$filter" null
check -fv --filter=stats null '=>' -fv "--filter=$filter" null
check -v -f --filter stats null '=>' -v -f --filter "$filter" null
check null size=1M --filter=stats '=>' null size=1M "--filter=$filter"
check --filter=log --filter=stats --filter=stats null \
      '=>' --filter=log "--filter=$filter" "--filter=$filter" null
check -U - --filter=stats null '=>' -U - "--filter=$filter" null
check -fU - --filter=stats null '=>' -fU - "--filter=$filter" null
check -U- --filter=stats null '=>' -U- "--filter=$filter" null
check -D stats.x=1 --filter=stats null \
      '=>' -D stats.x=1 "--filter=$filter" null

# Other filters, and what only looks like ours.
check --filter=log --filter noextents null \
      '=>' --filter=log --filter noextents null
check --filter=stats2 --filter=./stats --filter= null \
      '=>' --filter=stats2 --filter=./stats --filter= null
check --filter --filter=stats null '=>' --filter --filter=stats null
check stats filter=stats '=>' stats filter=stats

# Values of options, and all beyond "--", are not options.
check null --run 'nbdkit --filter=stats' \
      '=>' null --run 'nbdkit --filter=stats'
check null --run --filter=stats '=>' null --run --filter=stats
check --run=--filter=stats null '=>' --run=--filter=stats null
# Those of newer versions, too.
for option in -D -e -g -i -p -P -t -u -U -fve --debug --exportname --group \
              --ipaddr --log --mask-handshake --name --pidfile --port \
              --selinux-label --threads --timeout --tls --tls-certificates \
              --tls-priority --tls-psk --unix --user; do
  check "$option" --filter=stats null '=>' "$option" --filter=stats null
done
# This nbdkit's own, which says of each whether it wants an argument. Without
# a plugin it does nothing else.
nbdkit --long-options >"$tmp/options"
nbdkit --short-options >>"$tmp/options"
grep -x -e --run "$tmp/options"
while read -r option; do
  nbdkit "$option" </dev/null >"$tmp/answer" 2>&1 || :
  case $option:$(cat "$tmp/answer") in
    --filter:*) ;;
    *"requires an argument"*)
      check "$option" --filter=stats null '=>' "$option" --filter=stats null ;;
    *)
      check "$option" --filter=stats null \
            '=>' "$option" "--filter=$filter" null ;;
  esac
done <"$tmp/options"
check -tU --filter=stats null '=>' -tU "--filter=$filter" null
check -P --filter=stats --filter=stats null \
      '=>' -P --filter=stats "--filter=$filter" null
check --filter=stats -- null --filter=stats '=>' \
      "--filter=$filter" -- null --filter=stats

# Whatever else a shell could spoil.
check '=>'
check '' null '' '=>' '' null ''
# shellcheck disable=SC2016 # no expansion is what this is about
odd=('a b' ' c  d ' "it's" 'say "x"' $'two\nlines' '$HOME' '`id`' '*' 'a\b')
check null "${odd[@]}" --run "${odd[*]}" \
      '=>' null "${odd[@]}" --run "${odd[*]}"
check - -- - '=>' - -- -

# The process is nbdkit's, for signals and the pid file, and so is its status.
printf '#!/bin/sh\necho $$\n' >"$tmp/show-pid"
chmod +x "$tmp/show-pid"
NBDKIT="$tmp/show-pid" "$top_builddir/nbdkit" null >"$tmp/pid" &
wait $!
[ "$(cat "$tmp/pid")" -eq $! ] || fail "nbdkit has another pid"

got=0
status=42 NBDKIT="$tmp/show" "$top_builddir/nbdkit" null || got=$?
[ "$got" -eq 42 ] || fail "nbdkit's status 42 became $got"

# With the real nbdkit it is our filter that runs, and not the distribution's of
# the same name, from any directory and by any path to ./nbdkit.
for dir in / "$top_builddir" "$tmp"; do
  cd "$dir"
  for wrapper in "$top_builddir/nbdkit" \
                 "./$(realpath --relative-to=. "$top_builddir")/nbdkit"; do
    "$wrapper" -U - -v --filter=stats null --run true 2>"$tmp/log" ||
      { cat "$tmp/log"; fail "nbdkit did not run"; }
    cat "$tmp/log"
    grep -F "registering filter $filter" "$tmp/log"
  done
done
