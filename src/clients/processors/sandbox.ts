import { createHash } from 'node:crypto'
import { sameSecret } from '../../lib/seal.ts'
import {
  BadSignature,
  type PaymentState,
  type Processor,
  type ProcessorPayment,
  ProcessorRefused,
  ProcessorUnavailable,
  sandboxCapabilities,
} from './processor.ts'

type SandboxClientOptions = {
  /** The sandbox's URL and its secret. */
  open: () => Promise<{ url: string; secret: string }>
  /** The signature of its messages. */
  signatureOf: (body: Uint8Array) => Promise<string>
  tokens: readonly string[]
  signatureHeader: string
}

type Answer = { id: string; status: string; authorized: number; captured: number; failureCode?: string; needsAction?: boolean }

const timeoutMs = 2_000
const states: Readonly<Record<string, PaymentState>> = {
  PENDING: 'PENDING',
  AUTHORIZED: 'AUTHORIZED',
  CAPTURED: 'CAPTURED',
  DECLINED: 'FAILED',
  VOIDED: 'VOIDED',
}
/** The token of a checkout without one. */
const tokenDefault = 'tok_success'

/** Creates the built-in processor of shops in mode TEST. */
export function createSandboxProcessor({ open, signatureOf, tokens, signatureHeader }: SandboxClientOptions): Processor {
  async function call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    const { url, secret } = await open()
    let answer: { status: number; body: unknown }
    try {
      const response = await fetch(`${url}/${path}`, {
        method,
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMs),
      })
      answer = { status: response.status, body: await response.json() }
    } catch (cause) {
      throw new ProcessorUnavailable('the sandbox did not answer', { cause })
    }
    if (answer.status === 422) throw new ProcessorRefused(errorOf(answer.body))
    // Other errors say nothing about the payment.
    if (answer.status >= 400 && answer.status !== 404) throw new ProcessorUnavailable(`the sandbox answered ${answer.status}`)
    return answer
  }

  async function post(path: string, body: unknown): Promise<ProcessorPayment> {
    const answer = await call('POST', path, body)
    if (answer.status === 404) throw new ProcessorRefused('not_found')
    return paymentOf(answer.body as Answer)
  }

  return {
    name: 'sandbox',
    mode: 'TEST',
    capabilities: { ...sandboxCapabilities, hasHostedPage: true },
    tokens,
    create: ({ paymentId, amount, currency, token }) => post('payments', { id: paymentId, amount, currency, token: token ?? tokenDefault }),
    async retrieve({ paymentId }) {
      const { status, body } = await call('GET', `payments/${paymentId}`)
      return status === 404 ? undefined : paymentOf(body as Answer)
    },
    capture: ({ paymentId }) => post(`payments/${paymentId}/capture`, {}),
    void: ({ paymentId }) => post(`payments/${paymentId}/void`, {}),
    async refund({ paymentId, refundId, amount }) {
      await call('POST', 'refunds', { id: refundId, paymentId, amount })
      return { reference: refundId, state: 'SUCCEEDED' }
    },
    async retrieveRefund({ refundId }) {
      const { status } = await call('GET', `refunds/${refundId}`)
      return status === 404 ? undefined : { reference: refundId, state: 'SUCCEEDED' }
    },
    async readMessage({ body, headers }) {
      if (!sameSecret(headers.get(signatureHeader) ?? '', await signatureOf(body))) throw new BadSignature('sandbox')
      const message = JSON.parse(Buffer.from(body).toString('utf8')) as { type?: unknown; payment?: { id?: unknown } }
      const id = message.payment?.id
      const isPaymentMessage = message.type === 'payment.captured' || message.type === 'payment.authorized'
      // Its messages have no id: equal content has an equal digest.
      const digest = createHash('sha256').update(body).digest('hex')
      return { id: digest, payment: isPaymentMessage && typeof id === 'string' ? { paymentId: id, reference: id } : undefined }
    },
    async probe() {
      await call('GET', 'health')
    },
  }
}

function paymentOf({ id, status, authorized, captured, failureCode, needsAction }: Answer): ProcessorPayment {
  const state = states[status]
  if (!state) throw new ProcessorUnavailable('the sandbox answered with an unknown status')
  return {
    reference: id,
    state: needsAction ? 'REQUIRES_ACTION' : state,
    authorized,
    captured,
    ...(failureCode === undefined ? {} : { failureCode }),
    ...(needsAction ? { clientParameters: { action: 'confirm', payment: id } } : {}),
  }
}

const errorOf = (body: unknown): string =>
  typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string' ? body.error : 'refused'
