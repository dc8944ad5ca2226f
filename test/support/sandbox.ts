/** The other side of a payment: what its shopper and its processor do, and a connection to the processor that fails. */
import { randomUUID } from 'node:crypto'
import { and, eq, sql } from 'drizzle-orm'
import { sandboxPayments } from '../../db/schema/sandbox.ts'
import { type Processor, ProcessorRefused, ProcessorUnavailable } from '../../src/clients/processors/processor.ts'
import { sandboxReply, sandboxSignature } from '../../src/modules/payments/sandbox/service.ts'
import type { Answer, TestApp } from './app.ts'
import { ok, type Selling } from './selling.ts'

/** Does at the sandbox what the shopper does on its page. Answers the status. */
export async function confirmAtSandbox({ deps }: Pick<TestApp, 'deps'>, paymentId: string): Promise<number> {
  const { url, secret } = await deps.sandbox.open()
  const { status } = await fetch(`${url}/payments/${paymentId}/confirm`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: '{}',
  })
  return status
}

/**
 * Has the shopper succeed on the page of a payment that was declined, unless it was given up meanwhile.
 * @param captured by the processor itself; or its money is held, for us to take
 */
export async function succeedAtSandbox({ deps }: Pick<TestApp, 'deps'>, id: string, { captured }: { captured: boolean }): Promise<void> {
  await deps.db.write(async (tx) => {
    const declined = and(eq(sandboxPayments.id, id), eq(sandboxPayments.status, 'DECLINED'))
    const change = captured ? { status: 'CAPTURED' as const, captured: sql`${sandboxPayments.amount}` } : { status: 'AUTHORIZED' as const }
    await tx.update(sandboxPayments).set(change).where(declined)
  })
}

/** A new message as the sandbox signs and sends it, whatever is true, and what it has the program do. */
export async function sandboxMessage(app: TestApp, paymentId: string, type = 'payment.captured'): Promise<Answer> {
  const raw = JSON.stringify({ type, payment: { id: paymentId }, nonce: randomUUID() })
  const headers = { 'content-type': 'application/json', 'sandbox-signature': await sandboxSignature(app.deps, raw) }
  const answer = await app.call('POST', '/webhooks/payments/sandbox', { raw, headers })
  await app.jobs.messages()
  return answer
}

/** Puts something between the app and its sandbox; what `change` leaves out stays. */
export function changeProcessor({ deps }: Pick<TestApp, 'deps'>, change: (processor: Processor) => Partial<Processor>): void {
  const processor = deps.processors.get('sandbox')
  if (!processor) throw new Error('no sandbox')
  const processors = deps.processors as Map<string, Processor>
  processors.set('sandbox', { ...processor, ...change(processor) })
}

export const connectionLost = () => new ProcessorUnavailable('lost on its way')

/** What becomes of a call to a processor: it does not come through, or its answer does not come back. */
export type Fault = 'none' | 'unheard' | 'unanswered'

/** A processor to which calls do not come through, or whose answers do not come back. */
export function withFaults(processor: Processor, next: () => Fault): Processor {
  const faulty =
    <Arguments extends unknown[], T>(call: (...given: Arguments) => Promise<T>) =>
    async (...given: Arguments): Promise<T> => {
      const fault = next()
      if (fault === 'unheard') throw connectionLost()
      const answer = await call(...given)
      if (fault === 'unanswered') throw connectionLost()
      return answer
    }
  const { create, retrieve, capture, void: give, refund, retrieveRefund } = processor
  return {
    ...processor,
    create: faulty(create),
    retrieve: faulty(retrieve),
    capture: faulty(capture),
    void: faulty(give),
    refund: faulty(refund),
    retrieveRefund: faulty(retrieveRefund),
  }
}

/** tok_timeout without the time: the sandbox notes the payment, and its answer never comes. */
export const withInstantTimeout =
  (app: Pick<TestApp, 'deps'>) =>
  (processor: Processor): Partial<Processor> => ({
    async create(payment) {
      if (payment.token !== 'tok_timeout') return processor.create(payment)
      const { paymentId: id, amount, currency, token } = payment
      await sandboxReply(app.deps, 'POST payments', '', { id, amount, currency, token })
      throw connectionLost()
    },
  })

/** Where it is said that a refund was paid by hand: of an order that was bought, and whose processor could not send its money back. */
export async function manualRefundOf(shop: Selling): Promise<string> {
  const processors = shop.app.deps.processors as Map<string, Processor>
  const before = processors.get('sandbox')
  changeProcessor(shop.app, () => ({
    refund: async () => {
      throw new ProcessorRefused('refund_not_supported')
    },
  }))
  const { id } = await shop.placeOrder()
  const refund = ok(await shop.refund(id)).body
  if (before) processors.set('sandbox', before)
  return `/v2/orders/${id}/refunds/${refund.id}/settled`
}
