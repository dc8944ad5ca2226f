/**
 * Prevents: many requests of one sender that delay those of all others (bench abuse, "logins of five customers";
 * test/modules/identity/auth/parallel-logins.test.ts).
 */

/**
 * A queue for a scarce resource that is fair at every level: between kinds of callers, between networks of a kind, and
 * between addresses of a network. Requests of one address are served in order.
 */
type FairQueue = {
  /**
   * Waits for a turn. The returned function ends it.
   * @param path names from the widest to the narrowest group; always of the same length
   * @param until latest start by the clock `now`; at most `waitMaxMs` from now
   * @throws the error of `full`: at once if the queue is too slow; later if the waiter is dropped for others or waits
   *   too long
   */
  acquire(path: readonly string[], until?: number): Promise<() => void>
}

type FairQueueOptions = {
  /** Concurrent turns. */
  readonly atOnce: number
  /** Maximum waiting time in milliseconds. */
  readonly waitMaxMs: number
  /** Maximum number of waiters. */
  readonly waitingMax: number
  /** Estimated duration of a turn until some were measured. */
  readonly initialTurnMs: number
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /**
   * Creates the refusal.
   * @param waitMs estimated waiting time
   */
  readonly full: (waitMs: number) => Error
}

type Waiter = { readonly begin: () => void; readonly refuse: (error: Error) => void; readonly until: number }

/** Weight of the newest turn in the average duration. */
const newestWeight = 0.1

/**
 * Creates a fair queue. A new request waits for one turn of each waiting neighbour, but for no later arrival. So many
 * requests of one address or network do not delay a quiet address.
 */
export function createFairQueue({ atOnce, waitMaxMs, waitingMax, initialTurnMs, now, full }: FairQueueOptions): FairQueue {
  const ring = newRing<Waiter>()
  let running = 0
  let turnMs = initialTurnMs

  const waitMs = () => (ring.waiting * turnMs) / atOnce
  const refuse = (waiter: Waiter) => waiter.refuse(full(waitMs()))

  function beginNext(): void {
    const at = now()
    for (const late of removeAll(ring, ({ until }) => until <= at)) refuse(late)
    while (running < atOnce && ring.waiting > 0) {
      running++
      removeFirst(ring).begin()
    }
  }

  function end(startedAt: number): void {
    running--
    // A longer turn means that the process was blocked. It does not predict the next turns.
    turnMs += newestWeight * (Math.min(now() - startedAt, waitMaxMs) - turnMs)
    beginNext()
  }

  return {
    async acquire(path, until = Number.POSITIVE_INFINITY) {
      const latest = Math.min(until, now() + waitMaxMs)
      const turn = new Promise<void>((begin, refuse) => enter(ring, path, { begin, refuse, until: latest }))
      beginNext()
      while (ring.waiting > waitingMax || waitMs() > waitMaxMs) refuse(removeLast(ring))
      await turn
      const startedAt = now()
      return once(() => end(startedAt))
    },
  }
}

/**
 * Waiters under one name: by the names below it in the order of their turns, or the waiters themselves at the end of a
 * path.
 */
type Ring<Item> = { waiting: number; readonly byName: Map<string, Ring<Item>>; items: Item[] }

const newRing = <Item>(): Ring<Item> => ({ waiting: 0, byName: new Map(), items: [] })

function enter<Item>(ring: Ring<Item>, [name, ...names]: readonly string[], item: Item): void {
  ring.waiting++
  if (name === undefined) ring.items.push(item)
  else enter(ring.byName.getOrInsertComputed(name, newRing<Item>), names, item)
}

/** Removes the waiter whose turn is next, and moves its name to the end. The ring must not be empty. */
function removeFirst<Item>(ring: Ring<Item>): Item {
  ring.waiting--
  const [first] = ring.byName
  if (!first) return ring.items.shift() as Item
  const [name, inner] = first
  const item = removeFirst(inner)
  ring.byName.delete(name)
  if (inner.waiting > 0) ring.byName.set(name, inner)
  return item
}

/**
 * Removes the waiter whose turn would be last: the newest under the name with the most waiters. The ring must not be
 * empty.
 */
function removeLast<Item>(ring: Ring<Item>): Item {
  ring.waiting--
  if (ring.byName.size === 0) return ring.items.pop() as Item
  const [name, inner] = [...ring.byName].reduce((last, one) => (one[1].waiting >= last[1].waiting ? one : last))
  const item = removeLast(inner)
  if (inner.waiting === 0) ring.byName.delete(name)
  return item
}

/** Removes all waiters that match. */
function removeAll<Item>(ring: Ring<Item>, matches: (item: Item) => boolean): Item[] {
  const removed = ring.items.filter(matches)
  if (removed.length > 0) ring.items = ring.items.filter((item) => !matches(item))
  for (const [name, inner] of ring.byName) {
    removed.push(...removeAll(inner, matches))
    if (inner.waiting === 0) ring.byName.delete(name)
  }
  ring.waiting -= removed.length
  return removed
}

function once(run: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    run()
  }
}
