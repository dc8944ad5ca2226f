export { checkRepayments } from './check-store.ts'
export { importTape, tapeStoppedError } from './import.ts'
export type { RepaymentDeps } from './providers.ts'
export {
  listRepayments,
  recordRepayment,
  recordRepayments,
  repaymentSignalsOf,
  reverseRepayment,
} from './service.ts'
