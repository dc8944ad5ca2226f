/** Measures searches of orders, customers and products among very many against few. */
import { compareSizes } from './compare-sizes.ts'
import type { SearchMeasurement } from './orders-search-reads.ts'
import { figure, print, quick, reportRatios, reportSingle } from './runs.ts'

const few = 10_000
const many = quick ? 100_000 : 1_000_000
const rounds = quick ? 5 : 15

/**
 * Measures both engines.
 * @param serverUrl of a Postgres user who may create databases; without it, only SQLite
 */
export async function measureOrdersSearch(serverUrl: string | undefined): Promise<void> {
  print(`finding orders among ${figure(many)} (seeding takes a while)`)
  await compareSizes<SearchMeasurement>(
    'orders-search-reads.ts',
    { name: 'search', sizes: [few, many], input: { rounds } },
    serverUrl,
    report,
  )
}

function report(label: string, { times, countedMs }: SearchMeasurement): void {
  for (const [name, [small = 1, large = 0]] of Object.entries(times)) {
    const what = `${name}, ${figure(many)} orders to ${figure(few)}, ${label}`
    reportRatios({ what, souk: `${figure(large, 2)} ms`, floor: `at ${figure(few)} ${figure(small, 2)} ms`, target: '≤ 3' }, [
      large / small,
    ])
  }
  reportSingle(
    `counting the figures of ${figure(many)} existing orders at the first start after an upgrade, ${label}`,
    `${figure((countedMs[1] ?? 0) / 1_000, 1)} s`,
    '',
  )
}
