export { type BreakerView, changeIsolation, isolatedProcessors, listBreakers } from './isolation.ts'
export { listPartnerships, type Partnerships, setPartnerships } from './partnerships.ts'
export type { PaymentMethodDeps } from './parts.ts'
export { type Offers, offersFor, type PaymentMethods, paymentMethodsOf, resolvePaymentMethods, setPaymentMethods } from './service.ts'
