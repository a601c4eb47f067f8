#!/usr/bin/python3
# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# What tools/statistics.c makes of random samples against SciPy and NumPy, and
# where these have no exact answer, against all ways to deal the numbers.
#
#   statistics.py STATISTICS-VALUES

import itertools
import random
import subprocess
import sys

import numpy
from scipy import stats

EXACT_RUNS = 50


def samples():
    """Few and many numbers, with ties and without."""
    source = random.Random(20)
    for na, nb, span in [(1, 1, 9), (1, 5, 9), (3, 3, 4), (4, 4, 1000),
                         (5, 5, 1000), (5, 5, 3), (5, 7, 10), (7, 5, 1000),
                         (8, 8, 6), (20, 30, 10 ** 6), (25, 25, 10 ** 6),
                         (26, 25, 10 ** 6), (40, 60, 15), (300, 200, 10 ** 6)]:
        for shift in 0, span // 4, span:
            yield ([source.randint(1, span) / 8 for _ in range(na)],
                   [(source.randint(1, span) + shift) / 8 for _ in range(nb)])


def dealt(a, b):
    """The p-value over all ways to deal the numbers to the two samples."""
    ranks = stats.rankdata(a + b)
    sums = numpy.array([sum(c)
                        for c in itertools.combinations(ranks, len(a))])
    seen = sum(ranks[:len(a)])
    return min(1, 2 * min((sums <= seen + 1e-9).mean(),
                          (sums >= seen - 1e-9).mean()))


def p_value(a, b):
    if len(a) + len(b) > EXACT_RUNS:
        return stats.mannwhitneyu(a, b, method='asymptotic').pvalue
    if len(set(a + b)) == len(a + b):
        return stats.mannwhitneyu(a, b, method='exact').pvalue
    return dealt(a, b) if len(a) + len(b) <= 16 else None


def tail(na, nb, k):
    """How likely u is at most k, of numbers that are all different."""
    if na + nb > EXACT_RUNS:
        sd = (na * nb * (na + nb + 1) / 12) ** 0.5
        return stats.norm.cdf((k + 0.5 - na * nb / 2) / sd)
    ways = numpy.zeros((na + 1, na * nb + 1))
    ways[0][0] = 1
    # Of the numbers so far, j to a: each next one of a has those of b below.
    for i in range(na + nb):
        after = ways.copy()
        for j in range(min(i, na - 1) + 1):
            below = i - j
            if below <= nb:
                after[j + 1][below:] += ways[j][:na * nb + 1 - below]
        ways = after
    return ways[na][:k + 1].sum() / ways[na].sum()


def interval(a, b):
    """The estimate of the ratio, and the interval of 95 %."""
    ratios = sorted(x / y for x in a for y in b)
    k = 0
    while tail(len(a), len(b), k) <= 0.025:
        k += 1
    middle = numpy.exp(numpy.median(numpy.log(ratios)))
    if k == 0:
        return [middle, numpy.nan, numpy.nan]
    return [middle, ratios[k - 1], ratios[-k]]


def expected(a, b):
    u = stats.mannwhitneyu(a, b).statistic
    return ([numpy.mean(a), numpy.std(a, ddof=1) if len(a) > 1 else numpy.nan]
            + list(numpy.quantile(a, [0.25, 0.5, 0.9]))
            + [u, p_value(a, b), u / len(a) / len(b)] + interval(a, b))


def main():
    cases = list(samples())
    lines = ''.join(' '.join(map(repr, sample)) + '\n'
                    for case in cases for sample in case)
    ours = subprocess.run(sys.argv[1], input=lines, text=True, check=True,
                          stdout=subprocess.PIPE).stdout.splitlines()
    assert len(ours) == len(cases)
    wrong = 0
    for case, line in zip(cases, ours):
        for place, (got, want) in enumerate(zip(line.split(),
                                                expected(*case))):
            if want is None:
                continue
            if not numpy.isclose(float(got), want, rtol=1e-9, atol=1e-300,
                                 equal_nan=True):
                print(case, 'figure', place, 'is', got, 'not', want)
                wrong += 1
    print(len(cases), 'cases,', wrong, 'wrong figures')
    return wrong > 0


if __name__ == '__main__':
    sys.exit(main())
