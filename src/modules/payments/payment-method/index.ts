export { changeIsolation, isolatedProcessors, listBreakers } from './breaker-admin.ts'
export { listPartnerships, setPartnerships } from './partnerships.ts'
export { probeProcessors } from './probes.ts'
export type { PaymentMethodDeps } from './providers.ts'
export {
  manualMethodOf,
  manualMethodsOf,
  type Offers,
  offersOf,
  paymentMethodsOf,
  resolvePaymentMethods,
  setPaymentMethods,
} from './service.ts'
