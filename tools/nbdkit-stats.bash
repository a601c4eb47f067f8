# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.
# shellcheck shell=bash

# Completes the command line of nbdkit-stats in bash. What there is to choose
# from is what the program's own --help tells: commands and options each begin
# a line there, and an option's values stand behind it as --option=one|two.

_nbdkit_stats ()
{
  local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} help
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}

  COMPREPLY=()
  # Bash takes an option and its value apart at the =.
  if [ "$word" = = ]; then
    word=
  elif [ "$before" = = ]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [ "$COMP_CWORD" -eq 1 ]; then
    help=$("$program" --help 2>/dev/null)
    mapfile -t COMPREPLY < <(compgen -W "$(_nbdkit_stats_words)" -- "$word")
    return
  fi
  help=$("$program" "$command" --help 2>/dev/null)
  case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$(_nbdkit_stats_words)" -- "$word")
        ;;
    *)  mapfile -t COMPREPLY < <(
          compgen -W "$(_nbdkit_stats_values "$before")" -- "$word") ;;
  esac
}

# The first word of each line of $help that is set in by two spaces.
_nbdkit_stats_words ()
{
  sed -nE 's/^  (-?-?[a-z][-a-z]*).*/\1/p' <<<"$help"
}

# The values of an option.
_nbdkit_stats_values ()
{
  sed -nE "s/^  $1=([^ ]*[|][^ ]*).*/\\1/p" <<<"$help" | tr '|' ' '
}

complete -o default -F _nbdkit_stats nbdkit-stats
