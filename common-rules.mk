# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# Included by every Makefile.am.

# A list that ends in $(NULL) grows by a line without touching another.
NULL =

AM_CPPFLAGS = \
	-I$(top_srcdir)/filters/stats \
	-I$(top_srcdir)/tools \
	$(NULL)
AM_CFLAGS = \
	$(WARNINGS_CFLAGS) \
	$(NULL)
