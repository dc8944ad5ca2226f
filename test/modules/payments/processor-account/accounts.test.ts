/** The processor account of a payment: the shop's, else the instance's. A payment stays bound to its account. */
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
import { processorSettings } from '../../../support/processor-settings.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type StoredKeys = { shopId: string; publishableKey: string; secretKey: string; mode?: 'TEST' | 'LIVE' }

/** Stores a set of keys as if a merchant had saved it. The test of the route covers saving and probing. */
async function storeAccount({ deps }: TestApp, { shopId, publishableKey, secretKey, mode = 'TEST' }: StoredKeys): Promise<string> {
  const { processorAccountStore: store, clock, keyring, newId } = deps
  const id = newId('processorAccount')
  const accountKey = { shopId, processor: 'stripe', mode } as const
  const identity = identityOf('stripe', { publishableKey })
  await deps.db.write(async (tx) => {
    const [before, sameAccount, version] = [
      await store.findLive(accountKey, tx),
      await store.known(tx, accountKey, identity ?? ''),
      await store.lastVersion(tx, accountKey),
    ]
    if (before) await store.retire(tx, before.id, clock.now())
    await store.insert(tx, {
      id,
      ...accountKey,
      accountId: sameAccount?.accountId ?? id,
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
  test("a new payment uses the shop's account, else the instance's, and never one of the other mode", async () => {
    await using app = await testApp(processorSettings)
    const { shop } = await app.merchant()
    const other = await app.merchant()
    const accountQuery = { ...stripe, shopId: shop.id }
    expect(await accountFor(app.deps, accountQuery)).toMatchObject({ id: 'instance', shopId: null, mode: 'TEST', host: 'api.stripe.com' })
    expect(await accountFor(app.deps, { ...accountQuery, mode: 'LIVE' })).toBeUndefined()
    const id = await storeAccount(app, { shopId: shop.id, publishableKey: 'pk_test_a', secretKey: 'sk_test_a' })
    expect(await accountFor(app.deps, accountQuery)).toMatchObject({
      id,
      keysId: id,
      shopId: shop.id,
      publishable: { publishableKey: 'pk_test_a' },
    })
    expect(await accountFor(app.deps, { ...accountQuery, shopId: other.shop.id })).toMatchObject({ id: 'instance' })
    expect(await accountFor(app.deps, { ...accountQuery, mode: 'LIVE' })).toBeUndefined()
    const live = await storeAccount(app, { shopId: shop.id, publishableKey: 'pk_live_a', secretKey: 'sk_live_a', mode: 'LIVE' })
    expect(await accountFor(app.deps, { ...accountQuery, mode: 'LIVE' })).toMatchObject({ id: live, mode: 'LIVE' })
    expect(await accountFor(app.deps, accountQuery)).toMatchObject({ id })
  })

  test("an incomplete account of the instance is not used, and the instance's BTCPay server works in either mode", async () => {
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

  test('an account contains no readable secret, and its client is shared', async () => {
    await using app = await testApp(processorSettings)
    const { shop } = await app.merchant()
    await storeAccount(app, { shopId: shop.id, publishableKey: 'pk_test_a', secretKey: 'sk_test_hidden' })
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
  test('an account of earlier payments stays available after it is replaced or removed', async () => {
    await using app = await testApp(processorSettings)
    const { shop } = await app.merchant()
    const old = await storeAccount(app, { shopId: shop.id, publishableKey: 'pk_test_old', secretKey: 'sk_test_old' })
    const now = await storeAccount(app, { shopId: shop.id, publishableKey: 'pk_test_now', secretKey: 'sk_test_now' })
    expect(await accountById(app.deps, old, stripe)).toMatchObject({ id: old, keysId: old, isRetired: true })
    expect(await accountFor(app.deps, { ...stripe, shopId: shop.id })).toMatchObject({ id: now, isRetired: false })
    await app.deps.db.write((tx) => app.deps.processorAccountStore.retire(tx, now, app.clock.now()))
    expect(await accountById(app.deps, now, stripe)).toMatchObject({ id: now, isRetired: true })
    expect(await accountFor(app.deps, { ...stripe, shopId: shop.id })).toMatchObject({ id: 'instance' })
    expect(await accountById(app.deps, 'pacc_none', stripe)).toBeUndefined()
  })

  test('a payment uses the newest keys of its account, also after another account was in use in between', async () => {
    await using app = await testApp()
    const { shop } = await app.merchant()
    const first = await storeAccount(app, { shopId: shop.id, publishableKey: 'pk_test_a', secretKey: 'sk_test_1' })
    const rotatedKeys = await storeAccount(app, { shopId: shop.id, publishableKey: 'pk_test_a', secretKey: 'sk_test_2' })
    expect(await accountById(app.deps, first, stripe)).toMatchObject({ id: first, keysId: rotatedKeys, isRetired: false })
    const other = await storeAccount(app, { shopId: shop.id, publishableKey: 'pk_test_b', secretKey: 'sk_test_3' })
    expect(await accountById(app.deps, first, stripe)).toMatchObject({ id: first, keysId: rotatedKeys, isRetired: true })
    const restoredKeys = await storeAccount(app, { shopId: shop.id, publishableKey: 'pk_test_a', secretKey: 'sk_test_4' })
    expect(await accountById(app.deps, first, stripe)).toMatchObject({ id: first, keysId: restoredKeys, isRetired: false })
    expect(await accountFor(app.deps, { ...stripe, shopId: shop.id })).toMatchObject({ id: first, keysId: restoredKeys })
    const verifyingAccounts = await accountsToVerify(app.deps, { shopId: shop.id, processor: 'stripe' })
    expect(verifyingAccounts.map(({ account: { id, keysId } }) => [id, keysId])).toEqual([
      [first, restoredKeys],
      [other, other],
      [first, rotatedKeys],
      [first, first],
    ])
  })

  test("a payment of the instance uses the account in the current settings if that has the payment's mode", async () => {
    await using app = await testApp(processorSettings)
    expect(await accountById(app.deps, 'instance', stripe)).toMatchObject({ id: 'instance', mode: 'TEST' })
    expect(await accountById(app.deps, 'instance', { processor: 'stripe', mode: 'LIVE' })).toBeUndefined()
    expect(
      (await accountsToVerify(app.deps, { shopId: undefined, processor: 'paypal' })).map(({ account: { id, mode } }) => [id, mode]),
    ).toEqual([['instance', 'TEST']])
  })
})

test("a shop's account uses the URL of the settings if it has the same mode and is not specific to the instance's account", () => {
  const urlFor = (url: string, mode: 'TEST' | 'LIVE') =>
    apiUrlFor(parseConfig({ ...processorSettings, CHECKOUT_API_URL: url, DATA_DIR: '/nowhere' }), 'checkout', mode)
  expect(urlFor('http://127.0.0.1:1234', 'TEST')).toBe('http://127.0.0.1:1234')
  expect(urlFor('http://127.0.0.1:1234', 'LIVE')).toBe('https://api.checkout.com')
  expect(urlFor('https://gateway.example', 'LIVE')).toBe('https://gateway.example')
  expect(urlFor('https://abcdefgh.api.sandbox.checkout.com', 'TEST')).toBe('https://api.sandbox.checkout.com')
  expect(urlFor('https://abcdefgh.api.checkout.com', 'LIVE')).toBe('https://api.checkout.com')
})

test('sealed keys can be opened only with their own row, shop and processor', async () => {
  await using app = await testApp()
  const { shop } = await app.merchant()
  const id = await storeAccount(app, { shopId: shop.id, publishableKey: 'pk_test_a', secretKey: 'sk_test_hidden' })
  const account = await accountFor(app.deps, { ...stripe, shopId: shop.id })
  if (!account?.sealedSettings) throw new Error('no account')
  const { keyring } = app.deps
  const sealContext = { id, shopId: shop.id, processor: 'stripe' }
  expect(keyring.unseal(account.sealedSettings, accountSeal(sealContext))).toContain('sk_test_hidden')
  for (const change of [{ id: 'pacc_other' }, { shopId: 'shop_other' }, { processor: 'tap' }])
    expect(() => keyring.unseal(account.sealedSettings ?? '', accountSeal({ ...sealContext, ...change }))).toThrow()
})
