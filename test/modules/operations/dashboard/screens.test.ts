/** Tests what the console reads about chains, backups and processors. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { processorNames } from '../../../../src/lib/processors.ts'
import { backUp } from '../../../../src/modules/operations/backup/index.ts'
import { backupsView } from '../../../../src/modules/operations/log-shipping/index.ts'
import { testApp } from '../../../support/app.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('chains are those of the settings even before any sync, with only the hosts of their nodes', async () => {
  const chains = [
    { chainId: 8453, rpc: ['https://one.example/key-1', 'https://two.example/key-2'] },
    { chainId: 1, rpc: ['https://one.example/k'] },
  ]
  await using app = await testApp({ CHAINS: JSON.stringify(chains) })
  const answer = ok(await app.call('GET', '/admin/operations/chains', { token: (await app.superAdmin()).token }))
  const nodes = (...hosts: string[]) => hosts.map((host) => ({ host, inUse: false, state: 'ready', restsUntil: null, failures: 0 }))
  expect(
    answer.body.data.map(({ chainId, countedTo, isConfigured, nodes: processorNamed }: Record<string, unknown>) => [
      chainId,
      countedTo,
      isConfigured,
      processorNamed,
    ]),
  ).toEqual([
    [1, null, true, nodes('one.example')],
    [8453, null, true, nodes('one.example', 'two.example')],
  ])
  expect(answer.text).not.toContain('key-1')
})

test('backups show the age of the last one per target, the next time, and log shipping', async () => {
  await using app = await testApp()
  const { token } = await app.superAdmin()
  const read = async () => ok(await app.call('GET', '/admin/operations/backups', { token })).body
  const before = await read()
  if (before.state === 'server') {
    expect(before).toMatchObject({ last: null, places: [], database: null, nextAt: null })
    return
  }
  expect(before).toMatchObject({ state: 'on', last: null, isLate: false, failures: 0, logShipping: { isOn: false, shippedAt: null } })
  expect(before.places).toMatchObject([{ isNamed: false, lastAt: null, ageSeconds: null, isRunning: false }])
  await backUp(app.deps)
  app.clock.advance(90_000)
  const after = await read()
  expect(after.last).toMatchObject({ ageSeconds: 90 })
  expect(after.places).toMatchObject([{ ageSeconds: 90, isLate: false }])
  expect(after.database.bytes).toBeGreaterThan(0)
  app.clock.advance(31 * 60 * 60_000)
  expect(backupsView(app.deps, null)).toMatchObject({ isLate: true, places: [{ isLate: true }] })
})

test("a processor's form gets its accepted fields, which are secret, and which are set", async () => {
  await using app = await testApp({ STRIPE_SECRET_KEY: 'sk_test_x', STRIPE_PUBLISHABLE_KEY: 'pk_test_x' })
  const { token, shop } = await app.merchant()
  const { data } = ok(await app.call('GET', '/shops/v2/processor-accounts', { token })).body
  expect(data.map(({ processor }: { processor: string }) => processor).sort()).toEqual([...processorNames].sort())
  const processorNamed = (name: string) => data.find(({ processor }: { processor: string }) => processor === name)
  const { setup, ...stripe } = processorNamed('stripe')
  expect(setup.webhook.url).toEndWith(`/webhooks/payments/stripe/${shop.id}`)
  expect(setup.webhook.events).toContain('payment_intent.succeeded')
  expect(stripe).toEqual({
    processor: 'stripe',
    fields: [
      { name: 'publishableKey', secret: false, required: false },
      { name: 'secretKey', secret: true, required: true },
      { name: 'webhookSecret', secret: true, required: false },
    ],
    takesMode: false,
    accounts: [],
    instance: { TEST: true, LIVE: false },
  })
  expect(processorNamed('btcpay').fields.at(-1)).toEqual({ name: 'apiUrl', secret: false, required: true })
  expect(processorNamed('paypal').takesMode).toBe(true)
})
