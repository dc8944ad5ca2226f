export { daysWithRate, type Fetched, type FxDeps, fetchRatesOfDay, rateFor, rateNear } from './service.ts'
