export { type OverviewDeps, readOverview } from './service.ts'
