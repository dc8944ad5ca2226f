/**
 * What has taken the payments of the demo's past orders: nothing of the demo leaves this machine. They keep no books,
 * say yes to all but one token, and take part in every `souk demo`, so that those orders can be refunded. New payments
 * go to the stand-ins (payments.ts).
 */
import { BadSignature, type Processor, ProcessorRefused, sandboxCapabilities } from '../clients/processors/processor.ts'

/** What a payment is declined with. */
export const declinedToken = 'tok_decline'

/** Nothing offers them. Only what the demo itself has placed is paid here. */
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
