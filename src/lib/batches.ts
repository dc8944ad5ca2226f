/** Repeats a bounded piece of work until a run processes fewer than `most` items. Returns the total. */
export async function inBatches(most: number, work: () => Promise<number>): Promise<number> {
  let total = 0
  let done: number
  do {
    done = await work()
    total += done
  } while (done === most)
  return total
}
