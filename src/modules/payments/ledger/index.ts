export { bookFindings } from './check-store.ts'
export { type Counting, type Movement, priceUnpriced, recordMovements } from './service.ts'
