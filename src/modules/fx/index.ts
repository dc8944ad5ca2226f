export { daysWithRate, type Fetched, fetchRatesOfDay, rateFor, rateNear } from './service.ts'
