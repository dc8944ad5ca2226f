/**
 * Room for bodies that are still arriving. Clients who stall hold a bounded amount of memory together, however many they are: when there
 * is no room left, what has arrived of a body is thrown away, the oldest of whichever sender holds the most, and it is refused when it
 * goes on or its time is over. Not at once: whoever stalls would only come again, and those who send theirs at once would have to
 * wait for that.
 */
export type BodyRoom = {
  /**
   * Takes a place for a body that begins.
   * @param sender who shares what they hold: nobody is thrown out for what another one sends while that one holds more
   * @param drop called at most once, when the place is needed: what is there of the body is to be forgotten
   */
  enter(sender: string, drop: () => void): Place
  /**
   * Sets so many bytes aside for a body that is not held here: some room is kept for such, which nobody is thrown out of.
   * @returns what gives them back; undefined where so many are not left
   */
  setAside(bytes: number): (() => void) | undefined
  /** How many bodies and bytes of them are held at the moment. */
  held(): { readonly bodies: number; readonly bytes: number }
}

type Place = {
  /** So many bytes are kept for the body by now. */
  hold(bytes: number): void
  /** The body is whole, or nobody waits for it any more. */
  leave(): void
}

const mb = 1024 * 1024

type Entry = { readonly sender: string; readonly drop: () => void; bytes: number }

/**
 * @param bytesMax how much is held of bodies that are not whole
 * @param asideMax how much may be set aside besides
 * @param ofOneMax limit for one sender, in bytes
 */
export function createBodyRoom(bytesMax = 16 * mb, asideMax = 2 * mb, ofOneMax = bytesMax): BodyRoom {
  /** The oldest first. */
  const entries = new Set<Entry>()
  const bySender = new Map<string, number>()
  let total = 0
  let aside = 0

  function add(sender: string, bytes: number): void {
    total += bytes
    const held = (bySender.get(sender) ?? 0) + bytes
    if (held > 0) bySender.set(sender, held)
    else bySender.delete(sender)
  }

  function remove(entry: Entry): void {
    if (entries.delete(entry)) add(entry.sender, -entry.bytes)
  }

  function dropOne(entry: Entry): void {
    remove(entry)
    entry.drop()
  }

  /** Of whoever holds the most, the oldest of which anything is there. */
  function inTheWay(): Entry | undefined {
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
          const isTooMuchOfOne = () => (bySender.get(sender) ?? 0) > ofOneMax
          for (let one = oldestOf(sender); one && isTooMuchOfOne(); one = oldestOf(sender)) dropOne(one)
          for (let one = inTheWay(); one && total > bytesMax; one = inTheWay()) dropOne(one)
        },
        leave: () => remove(entry),
      }
    },
    setAside(bytes) {
      if (aside + bytes > asideMax) return undefined
      aside += bytes
      return () => {
        aside -= bytes
      }
    },
    held: () => ({ bodies: entries.size, bytes: total }),
  }
}
