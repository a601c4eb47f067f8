# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.
# shellcheck shell=bash

# A plugin with gates, for tests that need many requests in flight at once. They
# wait in it until the client opens, so however slow the machine is, they are
# there together, and the client knows for how long they were at least. Skips
# the test where there is no nbdsh or no such plugin.
#
#   nbdkit ... sh "$gate_plugin"
#   nbdsh ...              where "import gate" works: see gate.py

# shellcheck disable=SC2154 # functions.sh sets them
export gate=$tmp/gate
mkdir -p "$gate/waiting"
# shellcheck disable=SC2034
gate_plugin=$top_srcdir/tests/gate-plugin.sh
export PYTHONPATH=$top_srcdir/tests PYTHONDONTWRITEBYTECODE=1

requires nbdsh --version
requires nbdkit sh --version
