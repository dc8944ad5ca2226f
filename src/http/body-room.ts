/**
 * Room for bodies that are still arriving. Clients who stall hold a bounded amount of memory together, however many they are: what has
 * arrived of the oldest body is thrown away when there is no room left, and its sender is refused when they go on or their time is
 * over. Not at once: whoever stalls would only come again, and those who send theirs at once would have to wait for that.
 */
export type BodyRoom = {
  /**
   * Takes a place for a body that begins.
   * @param drop called at most once, when the place is needed: what is there of the body is to be forgotten
   */
  enter(drop: () => void): Place
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

/** @param bytesMax how much is held of bodies that are not whole */
export function createBodyRoom(bytesMax = 16 * mb): BodyRoom {
  /** The oldest first. */
  const entries = new Set<{ bytes: number; drop: () => void }>()
  let total = 0

  function remove(entry: { bytes: number }): void {
    if (entries.delete(entry as never)) total -= entry.bytes
  }

  return {
    enter(drop) {
      const entry = { bytes: 0, drop }
      entries.add(entry)
      return {
        hold(bytes) {
          if (!entries.has(entry)) return
          total += bytes - entry.bytes
          entry.bytes = bytes
          for (const oldest of entries) {
            if (total <= bytesMax) return
            remove(oldest)
            oldest.drop()
          }
        },
        leave: () => remove(entry),
      }
    },
    held: () => ({ bodies: entries.size, bytes: total }),
  }
}
