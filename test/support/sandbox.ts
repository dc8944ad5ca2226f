/** Actions of shoppers and the sandbox processor on payments, and failing connections to the processor. */
import { randomUUID } from 'node:crypto'
import { and, eq, sql } from 'drizzle-orm'
import { sandboxPayments } from '../../db/schema/sandbox.ts'
import { type Processor, ProcessorRefused, ProcessorUnavailable } from '../../src/clients/processors/processor.ts'
import { sandboxReply, sandboxSignature } from '../../src/modules/payments/sandbox/service.ts'
import type { Answer, TestApp } from './app.ts'
import { ok, type Selling } from './selling.ts'

/** Confirms a payment as the shopper does on the sandbox's page. Returns the HTTP status. */
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
 * Makes a declined payment succeed, as if the shopper paid again on the page. Does nothing if it is no longer declined.
 * @param captured whether the processor captures at once; otherwise the payment is authorized
 */
export async function succeedAtSandbox({ deps }: Pick<TestApp, 'deps'>, id: string, { captured }: { captured: boolean }): Promise<void> {
  await deps.db.write(async (tx) => {
    const declined = and(eq(sandboxPayments.id, id), eq(sandboxPayments.status, 'DECLINED'))
    const change = captured ? { status: 'CAPTURED' as const, captured: sql`${sandboxPayments.amount}` } : { status: 'AUTHORIZED' as const }
    await tx.update(sandboxPayments).set(change).where(declined)
  })
}

/** Sends a new signed message of the sandbox, which need not be true, and waits until the program processed it. */
export async function sandboxMessage(app: TestApp, paymentId: string, type = 'payment.captured'): Promise<Answer> {
  const raw = JSON.stringify({ type, payment: { id: paymentId }, nonce: randomUUID() })
  const headers = { 'content-type': 'application/json', 'sandbox-signature': await sandboxSignature(app.deps, raw) }
  const answer = await app.call('POST', '/webhooks/payments/sandbox', { raw, headers })
  await app.jobs.messages()
  return answer
}

/** Overrides functions of the sandbox's client. `change` returns the new ones. */
export function changeProcessor({ deps }: Pick<TestApp, 'deps'>, change: (processor: Processor) => Partial<Processor>): void {
  const processor = deps.processors.get('sandbox')
  if (!processor) throw new Error('no sandbox')
  const processors = deps.processors as Map<string, Processor>
  processors.set('sandbox', { ...processor, ...change(processor) })
}

export const connectionLost = () => new ProcessorUnavailable('lost on its way')

/** Fault of a call to a processor: `unheard` loses the request, `unanswered` the response. */
export type Fault = 'none' | 'unheard' | 'unanswered'

/** Wraps a processor so that calls fail by the faults that `next` returns. */
export function withFaults(processor: Processor, next: () => Fault): Processor {
  const faulty =
    <Arguments extends unknown[], T>(call: (...args: Arguments) => Promise<T>) =>
    async (...args: Arguments): Promise<T> => {
      const fault = next()
      if (fault === 'unheard') throw connectionLost()
      const answer = await call(...args)
      if (fault === 'unanswered') throw connectionLost()
      return answer
    }
  const { create, retrieve, capture, void: voidPayment, refund, retrieveRefund } = processor
  return {
    ...processor,
    create: faulty(create),
    retrieve: faulty(retrieve),
    capture: faulty(capture),
    void: faulty(voidPayment),
    refund: faulty(refund),
    retrieveRefund: faulty(retrieveRefund),
  }
}

/** Makes tok_timeout fail at once: the sandbox stores the payment, and its response is lost. */
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

/** Creates an order whose processor refuses the refund. Returns the path that marks the refund as paid by hand. */
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
