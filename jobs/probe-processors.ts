/** Looks whether processors that did not answer do so again, those whose pause is over. */
export { probeProcessors } from '../src/modules/payments/payment-method/index.ts'
