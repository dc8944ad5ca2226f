export { type Served, servedCountries } from './service.ts'
