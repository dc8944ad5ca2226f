/** Measures dashboards over ten million transactions against ten thousand, and product reads during their views. */
import { compareSizes } from './compare-sizes.ts'
import type { KpiMeasurement } from './kpi-reads.ts'
import { figure, median, print, quick, reportRatios } from './runs.ts'

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
  await compareSizes<KpiMeasurement>('kpi-reads.ts', { name: 'kpi', sizes: [few, many], input: { rounds, seconds } }, serverUrl, report)
}

function report(label: string, { times, withoutDashboards, withDashboards }: KpiMeasurement): void {
  for (const [name, [small = 1, large = 0]] of Object.entries(times)) {
    const what = `${name} over 365 days, ${figure(many)} transactions to ${figure(few)}, ${label}`
    reportRatios({ what, souk: `${figure(large, 2)} ms`, floor: `at ${figure(few)} ${figure(small, 2)} ms`, target: '≤ 2' }, [
      large / small,
    ])
  }
  const ratios = withDashboards.map((rate, nth) => rate / (withoutDashboards[nth] ?? 1))
  const what = `product reads while an operator looks at the dashboards, ${label}`
  const rates = { souk: `${figure(median(withDashboards))}/s`, floor: `while nobody does ${figure(median(withoutDashboards))}/s` }
  reportRatios({ what, ...rates, target: '≥ 0.9' }, ratios)
}
