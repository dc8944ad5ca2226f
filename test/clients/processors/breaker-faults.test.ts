/** Tests that only timeouts, network errors and 5xx of a processor count for its circuit breaker. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { createBtcpay } from '../../../src/clients/processors/btcpay/client.ts'
import { createCheckout } from '../../../src/clients/processors/checkout/client.ts'
import { createPaypal } from '../../../src/clients/processors/paypal/client.ts'
import type { Processor } from '../../../src/clients/processors/processor.ts'
import { ProcessorRefused, ProcessorUnavailable } from '../../../src/clients/processors/processor.ts'
import { createQpay } from '../../../src/clients/processors/qpay/client.ts'
import { createStripe } from '../../../src/clients/processors/stripe/client.ts'
import { createTap } from '../../../src/clients/processors/tap/client.ts'
import { serveStandIn } from '../../../src/demo/stand-ins/server.ts'
import { longTestMs } from '../../support/timeouts.ts'
import { checkoutKeys } from './checkout-server.ts'
import { describeFault } from './outcomes.ts'
import { type Fault, loopbackPort } from './stand-in.ts'
import { tapKeys } from './tap-server.ts'

setDefaultTimeout(longTestMs)

type Port = ReturnType<typeof loopbackPort>
const clients: Record<string, { currency: string; make(apiUrl: string, port: Port): Processor }> = {
  stripe: {
    currency: 'USD',
    make: (apiUrl, port) => createStripe({ publishableKey: 'pk_test_a', secretKey: 'sk_test_a', webhookSecret: 'whsec_a', apiUrl }, port),
  },
  paypal: {
    currency: 'USD',
    make: (apiUrl, port) => createPaypal({ clientId: 'client', secret: 'secret', webhookId: 'hook', apiUrl }, port),
  },
  checkout: { currency: 'USD', make: (apiUrl, port) => createCheckout({ ...checkoutKeys, apiUrl }, port) },
  tap: { currency: 'KWD', make: (apiUrl, port) => createTap({ ...tapKeys, apiUrl }, port) },
  qpay: {
    currency: 'MNT',
    make: (apiUrl, port) => createQpay({ username: 'ann', password: 'secret', invoiceCode: 'CODE', apiUrl }, port),
  },
  btcpay: {
    currency: 'USD',
    make: (apiUrl, port) => createBtcpay({ apiKey: 'key', storeId: 'store', webhookSecret: 'secret', apiUrl, mode: 'TEST' }, port),
  },
}

const verbs: Record<string, (processor: Processor, currency: string) => Promise<unknown>> = {
  create: (processor, currency) =>
    processor.create({ paymentId: 'pay_1', amount: 1_000, currency, method: 'card', token: undefined, returnUrl: 'https://shop.example' }),
  retrieve: (processor, currency) => processor.retrieve(paymentName(currency)),
  capture: (processor, currency) => processor.capture(paymentName(currency)),
  void: (processor, currency) => processor.void(paymentName(currency)),
  refund: (processor, currency) => processor.refund({ ...paymentName(currency), refundId: 'ref_1', whole: true }),
  'retrieve refund': (processor, currency) =>
    processor.retrieveRefund({ ...paymentName(currency), refundId: 'ref_1', refundReference: 're_1' }),
  probe: (processor) => processor.probe(),
}
const paymentName = (currency: string) => ({
  ...{ paymentId: 'pay_1', reference: 'auth_1', amount: 1_000, currency },
  references: { authorization: 'auth_1', capture: 'cap_1', charge: 'chg_1', payment: 'payment_1' },
})

/** A response with every field that the clients need before they read its status. */
const withStatus = (status: string) => ({
  ...{ id: 'auth_1', object: 'payment_intent', amount: 1_000, currency: 'usd', status, state: status, metadata: {} },
  ...{ purchase_units: [{ amount: { currency_code: 'USD', value: '10.00' } }], invoice_status: status, rows: [{ payment_id: 'x' }] },
  ...{ approved: true, access_token: 'token', data: [{}], errors: [], action_id: 'act_1' },
})

const answers: readonly Fault[] = [
  ...['disputed_by_moon', 'constructor', '__proto__', 'a sentence <b>', ''].map(
    (status): Fault => ({ status: 200, json: withStatus(status) }),
  ),
  ...[{}, [], [{}], null, 'text', 7, { id: null }, { status: 5 }].map((json): Fault => ({ status: 200, json: JSON.stringify(json) })),
  { status: 201, json: withStatus('unheard_of') },
  { status: 204 },
  { status: 200, json: '<html>It works!</html>' },
  { status: 200, json: '{"id": "auth_1", "stat' },
  ...[400, 401, 402, 403, 404, 405, 408, 409, 410, 418, 422, 425, 429, 451].map((status): Fault => ({ status, json: '<html>' })),
  ...[400, 404, 422, 429].map((status): Fault => ({ status, json: { error: { type: 'unheard_of' }, name: 'UNHEARD_OF', code: 7 } })),
  ...[301, 302, 303, 307, 308].map((status): Fault => ({ status, headers: { location: 'https://elsewhere.example' } })),
  { status: 300, json: {} },
]
const outages: readonly Fault[] = [
  ...[500, 501, 502, 503, 504, 520, 599].map((status): Fault => ({ status, json: withStatus('succeeded') })),
  { status: 500, json: '<html>' },
  'late',
  'unreached',
  'half',
]

for (const [name, { make, currency }] of Object.entries(clients))
  for (const [verb, act] of Object.entries(verbs)) {
    type Pass = { fault: Fault; includesToken: boolean }
    /** Calls the processor with each fault, first for all requests except those for a token, then for those too. */
    async function forEachFault(faults: readonly Fault[], check: (pass: Pass, error: unknown) => void) {
      let pass: Pass | undefined
      let isFailed = false
      let usesToken = false
      const reply = { status: 200, json: { access_token: 'token', expires_in: 3_600 } }
      const watch = ({ path }: { path: string }) => {
        const isToken = path.endsWith('/token')
        if (isToken) usesToken = true
        if (!pass || (isToken && !pass.includesToken)) return undefined
        isFailed = true
        return pass.fault
      }
      await using server = await serveStandIn(() => reply, watch)
      const [port, shortPort] = [loopbackPort({ timeoutMs: 5_000 }), loopbackPort({ timeoutMs: 60 })]
      for (const includesToken of [false, true]) {
        // The second pass would repeat the first.
        if (includesToken && !usesToken) return
        for (const fault of faults) {
          pass = { fault, includesToken }
          isFailed = false
          const processor = make(server.url, fault === 'late' ? shortPort : port)
          const error = await act(processor, currency).catch((thrown: unknown) => thrown)
          if (isFailed) check(pass, error)
        }
      }
    }

    test(`${name} ${verb}: no answer below 500 counts for the breaker`, () =>
      forEachFault(answers, ({ fault }, error) => {
        if (!(error instanceof Error) || error instanceof ProcessorRefused) return
        expect([describeFault(fault), error]).toEqual([describeFault(fault), expect.any(ProcessorUnavailable)])
        expect([describeFault(fault), (error as ProcessorUnavailable).counts]).toEqual([describeFault(fault), false])
      }))

    test(`${name} ${verb}: a timeout, a network error and 5xx count for the breaker`, () =>
      forEachFault(outages, ({ fault, includesToken }, error) => {
        if (!includesToken && error instanceof ProcessorRefused) return
        if (verb === 'probe' && !includesToken && !(error instanceof Error)) return
        expect([describeFault(fault), error]).toMatchObject([describeFault(fault), { name: 'ProcessorUnavailable', counts: true }])
      }))
  }
