/** Does something with each item, with at most `most` of them at a time; the order in which they end is theirs. Rejects when one does. */
export async function inParallel<Item>(items: readonly Item[], most: number, run: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values()
  const worker = async () => {
    for (const item of rest) await run(item)
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker))
}
