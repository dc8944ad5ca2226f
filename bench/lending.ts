/** Measures the review queue over a million applications against ten thousand. */
import { compareSizes } from './compare-sizes.ts'
import type { Times } from './measured-instance.ts'
import { figure, median, print, quick, rows } from './runs.ts'

const few = 10_000
const many = quick ? 100_000 : 1_000_000
const rounds = quick ? 3 : 11

/**
 * Measures both engines.
 * @param serverUrl of a Postgres user who may create databases; without it, only SQLite
 */
export async function measureLending(serverUrl: string | undefined): Promise<void> {
  print(`the review queue of ${figure(many)} applications (seeding takes a while)`)
  await compareSizes<Times>('lending-queue.ts', { name: 'lending', sizes: [few, many], input: { rounds } }, serverUrl, report)
}

function report(label: string, times: Times): void {
  const ratios = Object.entries(times).map(([query, [small = 1, large = 0]]) => ({ query, small, large, ratio: large / small }))
  const worst = ratios.reduce((a, b) => (b.ratio > a.ratio ? b : a))
  const slowest = Math.max(...ratios.map(({ large }) => large))
  rows.push({
    what: `review queue, ${ratios.length} combinations of filters, ${figure(many)} applications to ${figure(few)}, ${label}`,
    souk: `worst ${figure(worst.large, 2)} ms (${worst.query || 'none'}); slowest ${figure(slowest, 2)} ms`,
    floor: `at ${figure(few)} ${figure(worst.small, 2)} ms`,
    ratio: figure(worst.ratio, 2),
    spread: `median ${figure(median(ratios.map(({ ratio }) => ratio)), 2)}`,
    target: '< 3',
  })
}
