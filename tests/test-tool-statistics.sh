#!/usr/bin/env bash
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The statistics of compare and bench are SciPy's and NumPy's: of few numbers
# and many, equal ones and different ones.

source ./functions.sh
set -e -u -x

requires_tool
requires /usr/bin/python3 -c 'import numpy, scipy'

/usr/bin/python3 "$top_srcdir/tests/statistics.py" ./statistics-values
