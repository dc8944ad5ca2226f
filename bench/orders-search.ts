/** Measures searches of orders, customers and products among very many against few. */
import { join } from 'node:path'
import { withDatabases } from './buying-postgres.ts'
import type { OrdersSource, SearchInput, SearchMeasurement } from './orders-search-reads.ts'
import { figure, print, quick, reportSingle, rows, runScript, work } from './runs.ts'

const few = 10_000
const many = quick ? 100_000 : 1_000_000
const rounds = quick ? 5 : 15

/**
 * Measures both engines.
 * @param serverUrl of a Postgres user who may create databases; without it, only SQLite
 */
export async function measureOrdersSearch(serverUrl: string | undefined): Promise<void> {
  print(`finding orders among ${figure(many)} (seeding takes a while)`)
  const sizes = [few, many]
  report('SQLite', await runMeasurement(sizes.map((orders) => ({ dataDir: join(work, `search-${orders}`), orders }))))
  if (!serverUrl) return
  await withDatabases(serverUrl, { sizes, what: 'search' }, async (databases) => {
    const all = databases.map(({ size, databaseUrl }) => ({ dataDir: join(work, `search-postgres-${size}`), databaseUrl, orders: size }))
    report('Postgres', await runMeasurement(all))
  })
}

async function runMeasurement(instances: readonly OrdersSource[]): Promise<SearchMeasurement> {
  const input: SearchInput = { instances, rounds }
  return runScript<SearchMeasurement>(['orders-search-reads.ts'], input, instances[0]?.databaseUrl)
}

function report(label: string, { times, countedMs }: SearchMeasurement): void {
  for (const [name, [small = 1, large = 0]] of Object.entries(times))
    rows.push({
      what: `${name}, ${figure(many)} orders to ${figure(few)}, ${label}`,
      souk: `${figure(large, 2)} ms`,
      floor: `at ${figure(few)} ${figure(small, 2)} ms`,
      ratio: figure(large / small, 2),
      spread: '',
      target: '≤ 3',
    })
  reportSingle(
    `counting the figures of ${figure(many)} existing orders at the first start after an upgrade, ${label}`,
    `${figure((countedMs[1] ?? 0) / 1_000, 1)} s`,
    '',
  )
}
