/* nbdkit-stats
 * Copyright (C) 2026 The nbdkit-stats authors
 * SPDX-License-Identifier: BSD-3-Clause
 * The whole licence is in the file LICENSE.
 */

/* The settler takes the records of all threads and layers out of their
 * rings, in the order of time, and has them counted.
 *
 * It is a thread of the filter's own.  It looks at the rings five to twenty
 * times a second, as they fill, and sleeps while no request comes at all.
 * Since it alone counts, no counter is shared by threads, all figures are of
 * one moment, and a thread that serves a client only writes a record.
 *
 * In the order of time: records are merged by a heap, begins and ends.  What
 * is settled are all times up to a horizon, and that is the present unless
 * a thread is about to tell a time that is not known yet (ring.h).  Such a
 * thread was preempted, and the next pass will see it further.
 *
 * Where a thread fills its ring faster than the settler comes, it settles a
 * piece itself, if nobody else does just then.  A piece is bounded.  If the
 * ring gets full all the same, it first settles without regard to threads
 * that are about to tell a time: then one request may be told late
 * (concurrency.h).  And where whoever settles was preempted, it leaves the
 * ring to be settled and goes on with another, so no client waits for a
 * thread that is not running.  Only where there is no memory for another, or
 * its storage takes no time at all, it waits.
 *
 * Only rings that are listed are looked at.  The settler takes off a ring in
 * which nothing has begun or ended for a while; its thread lists it again when
 * it begins or ends a request after somewhat less than that.  So threads that
 * are idle, or wait for their storage, cost the others nothing.
 */

#ifndef STATS_SETTLER_H
#define STATS_SETTLER_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"
#include "rings.h"

struct settler;

/* Returns NULL and sets errno when there is no memory. */
extern struct settler *settler_new (void);

/* Start the thread.  Returns an errno, 0 where it went well.  Without it all
 * is counted just as well, by those who serve.
 */
extern int settler_start (struct settler *settler);

/* End the thread, and wait for it.  What is left is settled by readers. */
extern void settler_stop (struct settler *settler);

/* End the thread, if it was not, and free it all.  Returns false where a thread
 * still has a ring and may yet come back: then nothing was freed.
 */
extern bool settler_free (struct settler *settler);

/* Settle all that happened up to now.  Returns the moment up to which all is
 * settled and nothing beyond: all that ended before the call is in.  Until
 * settler_release nothing changes.  Any thread; it waits 0.1 s at most for
 * threads that are about to tell a time.
 */
extern uint64_t settler_hold (struct settler *settler);
extern void settler_release (struct settler *settler);

/* A ring for the calling thread, or NULL where there is no memory.  It may
 * wait for two passes then.
 */
extern struct ring *settler_get_ring (struct settler *settler);

/* The calling thread is done with it. */
extern void settler_leave_ring (struct settler *settler, struct ring *ring);

/* The ring is full: another for the calling thread, which then leaves the
 * full one.  Returns NULL where there is no memory, or where the thread fills
 * rings in no time and there are as many full ones as threads: then it must
 * wait.
 */
extern struct ring *settler_get_another (struct settler *settler,
                                         struct ring *full);

/* For the ring's thread, which has no request in flight: wait until there is
 * room for so many records in the ring.
 */
extern void settler_drain (struct settler *settler, struct ring *ring,
                           uint32_t room);

/* For the ring's thread: settle a piece, so that there is room in the ring.
 * If another settles just then, a ring that is full waits for it, 20 us at
 * most.  Returns false where it is full all the same.
 */
extern bool settler_make_room (struct settler *settler, struct ring *ring);

/* For the ring's thread, which has marked that it begins a request: see to
 * it that the ring is looked at.
 */
extern void settler_list (struct settler *settler, struct ring *ring)
  __attribute__ ((cold));

/* The same where it has marked that a request ends, and has read the clock.
 * Returns the end as it is to be told: it is later where others may have
 * settled what came after it, since the thread was preempted in here.  The
 * thread then owes settler_wake.
 */
extern uint64_t settler_list_ended (struct settler *settler,
                                    struct ring *ring, uint64_t end)
  __attribute__ ((cold));
extern void settler_wake (struct settler *settler) __attribute__ ((cold));

/* A ring is looked at for this long after its last request ended, or while one
 * is in flight after that one began, in ns.  After half of that its thread
 * lists it again, so both never miss each other by how they read the clock.
 */
#define SETTLER_LEASE_NS (NS_PER_S / 100)

#endif /* STATS_SETTLER_H */
