/** Measures dashboards over ten million transactions against ten thousand, and product reads during their views. */
import { join } from 'node:path'
import { withDatabases } from './buying-postgres.ts'
import type { KpiInput, KpiMeasurement, NetworkSource } from './kpi-reads.ts'
import { figure, median, print, quick, rows, runScript, spreadOf, work } from './runs.ts'

const few = 10_000
const many = 10_000_000
const rounds = quick ? 3 : 7
const seconds = quick ? 1 : 3

/**
 * Measures both engines.
 * @param serverUrl of a Postgres user who may create databases; without it, only SQLite
 */
export async function measureKpis(serverUrl: string | undefined): Promise<void> {
  print(`the dashboards of ${figure(many)} transactions`)
  const sizes = [few, many]
  report('SQLite', await runMeasurement(sizes.map((transactions) => ({ dataDir: join(work, `kpi-${transactions}`), transactions }))))
  if (!serverUrl) return
  await withDatabases(serverUrl, { sizes, what: 'kpi' }, async (databases) => {
    const all = databases.map(({ size, databaseUrl }) => ({ dataDir: join(work, `kpi-postgres-${size}`), databaseUrl, transactions: size }))
    report('Postgres', await runMeasurement(all))
  })
}

async function runMeasurement(networks: readonly NetworkSource[]): Promise<KpiMeasurement> {
  const input: KpiInput = { networks, rounds, seconds }
  return runScript<KpiMeasurement>(['kpi-reads.ts'], input, networks[0]?.databaseUrl)
}

function report(label: string, { times, withoutDashboards, withDashboards }: KpiMeasurement): void {
  for (const [name, [small = 1, large = 0]] of Object.entries(times))
    rows.push({
      what: `${name} over 365 days, ${figure(many)} transactions to ${figure(few)}, ${label}`,
      souk: `${figure(large, 2)} ms`,
      floor: `at ${figure(few)} ${figure(small, 2)} ms`,
      ratio: figure(large / small, 2),
      spread: '',
      target: '≤ 2',
    })
  const ratios = withDashboards.map((rate, nth) => rate / (withoutDashboards[nth] ?? 1))
  rows.push({
    what: `product reads while an operator looks at the dashboards, ${label}`,
    souk: `${figure(median(withDashboards))}/s`,
    floor: `while nobody does ${figure(median(withoutDashboards))}/s`,
    ratio: figure(median(ratios), 2),
    spread: spreadOf(ratios),
    target: '≥ 0.9',
  })
}
