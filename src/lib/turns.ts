/** Takes turns at something of which there is little: kinds of callers in turn, and within a kind those who waited for a turn the longest. */
export type Turns = {
  /**
   * Resolves when it is this caller's turn; what it gives ends the turn.
   * @param kind callers of one kind do not wait for those of another
   * @param key whose turn it is, as an address: turns are shared out evenly between the keys of a kind, however each one ended
   * @throws what `full` makes, at once where there is no room, and later of whoever has to make room for somebody else
   */
  take(kind: string, key: string): Promise<() => void>
}

export type TurnsOptions = {
  /** How many turns run at once. */
  readonly atOnce: number
  /** How many may wait: of one key, and of one kind. */
  readonly waitingMax: { readonly key: number; readonly kind: number }
  /** The refusal. @param ahead how many wait at that moment */
  readonly full: (ahead: number) => Error
}

type Waiter = { readonly begin: () => void; readonly refuse: (error: Error) => void }
type Kind = {
  /** Who waits, by key, in the order of their coming. */
  readonly lines: Map<string, Waiter[]>
  /** When each key had its last turn, by a count; the oldest first. */
  readonly servedAt: Map<string, number>
  waiting: number
}

/** Keys whose last turn is remembered, of each kind; forgetting the oldest changes the order of hardly anybody. */
const rememberedMax = 1_000

export function createTurns({ atOnce, waitingMax, full }: TurnsOptions): Turns {
  const kinds = new Map<string, Kind>()
  const kindServedAt = new Map<string, number>()
  let running = 0
  let turns = 0

  const waiting = () => [...kinds.values()].reduce((sum, kind) => sum + kind.waiting, 0)

  function note(name: string, kind: Kind, key: string): void {
    running++
    kindServedAt.set(name, ++turns)
    kind.servedAt.delete(key)
    kind.servedAt.set(key, turns)
    const [oldest] = kind.servedAt.keys()
    if (kind.servedAt.size > rememberedMax && oldest !== undefined) kind.servedAt.delete(oldest)
  }

  function beginNext(): void {
    while (running < atOnce) {
      const names = [...kinds].flatMap(([name, { waiting: some }]) => (some > 0 ? [name] : []))
      const name = longestUnserved(names, kindServedAt)
      const kind = name === undefined ? undefined : kinds.get(name)
      const key = kind && longestUnserved(kind.lines.keys(), kind.servedAt)
      if (name === undefined || !kind || key === undefined) return
      const waiter = leave(kind, key, 'shift')
      note(name, kind, key)
      waiter?.begin()
    }
  }

  function end(): void {
    running--
    beginNext()
  }

  /** Where a kind is full, the key with the longest line gives up its last place to one with a shorter line. */
  function makeRoom(kind: Kind, key: string): boolean {
    const own = kind.lines.get(key)?.length ?? 0
    if (own >= waitingMax.key) return false
    if (kind.waiting < waitingMax.kind) return true
    const [longest, line] = [...kind.lines].reduce((most, one) => (one[1].length > most[1].length ? one : most))
    if (line.length <= own + 1) return false
    const ahead = waiting()
    leave(kind, longest, 'pop')?.refuse(full(ahead))
    return true
  }

  return {
    async take(name, key) {
      const kind = kinds.getOrInsertComputed(name, () => ({ lines: new Map(), servedAt: new Map(), waiting: 0 }))
      if (!makeRoom(kind, key)) throw full(waiting())
      const turn = new Promise<void>((begin, refuse) => {
        kind.waiting++
        kind.lines.getOrInsertComputed(key, () => []).push({ begin, refuse })
      })
      beginNext()
      await turn
      return once(end)
    },
  }
}

/** Takes one out of a key's line, from its front or its back. */
function leave(kind: Kind, key: string, from: 'shift' | 'pop'): Waiter | undefined {
  const line = kind.lines.get(key)
  const waiter = line?.[from]()
  if (waiter) kind.waiting--
  if (line?.length === 0) kind.lines.delete(key)
  return waiter
}

/** Of these, the one whose last turn was first; whoever had none goes before all others, in the order given. */
function longestUnserved(keys: Iterable<string>, servedAt: ReadonlyMap<string, number>): string | undefined {
  let found: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const key of keys) {
    const at = servedAt.get(key) ?? 0
    if (at >= least) continue
    found = key
    least = at
  }
  return found
}

function once(run: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    run()
  }
}
