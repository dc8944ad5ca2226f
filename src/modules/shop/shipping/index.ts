export { listServedCountries, type ServedCountry } from './service.ts'
