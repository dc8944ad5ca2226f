/** Does a bounded piece of work over and over, until a piece was not full: large jobs in small writes. Returns how much was done. */
export async function inBatches(most: number, work: () => Promise<number>): Promise<number> {
  let total = 0
  let done: number
  do {
    done = await work()
    total += done
  } while (done === most)
  return total
}
