# nbdkit-stats
# Copyright (C) 2026 The nbdkit-stats authors
# SPDX-License-Identifier: BSD-3-Clause
# The file LICENSE has the text.

# The account of time and the gaps by brute force, for oracle.py: between which
# bounds each figure must be.
#
# Of a request or an opening the logs below give when it certainly was in flight,
# and the logs above when it possibly was; likewise for connected clients. At each
# moment these two leave one state or several. A state was there for at least as
# long as it is the only one left, and at most as long as it is one of them. So
# what the measuring points differ comes from the logs of the run itself.

OPENING = "opening"


class Moments:
    """What the logs leave open from one moment of change to the next."""

    def __init__(self, begin, end):
        self.begin, self.end = begin, end
        self.certain, self.possible = set(), set()      # kinds in flight
        self.clients = [0, 0]                           # certain, possible
        self.inside = [False, False]                    # of the elapsed time

    @property
    def ns(self):
        return self.end - self.begin

    def states(self):
        """All that it may have been."""
        if len(self.certain) > 1:
            return {"several"}
        states = set(self.certain or self.possible)
        if len(self.possible) > 1:
            states.add("several")
        if not self.certain and self.clients[1]:
            states.add("waiting")
        if not self.certain and not self.clients[0]:
            states.add("no_client")
        return states

    @property
    def is_idle(self):
        """Certainly nothing is in flight, and a client is connected."""
        return not self.possible and self.clients[0] and self.inside[0]


def timeline(certain, possible, clients, window):
    """Cut time where something changes. certain and possible: lists of (begin,
    end, kind). clients: for certain and possible, (begins, ends). window: the
    latest begin and the earliest end of the elapsed time, then the others."""
    changes = []

    def change(begin, end, what, kind=None):
        if begin < end:
            changes.append((begin, 1, what, kind))
            changes.append((end, -1, what, kind))

    for what, intervals in enumerate((certain, possible)):
        for begin, end, kind in intervals:
            change(begin, end, what, kind)
        for begin in clients[what][0]:
            changes.append((begin, 1, "clients", what))
        for end in clients[what][1]:
            changes.append((end, -1, "clients", what))
        change(*window[what], "inside", what)
    changes.sort(key=lambda c: c[0])

    counts, pieces, last = {}, [], changes[0][0]
    for time, step, what, kind in changes:
        if time > last:
            piece = Moments(last, time)
            for (w, k), n in counts.items():
                if n <= 0:
                    continue
                if w == "clients":
                    piece.clients[k] = n
                elif w == "inside":
                    piece.inside[k] = True
                else:
                    (piece.possible if w else piece.certain).add(k)
            pieces.append(piece)
            last = time
        counts[what, kind] = counts.get((what, kind), 0) + step
    return pieces


def account_bounds(pieces, states):
    low, high = dict.fromkeys(states, 0), dict.fromkeys(states, 0)
    for piece in pieces:
        left = piece.states()
        if piece.inside[1]:
            for state in left:
                high[state] += piece.ns
        if piece.inside[0] and len(left) == 1:
            low[left.pop()] += piece.ns
    return low, high


def certain_gaps(pieces):
    """How long each gap is at least of which there is no doubt: an idle time
    after which a request comes, and no opening before it."""
    found, ns, pending = [], 0, None
    for piece in pieces:
        if piece.is_idle:
            if pending:         # what came between was possible alone
                found.append(pending)
                pending = None
            ns += piece.ns
            continue
        if ns:
            pending, ns = ns, 0
        if (OPENING in piece.possible or not piece.possible
                or not piece.inside[0]):
            pending = None
        elif pending and piece.certain:
            found.append(pending)
            pending = None
    return sorted(found, reverse=True)


def possible_gaps(pieces):
    """How long each time without anything certain is that a request may end."""
    found, ns = [], 0
    for piece in pieces:
        if not piece.certain:
            if piece.inside[1] and piece.clients[1]:
                ns += piece.ns
            continue
        if ns and piece.certain != {OPENING}:
            found.append(ns)
        if ns:
            ns = 0
    return found


def certainly_busy_ns(pieces, begin, end):
    return sum(max(0, min(piece.end, end) - max(piece.begin, begin))
               for piece in pieces if piece.certain)
