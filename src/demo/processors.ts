/**
 * Processors of the demo's past orders. They store no state and accept every token but one. Every `souk demo` has them,
 * so that past orders can be refunded. New payments use the stand-ins (payments.ts).
 */
import { BadSignature, type Processor, ProcessorRefused, sandboxCapabilities } from '../clients/processors/processor.ts'

/** The token that is declined. */
export const declinedToken = 'tok_decline'

/** Creates a processor that shops do not offer. It serves only orders that the fill placed. */
const standIn = (name: string): Processor => {
  const referenceOf = (id: string) => `${name}_demo_${id.slice(id.indexOf('_') + 1)}`
  return {
    name,
    mode: 'TEST',
    capabilities: sandboxCapabilities,
    async create({ paymentId, amount, token }) {
      if (token === declinedToken) throw new ProcessorRefused('card_declined')
      return { reference: referenceOf(paymentId), state: 'AUTHORIZED', authorized: amount, captured: 0 }
    },
    retrieve: async () => undefined,
    capture: async ({ paymentId, amount }) => ({
      reference: referenceOf(paymentId),
      state: 'CAPTURED',
      authorized: amount,
      captured: amount,
    }),
    void: async ({ paymentId }) => ({ reference: referenceOf(paymentId), state: 'VOIDED', authorized: 0, captured: 0 }),
    retrieveRefund: async () => undefined,
    refund: async ({ refundId }) => ({ reference: referenceOf(refundId), state: 'SUCCEEDED' }),
    async readMessage() {
      throw new BadSignature(name)
    },
    probe: async () => undefined,
  }
}

export const pastProcessors: readonly Processor[] = ['stripe', 'tap', 'qpay', 'checkout', 'paypal'].map(standIn)
