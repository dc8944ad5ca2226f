/** Adds what was counted lately to the sums of the dashboards. */
export { foldKpis } from '../src/modules/kpi/index.ts'
