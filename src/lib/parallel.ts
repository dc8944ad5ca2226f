/** Runs a function for each item, at most `most` at a time. Rejects with the first error. */
export async function inParallel<Item>(items: readonly Item[], most: number, run: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values()
  const worker = async () => {
    for (const item of rest) await run(item)
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker))
}
