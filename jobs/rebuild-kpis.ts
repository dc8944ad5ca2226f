/** Counts the figures of the dashboards anew from the facts, and holds what is kept against it. */
export { rebuildKpis } from '../src/modules/operations/kpi/index.ts'
