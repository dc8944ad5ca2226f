import { coalesceRuns } from '../lib/coalesce.ts'

/** Sends the due messages of a table. Every process may: claimed messages are left to their process. */
export type Sender = {
  /** Starts sending due messages without waiting for them. */
  run(): Promise<void>
  /** Resolves when nothing is being sent. */
  idle(): Promise<void>
  /** Starts nothing new, and resolves when nothing is being sent. */
  stop(): Promise<void>
}

type Options<Slot, Lane extends Slot, Item> = {
  /** Attempts in flight, by id: `send` adds them, the queue removes them. */
  readonly inFlight: Map<string, Slot>
  readonly slots: number
  /** Returns whether a lane may use a slot while others are taken. */
  readonly hasSlot: (lane: Lane, inFlight: readonly Slot[]) => boolean
  /** Reads up to `lanesPerQuery` lanes with due messages, by name after a name. */
  readonly lanes: (after: string) => Promise<Lane[]>
  readonly laneName: (lane: Lane) => string
  /** Claims messages of the lanes that got a slot, out of those `found`. `ended`: the number that will not be sent. */
  readonly claim: (selected: readonly Lane[], found: readonly Lane[]) => Promise<{ claimed: readonly Item[]; ended: number }>
  /** Makes one attempt and stores its result. */
  readonly send: (item: Item) => Promise<void>
  /** Called when all slots are in use. */
  readonly onFull?: () => Promise<void>
  readonly isOpen?: () => boolean
  readonly onError: (error: unknown, id?: string) => void
}

/** How many lanes one query returns. */
export const lanesPerQuery = 50

/** Selects due messages for which slots are free, in order. */
export function selectForSlots<Slot, Due extends Slot>(
  due: readonly Due[],
  inFlight: Iterable<Slot>,
  hasSlot: (one: Due, taken: readonly Slot[]) => boolean,
): Due[] {
  const slots = [...inFlight]
  return due.filter((one) => {
    const isSelected = hasSlot(one, slots)
    if (isSelected) slots.push(one)
    return isSelected
  })
}

/** Creates a queue whose lanes take turns, so that a long lane does not delay others. */
export function createDeliveryQueue<Slot, Lane extends Slot, Item extends { readonly id: string }>(options: Options<Slot, Lane, Item>) {
  const { inFlight, slots, onError } = options
  const sends = new Set<Promise<void>>()
  /** The lane that had the last turn. */
  let lastLane = ''
  let isStopped = false

  /** Goes through the lanes until no slot is free or nothing is due. A call during a run causes another run. */
  const filling = coalesceRuns(async () => {
    let hasStarted = false
    while (!isStopped && (options.isOpen?.() ?? true)) {
      if (inFlight.size >= slots) return options.onFull?.()
      const fromTheStart = lastLane === ''
      const found = await options.lanes(lastLane)
      const selected = selectForSlots(found, inFlight.values(), options.hasSlot)
      const { claimed, ended } = await options.claim(selected, found)
      for (const item of claimed) begin(item)
      hasStarted ||= claimed.length + ended > 0
      const isFull = inFlight.size >= slots
      const last = isFull ? selected.at(-1) : found.length < lanesPerQuery ? undefined : found.at(-1)
      lastLane = last === undefined ? '' : options.laneName(last)
      if (isFull || lastLane !== '') continue
      // All lanes had their turn.
      if (fromTheStart && !hasStarted) return
      hasStarted = false
    }
  })
  const fill = async (): Promise<void> => (isStopped ? undefined : filling.request())

  function begin(item: Item): void {
    const sending = options
      .send(item)
      // The claim expires, and the message is sent again.
      .catch((error: unknown) => onError(error, item.id))
      .then(() => {
        inFlight.delete(item.id)
        sends.delete(sending)
        return fill()
      })
      .catch((error: unknown) => onError(error))
    sends.add(sending)
  }

  async function idle(): Promise<void> {
    while (filling.inFlight() || sends.size > 0) await Promise.allSettled([filling.inFlight(), ...sends])
  }

  function stop(): Promise<void> {
    isStopped = true
    return idle()
  }
  return { fill, idle, stop, isStopped: () => isStopped }
}
