/** Which account a payment goes through: the shop's own, else the instance's, and the one that it was bound to whatever comes after. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { parseConfig } from '../../../../src/config.ts'
import { identityOf } from '../../../../src/modules/payments/processor-account/account-fields.ts'
import { accountSeal } from '../../../../src/modules/payments/processor-account/domain.ts'
import {
  accountById,
  accountFor,
  accountsToVerify,
  clientOf,
  everyAccount,
} from '../../../../src/modules/payments/processor-account/index.ts'
import { apiUrlFor } from '../../../../src/modules/payments/processor-account/instance.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { everySetting } from '../../../support/processor-settings.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Kept = { shopId: string; publishableKey: string; secretKey: string; mode?: 'TEST' | 'LIVE' }

/** A set of keys as if it had been put and proven: a test of the route does that. */
async function keep({ deps }: TestApp, { shopId, publishableKey, secretKey, mode = 'TEST' }: Kept): Promise<string> {
  const { processorAccountStore: store, clock, keyring, newId } = deps
  const id = newId('processorAccount')
  const which = { shopId, processor: 'stripe', mode } as const
  const identity = identityOf('stripe', { publishableKey })
  await deps.db.write(async (tx) => {
    const [before, known, version] = [
      await store.live(which, tx),
      await store.known(tx, which, identity ?? ''),
      await store.lastVersion(tx, which),
    ]
    if (before) await store.retire(tx, before.id, clock.now())
    await store.insert(tx, {
      id,
      ...which,
      accountId: known?.accountId ?? id,
      identity,
      publishable: { publishableKey },
      sealedSettings: keyring.seal(JSON.stringify({ secretKey }), accountSeal({ id, shopId, processor: 'stripe' })),
      apiUrl: null,
      names: ['publishableKey', 'secretKey'],
      version: version + 1,
      checkedAt: clock.now(),
      createdAt: clock.now(),
      retiredAt: null,
    })
  })
  return id
}

const stripe = { processor: 'stripe', mode: 'TEST' } as const

describe('the account of a new payment', () => {
  test("is the shop's own, else the instance's, and never one of the other mode", async () => {
    await using app = await testApp(everySetting)
    const { shop } = await app.merchant()
    const other = await app.merchant()
    const of = { ...stripe, shopId: shop.id }
    expect(await accountFor(app.deps, of)).toMatchObject({ id: 'instance', shopId: null, mode: 'TEST', host: 'api.stripe.com' })
    expect(await accountFor(app.deps, { ...of, mode: 'LIVE' })).toBeUndefined()
    const id = await keep(app, { shopId: shop.id, publishableKey: 'pk_test_a', secretKey: 'sk_test_a' })
    expect(await accountFor(app.deps, of)).toMatchObject({ id, keysId: id, shopId: shop.id, publishable: { publishableKey: 'pk_test_a' } })
    expect(await accountFor(app.deps, { ...of, shopId: other.shop.id })).toMatchObject({ id: 'instance' })
    expect(await accountFor(app.deps, { ...of, mode: 'LIVE' })).toBeUndefined()
    const live = await keep(app, { shopId: shop.id, publishableKey: 'pk_live_a', secretKey: 'sk_live_a', mode: 'LIVE' })
    expect(await accountFor(app.deps, { ...of, mode: 'LIVE' })).toMatchObject({ id: live, mode: 'LIVE' })
    expect(await accountFor(app.deps, of)).toMatchObject({ id })
  })

  test('is none where nobody has all of one, and a BTCPay server of the instance is of the mode that is asked for', async () => {
    await using app = await testApp({
      STRIPE_PUBLISHABLE_KEY: 'pk_test_a',
      BTCPAY_API_URL: 'https://pay.example',
      BTCPAY_STORE_ID: 'A',
      BTCPAY_API_KEY: 'B',
    })
    const { shop } = await app.merchant()
    expect(await accountFor(app.deps, { ...stripe, shopId: shop.id })).toBeUndefined()
    for (const mode of ['TEST', 'LIVE'] as const) {
      const account = await accountFor(app.deps, { processor: 'btcpay', mode, shopId: shop.id })
      expect(account).toMatchObject({ id: 'instance', mode })
      if (account) expect(clientOf(app.deps, account).mode).toBe(mode)
    }
  })

  test('holds no secret that can be read, and its client is one for all who use it', async () => {
    await using app = await testApp(everySetting)
    const { shop } = await app.merchant()
    await keep(app, { shopId: shop.id, publishableKey: 'pk_test_a', secretKey: 'sk_test_hidden' })
    const [first, second] = [
      await accountFor(app.deps, { ...stripe, shopId: shop.id }),
      await accountFor(app.deps, { ...stripe, shopId: shop.id }),
    ]
    if (!first || !second) throw new Error('no account')
    expect(JSON.stringify(first)).not.toContain('hidden')
    expect(clientOf(app.deps, first)).toBe(clientOf(app.deps, second))
    expect(clientOf(app.deps, first)).toMatchObject({ name: 'stripe', mode: 'TEST' })
    for (const account of await everyAccount(app.deps)) {
      expect(JSON.stringify(account)).not.toContain('SECRET')
      expect(clientOf(app.deps, account)).toMatchObject({ name: account.processor, mode: account.mode })
    }
    expect((await everyAccount(app.deps)).map(({ processor, shopId }) => [processor, shopId !== null])).toEqual([
      ...['stripe', 'tap', 'qpay', 'checkout', 'paypal', 'btcpay'].map((name) => [name, false]),
      ['stripe', true],
    ] as never)
  })
})

describe('the account that a payment was bound to', () => {
  test('stays when another takes its place and when it is taken away', async () => {
    await using app = await testApp(everySetting)
    const { shop } = await app.merchant()
    const old = await keep(app, { shopId: shop.id, publishableKey: 'pk_test_old', secretKey: 'sk_test_old' })
    const now = await keep(app, { shopId: shop.id, publishableKey: 'pk_test_now', secretKey: 'sk_test_now' })
    expect(await accountById(app.deps, old, stripe)).toMatchObject({ id: old, keysId: old, isRetired: true })
    expect(await accountFor(app.deps, { ...stripe, shopId: shop.id })).toMatchObject({ id: now, isRetired: false })
    await app.deps.db.write((tx) => app.deps.processorAccountStore.retire(tx, now, app.clock.now()))
    expect(await accountById(app.deps, now, stripe)).toMatchObject({ id: now, isRetired: true })
    expect(await accountFor(app.deps, { ...stripe, shopId: shop.id })).toMatchObject({ id: 'instance' })
    expect(await accountById(app.deps, 'pacc_none', stripe)).toBeUndefined()
  })

  test('goes on with the other keys that the very account gets, also after another was there in between', async () => {
    await using app = await testApp()
    const { shop } = await app.merchant()
    const first = await keep(app, { shopId: shop.id, publishableKey: 'pk_test_a', secretKey: 'sk_test_1' })
    const rolled = await keep(app, { shopId: shop.id, publishableKey: 'pk_test_a', secretKey: 'sk_test_2' })
    expect(await accountById(app.deps, first, stripe)).toMatchObject({ id: first, keysId: rolled, isRetired: false })
    const other = await keep(app, { shopId: shop.id, publishableKey: 'pk_test_b', secretKey: 'sk_test_3' })
    expect(await accountById(app.deps, first, stripe)).toMatchObject({ id: first, keysId: rolled, isRetired: true })
    const back = await keep(app, { shopId: shop.id, publishableKey: 'pk_test_a', secretKey: 'sk_test_4' })
    expect(await accountById(app.deps, first, stripe)).toMatchObject({ id: first, keysId: back, isRetired: false })
    expect(await accountFor(app.deps, { ...stripe, shopId: shop.id })).toMatchObject({ id: first, keysId: back })
    const hearing = await accountsToVerify(app.deps, { shopId: shop.id, processor: 'stripe' })
    expect(hearing.map(({ account: { id, keysId } }) => [id, keysId])).toEqual([
      [first, back],
      [other, other],
      [first, rolled],
      [first, first],
    ])
  })

  test("of the instance is the one that the settings have now, while its money is of the payment's mode", async () => {
    await using app = await testApp(everySetting)
    expect(await accountById(app.deps, 'instance', stripe)).toMatchObject({ id: 'instance', mode: 'TEST' })
    expect(await accountById(app.deps, 'instance', { processor: 'stripe', mode: 'LIVE' })).toBeUndefined()
    expect(
      (await accountsToVerify(app.deps, { shopId: undefined, processor: 'paypal' })).map(({ account: { id, mode } }) => [id, mode]),
    ).toEqual([['instance', 'TEST']])
  })
})

test('an account of a shop is where the settings say, if that is of its mode and no address of the instance’s own account', () => {
  const urlFor = (url: string, mode: 'TEST' | 'LIVE') =>
    apiUrlFor(parseConfig({ ...everySetting, CHECKOUT_API_URL: url, DATA_DIR: '/nowhere' }), 'checkout', mode)
  expect(urlFor('http://127.0.0.1:1234', 'TEST')).toBe('http://127.0.0.1:1234')
  expect(urlFor('http://127.0.0.1:1234', 'LIVE')).toBe('https://api.checkout.com')
  expect(urlFor('https://gateway.example', 'LIVE')).toBe('https://gateway.example')
  expect(urlFor('https://abcdefgh.api.sandbox.checkout.com', 'TEST')).toBe('https://api.sandbox.checkout.com')
  expect(urlFor('https://abcdefgh.api.checkout.com', 'LIVE')).toBe('https://api.checkout.com')
})

test('a sealed set of keys opens for its own row, shop and processor only', async () => {
  await using app = await testApp()
  const { shop } = await app.merchant()
  const id = await keep(app, { shopId: shop.id, publishableKey: 'pk_test_a', secretKey: 'sk_test_hidden' })
  const account = await accountFor(app.deps, { ...stripe, shopId: shop.id })
  if (!account?.sealedSettings) throw new Error('no account')
  const { keyring } = app.deps
  const about = { id, shopId: shop.id, processor: 'stripe' }
  expect(keyring.unseal(account.sealedSettings, accountSeal(about))).toContain('sk_test_hidden')
  for (const wrong of [{ id: 'pacc_other' }, { shopId: 'shop_other' }, { processor: 'tap' }])
    expect(() => keyring.unseal(account.sealedSettings ?? '', accountSeal({ ...about, ...wrong }))).toThrow()
})
