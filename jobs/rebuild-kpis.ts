/** Recounts the dashboards' figures from the facts and compares them with the stored ones. */
export { rebuildKpis } from '../src/modules/operations/kpi/index.ts'
