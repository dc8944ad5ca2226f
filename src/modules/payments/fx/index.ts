export { daysWithRate, type FxDeps, fetchRatesOfDay, rateFor, rateNear } from './service.ts'
