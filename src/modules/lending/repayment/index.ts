export { repaymentFindings } from './check-store.ts'
export { importTape, type TapeReport, tapeStopped } from './import.ts'
export type { RepaymentDeps } from './providers.ts'
export {
  listRepayments,
  recordAll,
  recordRepayment,
  repaymentSignalsOf,
  reverseRepayment,
} from './service.ts'
