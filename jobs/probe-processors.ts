/** Probes processors that did not respond, once their pause is over. */
export { probeProcessors } from '../src/modules/payments/payment-method/index.ts'
