/**
 * Takes turns at something of which there is little, evenly at every level: kinds of callers in turn, the networks of a kind in turn, the
 * addresses of a network in turn, and those of one address in the order of coming.
 */
export type Turns = {
  /**
   * Resolves when it is this caller's turn; what it gives ends the turn.
   * @param path whose turn it is: names from the widest to the narrowest, as many each time
   * @param until when it is too late, by the clock `now`; `waitMaxMs` from now at the latest
   * @throws what `full` makes: at once where those who wait take too long already; later of whoever makes room for somebody else, or
   * has waited too long after all
   */
  take(path: readonly string[], until?: number): Promise<() => void>
}

export type TurnsOptions = {
  /** How many turns run at once. */
  readonly atOnce: number
  /** How long anybody may wait, in milliseconds. */
  readonly waitMaxMs: number
  /** How many may wait, however short turns are. */
  readonly waitingMax: number
  /** How long a turn takes, in milliseconds, until some have been seen. */
  readonly usualMs: number
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number
  /** The refusal. @param waitMs how long those who wait are going to take */
  readonly full: (waitMs: number) => Error
}

type Waiter = { readonly begin: () => void; readonly refuse: (error: Error) => void; readonly until: number }

/** Of how long a turn takes: the newest counts a tenth. */
const newestWeight = 0.1

/**
 * Whoever comes waits for one turn of each of those beside them who wait already, and for nobody who comes later: neither many requests
 * of one address, nor many addresses of one network, nor ever new ones hold up an address that is quiet.
 */
export function createTurns({ atOnce, waitMaxMs, waitingMax, usualMs, now, full }: TurnsOptions): Turns {
  const ring = newRing<Waiter>()
  let running = 0
  let turnMs = usualMs

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
    // One that took longer than anybody may wait tells of a process that stood still, and not of the next ones.
    turnMs += newestWeight * (Math.min(now() - startedAt, waitMaxMs) - turnMs)
    beginNext()
  }

  return {
    async take(path, until = Number.POSITIVE_INFINITY) {
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

/** Those who wait under one name: by their own names, in the order in which these have their turns; or, at the end of a path, themselves. */
type Ring<Item> = { waiting: number; readonly byName: Map<string, Ring<Item>>; items: Item[] }

const newRing = <Item>(): Ring<Item> => ({ waiting: 0, byName: new Map(), items: [] })

function enter<Item>(ring: Ring<Item>, [name, ...names]: readonly string[], item: Item): void {
  ring.waiting++
  if (name === undefined) ring.items.push(item)
  else enter(ring.byName.getOrInsertComputed(name, newRing<Item>), names, item)
}

/** Takes out whose turn is next, and puts their name behind the others. Somebody waits. */
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

/** Takes out whose turn would be last: the newest under the name with the most who wait. Somebody waits. */
function removeLast<Item>(ring: Ring<Item>): Item {
  ring.waiting--
  if (ring.byName.size === 0) return ring.items.pop() as Item
  const [name, inner] = [...ring.byName].reduce((last, one) => (one[1].waiting >= last[1].waiting ? one : last))
  const item = removeLast(inner)
  if (inner.waiting === 0) ring.byName.delete(name)
  return item
}

/** Takes out all of whom this is so. */
function removeAll<Item>(ring: Ring<Item>, isSo: (item: Item) => boolean): Item[] {
  const removed = ring.items.filter(isSo)
  if (removed.length > 0) ring.items = ring.items.filter((item) => !isSo(item))
  for (const [name, inner] of ring.byName) {
    removed.push(...removeAll(inner, isSo))
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
