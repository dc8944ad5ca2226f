/**
 * Room for bodies that are still arriving. Clients who stall hold a bounded amount of memory together, however many they are: the
 * body that has been arriving for longest makes room for the next, so that those who send theirs at once do not wait.
 */
export type BodyRoom = {
  /**
   * Takes a place for a body that begins.
   * @param giveUp called at most once, when the place is needed: the reader stops, and leaves
   */
  enter(giveUp: () => void): Place
  /** How many bodies and bytes of them are held at the moment. */
  held(): { readonly bodies: number; readonly bytes: number }
}

type Place = {
  /** So many bytes of the body are there by now. */
  hold(bytes: number): void
  /** The body is whole, or nobody waits for it any more. */
  leave(): void
}

const mb = 1024 * 1024

/** @param bytesMax how much is held of bodies that are not whole; @param bodiesMax how many of them there are */
export function createBodyRoom({ bytesMax = 16 * mb, bodiesMax = 1_024 }: { bytesMax?: number; bodiesMax?: number } = {}): BodyRoom {
  /** The oldest first. */
  const entries = new Set<{ bytes: number; giveUp: () => void }>()
  let total = 0

  function makeRoom(): void {
    for (const entry of entries) {
      if (entries.size <= bodiesMax && total <= bytesMax) return
      remove(entry)
      entry.giveUp()
    }
  }

  function remove(entry: { bytes: number; giveUp: () => void }): void {
    if (entries.delete(entry)) total -= entry.bytes
  }

  return {
    enter(giveUp) {
      const entry = { bytes: 0, giveUp }
      entries.add(entry)
      makeRoom()
      return {
        hold(bytes) {
          if (!entries.has(entry)) return
          total += bytes - entry.bytes
          entry.bytes = bytes
          makeRoom()
        },
        leave: () => remove(entry),
      }
    },
    held: () => ({ bodies: entries.size, bytes: total }),
  }
}
