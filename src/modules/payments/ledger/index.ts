export { bookFindings } from './check-store.ts'
export { type Movement, priceUnpriced, recordMovements } from './service.ts'
