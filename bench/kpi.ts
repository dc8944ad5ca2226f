/** The dashboards over ten million transactions, against the same over ten thousand; and product reads meanwhile. */
import { join } from 'node:path'
import { withDatabases } from './buying-postgres.ts'
import type { KpisMeasured, KpisTold, NetworkOf } from './kpi-reads.ts'
import { answered, figure, median, quick, rows, say, spreadOf, work } from './runs.ts'

const few = 10_000
const many = 10_000_000
const rounds = quick ? 3 : 7
const seconds = quick ? 1 : 3

/** @param serverUrl of a Postgres user who may create databases; without it, on SQLite alone */
export async function measureKpis(serverUrl: string | undefined): Promise<void> {
  say(`the dashboards of ${figure(many)} transactions`)
  const sizes = [few, many]
  report('SQLite', await measured(sizes.map((transactions) => ({ dataDir: join(work, `kpi-${transactions}`), transactions }))))
  if (!serverUrl) return
  await withDatabases(serverUrl, { sizes, what: 'kpi' }, async (databases) => {
    const all = databases.map(({ size, databaseUrl }) => ({ dataDir: join(work, `kpi-postgres-${size}`), databaseUrl, transactions: size }))
    report('Postgres', await measured(all))
  })
}

async function measured(networks: readonly NetworkOf[]): Promise<KpisMeasured> {
  const told: KpisTold = { networks, rounds, seconds }
  return answered<KpisMeasured>(['kpi-reads.ts'], told, networks[0]?.databaseUrl)
}

function report(label: string, { times, quiet, looking }: KpisMeasured): void {
  for (const [name, [small = 1, large = 0]] of Object.entries(times))
    rows.push({
      what: `${name} over 365 days, ${figure(many)} transactions to ${figure(few)}, ${label}`,
      souk: `${figure(large, 2)} ms`,
      floor: `at ${figure(few)} ${figure(small, 2)} ms`,
      ratio: figure(large / small, 2),
      spread: '',
      target: '≤ 2',
    })
  const ratios = looking.map((rate, nth) => rate / (quiet[nth] ?? 1))
  rows.push({
    what: `product reads while an operator looks at the dashboards, ${label}`,
    souk: `${figure(median(looking))}/s`,
    floor: `while nobody does ${figure(median(quiet))}/s`,
    ratio: figure(median(ratios), 2),
    spread: spreadOf(ratios),
    target: '≥ 0.9',
  })
}
