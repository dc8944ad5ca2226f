/** Reads the exchange rates of the day, until they are there. */
export { fetchRatesOfDay as fetchRates } from '../src/modules/fx/index.ts'
