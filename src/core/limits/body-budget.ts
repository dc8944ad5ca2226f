/**
 * Prevents: stalled uploads that use up the memory (bench abuse, "bodies of which half never comes, 2,000 at a time").
 */

/**
 * Limits the memory of bodies that are still arriving, so that stalled clients cannot exhaust it. If the budget is used
 * up, the oldest body of the sender with the most bytes is dropped. Its request fails when it continues or times out,
 * not at once: a stalling client would only reconnect.
 */
export type BodyBudget = {
  /**
   * Registers a body.
   * @param sender who shares the bytes: a body is never dropped for a sender that holds more
   * @param drop called at most once; the caller must discard the body
   */
  enter(sender: string, drop: () => void): BodySlot
  /**
   * Reserves bytes in a separate budget whose bodies are never dropped.
   * @returns a function that releases them; undefined if too few are left
   */
  reserve(bytes: number): (() => void) | undefined
  /** Returns the number of bodies and their bytes. */
  usage(): { readonly bodies: number; readonly bytes: number }
}

type BodySlot = {
  /** Sets the number of bytes that the body uses now. */
  hold(bytes: number): void
  /** Removes the body, because it is complete or abandoned. */
  release(): void
}

const mb = 1024 * 1024

type Entry = { readonly sender: string; readonly drop: () => void; bytes: number }

/**
 * Creates a budget for request bodies in memory.
 * @param bytesMax limit of incomplete bodies
 * @param reservedMax limit of reserved bytes
 * @param senderBytesMax limit of one sender, in bytes
 */
export function createBodyBudget(bytesMax = 16 * mb, reservedMax = 2 * mb, senderBytesMax = bytesMax): BodyBudget {
  /** Oldest first. */
  const entries = new Set<Entry>()
  const bySender = new Map<string, number>()
  let total = 0
  let reserved = 0

  function add(sender: string, bytes: number): void {
    total += bytes
    const bytesOfSender = (bySender.get(sender) ?? 0) + bytes
    if (bytesOfSender > 0) bySender.set(sender, bytesOfSender)
    else bySender.delete(sender)
  }

  function remove(entry: Entry): void {
    if (entries.delete(entry)) add(entry.sender, -entry.bytes)
  }

  function dropOne(entry: Entry): void {
    remove(entry)
    entry.drop()
  }

  /** Returns the oldest body with data of the sender with the most bytes. */
  function nextToDrop(): Entry | undefined {
    let most = ''
    for (const [sender, bytes] of bySender) if (bytes > (bySender.get(most) ?? 0)) most = sender
    return oldestOf(most)
  }

  function oldestOf(most: string): Entry | undefined {
    for (const entry of entries) if (entry.sender === most && entry.bytes > 0) return entry
    return undefined
  }

  return {
    enter(sender, drop) {
      const entry: Entry = { sender, drop, bytes: 0 }
      entries.add(entry)
      return {
        hold(bytes) {
          if (!entries.has(entry)) return
          add(sender, bytes - entry.bytes)
          entry.bytes = bytes
          const isOverSenderLimit = () => (bySender.get(sender) ?? 0) > senderBytesMax
          for (let one = oldestOf(sender); one && isOverSenderLimit(); one = oldestOf(sender)) dropOne(one)
          for (let one = nextToDrop(); one && total > bytesMax; one = nextToDrop()) dropOne(one)
        },
        release: () => remove(entry),
      }
    },
    reserve(bytes) {
      if (reserved + bytes > reservedMax) return undefined
      reserved += bytes
      return () => {
        reserved -= bytes
      }
    },
    usage: () => ({ bodies: entries.size, bytes: total }),
  }
}
