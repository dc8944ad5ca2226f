export { listServedCountries } from './service.ts'
