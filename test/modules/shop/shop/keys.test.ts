/** The shop's keys and its wallet: use, reading, rotation, and storage without plain text. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { and, eq, sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { auditLog } from '../../../../db/schema/people.ts'
import { apiKeys, shops, wallets } from '../../../../db/schema/shop.ts'
import { system, type Write } from '../../../../src/core/command-context.ts'
import { newApiKey } from '../../../../src/lib/api-keys.ts'
import { sha256 } from '../../../../src/lib/seal.ts'
import { startSession } from '../../../../src/modules/identity/auth/service.ts'
import { walletSeal } from '../../../../src/modules/shop/shop/domain.ts'
import { changeShop, contextOf, rotatePrivateKey } from '../../../../src/modules/shop/shop/service.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { openCommandInstance } from '../../../support/command-process.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const statusWithKey = async (app: TestApp, key: string) => (await app.call('GET', '/shops/v2/tax-rates', { key })).status
const countReadings = async ({ deps }: TestApp, shopId: string) =>
  (
    await deps.db.read
      .select()
      .from(auditLog)
      .where(and(eq(auditLog.action, 'shop.private_key_read'), eq(auditLog.subject, shopId)))
  ).length

/** Returns the rows of all tables as JSON text. */
async function dumpDatabase({ deps: { db } }: TestApp): Promise<string> {
  const names =
    engine === 'sqlite'
      ? "select name from sqlite_master where type = 'table' and name not like '%_words%'"
      : "select tablename as name from pg_tables where schemaname = 'public'"
  const tables = await db.read.rows<{ name: string }>(sql.raw(names))
  const rows = await Promise.all(tables.map(({ name }) => db.read.rows(sql.raw(`select * from "${name}"`))))
  return JSON.stringify(rows)
}

describe('the private key', () => {
  test('the private key is the secret API key of the shop, is sent with no-store, and each reading is audited before the response', async () => {
    await using app = await testApp()
    const { id, token, secretKey, shop } = await app.merchant()
    const { status, body, headers } = await app.call('GET', '/shops/v2/private-key', { token })
    expect([status, body]).toEqual([200, { privateKey: secretKey }])
    expect(headers.get('cache-control')).toBe('no-store')
    const [row] = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'shop.private_key_read'))
    expect(row).toMatchObject({ actor: id, subject: shop.id, shopId: shop.id, requestId: headers.get('x-request-id'), at: app.clock.now() })
  })

  test('the private key of a shop can be read ten times an hour, and refused readings do not count', async () => {
    await using app = await testApp()
    const { token, shop } = await app.merchant()
    const other = await app.merchant()
    for (let nth = 0; nth < 10; nth++) {
      expect((await app.call('GET', '/shops/v2/private-key', { token })).status).toBe(200)
      app.clock.advance(60_000)
    }
    for (let nth = 0; nth < 3; nth++) {
      const limited = await app.call('GET', '/shops/v2/private-key', { token })
      expect([limited.status, Number(limited.headers.get('retry-after')) > 0, limited.headers.get('cache-control')]).toEqual([
        429,
        true,
        'no-store',
      ])
      expect(limited.text).not.toContain('sk_')
    }
    expect(await countReadings(app, shop.id)).toBe(10)
    expect((await app.call('GET', '/shops/v2/private-key', { token: other.token })).status).toBe(200)
    app.clock.advance(50 * 60_000)
    const { refreshToken } = {
      refreshToken: (await app.call('POST', '/merchant/login', { body: { email: 'merchant1@example.com', password: 'password-of-1' } }))
        .body.data.accessToken,
    }
    expect((await app.call('GET', '/shops/v2/private-key', { token: refreshToken })).status).toBe(200)
    expect((await app.call('GET', '/shops/v2/private-key', { token: refreshToken })).status).toBe(429)
  })

  test('concurrent readings of the private key do not exceed ten an hour', async () => {
    await using app = await testApp()
    const { token, shop } = await app.merchant()
    const answers = await Promise.all(Array.from({ length: 25 }, () => app.call('GET', '/shops/v2/private-key', { token })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(15)
    expect(await countReadings(app, shop.id)).toBe(10)
  })

  test("only the merchant's token reads the private key, and no API key does", async () => {
    await using app = await testApp()
    const { secretKey, publishableKey, shop } = await app.merchant()
    const other = await app.merchant()
    for (const key of [secretKey, publishableKey]) expect((await app.call('GET', '/shops/v2/private-key', { key })).status).toBe(401)
    expect((await app.call('GET', '/shops/v2/private-key', { token: other.token, headers: { 'x-shop-id': shop.id } })).status).toBe(404)
    expect(await countReadings(app, shop.id)).toBe(0)
  })

  test('the private key is not in plain text in the database, the log or any other response', async () => {
    await using app = await testApp()
    const { token, secretKey, publishableKey, shop } = await app.merchant()
    await app.call('GET', '/shops/v2/private-key', { token })
    await statusWithKey(app, secretKey)
    const database = await dumpDatabase(app)
    expect(database).toContain(publishableKey)
    expect(database).toContain(sha256(secretKey))
    expect(database).not.toContain(secretKey)
    expect(JSON.stringify(app.logged)).not.toContain(secretKey)
    for (const path of ['/shops/v2', '/merchant/me', `/shops/v2/public/name/${shop.name}`])
      expect((await app.call('GET', path, { token })).text).not.toContain('sk_')
  })
})

describe('rotating the private key', () => {
  const rotate = (app: TestApp, token: string, body?: unknown) =>
    app.call('POST', '/shops/v2/private-key/rotate', { token, ...(body === undefined ? {} : { body }) })

  test('rotating the private key without grace ends the old key at once', async () => {
    await using app = await testApp()
    const { token, secretKey, id, shop } = await app.merchant()
    for (const body of [undefined, {}, { graceSeconds: 0 }]) {
      const { status, body: answer, headers } = await rotate(app, token, body)
      expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
      expect(answer.privateKey).toMatch(/^sk_test_[0-9A-Za-z]{36}$/)
      expect(answer.previousKeyExpiresAt).toBe(new Date(app.clock.now()).toISOString())
      expect(await statusWithKey(app, secretKey)).toBe(401)
      expect(await statusWithKey(app, answer.privateKey)).toBe(200)
      expect((await app.call('GET', '/shops/v2/private-key', { token })).body.privateKey).toBe(answer.privateKey)
    }
    const trail = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'shop.private_key_rotated'))
    expect(trail.map(({ actor, subject }) => [actor, subject])).toEqual(Array(3).fill([id, shop.id]))
  })

  test('a repeated rotation with the same Idempotency-Key returns the same key, which is stored sealed', async () => {
    await using app = await testApp()
    const { token, secretKey } = await app.merchant()
    const once = (body: unknown = { graceSeconds: 60 }) =>
      app.call('POST', '/shops/v2/private-key/rotate', { token, body, headers: { 'idempotency-key': 'rotate-1' } })
    const first = await once()
    app.clock.advance(5_000)
    const second = await once()
    expect([first.status, second.status, second.text]).toEqual([200, 200, first.text])
    expect([first, second].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true'])
    expect(second.headers.get('cache-control')).toBe('no-store')
    expect(first.body.privateKey).not.toBe(secretKey)
    expect(await statusWithKey(app, first.body.privateKey)).toBe(200)
    // The first key still has its grace, so there was no second rotation.
    expect(await statusWithKey(app, secretKey)).toBe(200)
    expect(await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'shop.private_key_rotated'))).toHaveLength(1)
    expect(await dumpDatabase(app)).not.toContain(first.body.privateKey)
    expect((await once({ graceSeconds: 0 })).status).toBe(422)
    expect((await rotate(app, token)).body.privateKey).not.toBe(first.body.privateKey)
  })

  test('each repeated response of a rotation is audited as a reading and counts towards the ten an hour', async () => {
    await using app = await testApp()
    const { token, shop, id } = await app.merchant()
    const rotateAgain = () =>
      app.call('POST', '/shops/v2/private-key/rotate', { token, body: {}, headers: { 'idempotency-key': 'rotate-1' } })
    const first = await rotateAgain()
    expect(await countReadings(app, shop.id)).toBe(0)
    for (let nth = 1; nth <= 10; nth++) {
      const answer = await rotateAgain()
      expect([answer.text, answer.headers.get('idempotent-replayed'), await countReadings(app, shop.id)]).toEqual([first.text, 'true', nth])
    }
    const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'shop.private_key_read'))
    expect(rows.every(({ actor, requestId }) => actor === id && requestId !== null)).toBe(true)
    app.clock.advance(600_000)
    const limited = await rotateAgain()
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '3000'])
    expect(limited.text).not.toContain('sk_')
    expect((await app.call('GET', '/shops/v2/private-key', { token })).status).toBe(429)
    app.clock.advance(2_900_000)
    expect((await rotateAgain()).status).toBe(429)
  })

  test('the private key of a shop can be rotated ten times an hour, and the eleventh request gets Retry-After', async () => {
    await using app = await testApp()
    const { token, id } = await app.merchant()
    const other = await app.merchant()
    let key = ''
    for (let nth = 0; nth < 10; nth++) {
      key = (await rotate(app, token)).body.privateKey
      app.clock.advance(60_000)
    }
    const limited = await rotate(app, token)
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '3000'])
    expect(await statusWithKey(app, key)).toBe(200)
    expect((await rotate(app, other.token)).status).toBe(200)
    app.clock.advance(3_000_000)
    const { data } = await startSession(app.deps, { id, role: 'MERCHANT' }, system)
    expect((await rotate(app, data.accessToken)).status).toBe(200)
  })

  test('expired keys are deleted after thirty days, and their audit rows stay', async () => {
    await using app = await testApp()
    const { token, secretKey, shop } = await app.merchant()
    await app.call('POST', '/customer', { key: secretKey, body: { email: 'a@example.com' } })
    await rotate(app, token, { graceSeconds: 3_600 })
    const { removeExpired } = await import('../../../../jobs/remove-expired.ts')
    const countKeys = async () => (await app.deps.db.read.select().from(apiKeys).where(eq(apiKeys.shopId, shop.id))).length
    app.clock.advance(3_600_000 + 30 * 86_400_000 - 1)
    await removeExpired(app.deps)
    expect(await countKeys()).toBe(3)
    app.clock.advance(1)
    await removeExpired(app.deps)
    expect(await countKeys()).toBe(2)
    const [row] = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'customer.created'))
    expect(row?.actor).toStartWith('key_')
    expect(await statusWithKey(app, secretKey)).toBe(401)
  })

  test('a rotation with grace keeps the last key valid to the millisecond, and expires older ones', async () => {
    await using app = await testApp()
    const { token, secretKey: first } = await app.merchant()
    const second = (await rotate(app, token, { graceSeconds: 3_000 })).body.privateKey
    expect([await statusWithKey(app, first), await statusWithKey(app, second)]).toEqual([200, 200])
    app.clock.advance(1_000_000)
    const { privateKey: third, previousKeyExpiresAt } = (await rotate(app, token, { graceSeconds: 2_000 })).body
    expect(previousKeyExpiresAt).toBe(new Date(app.clock.now() + 2_000_000).toISOString())
    // At most two secret keys are valid at a time.
    expect([await statusWithKey(app, first), await statusWithKey(app, second), await statusWithKey(app, third)]).toEqual([401, 200, 200])
    app.clock.advance(1_999_999)
    expect(await statusWithKey(app, second)).toBe(200)
    app.clock.advance(1)
    expect([await statusWithKey(app, second), await statusWithKey(app, third)]).toEqual([401, 200])
  })

  test('rotating the private key never makes an ended key live again', async () => {
    await using app = await testApp()
    const { token, secretKey } = await app.merchant()
    await rotate(app, token)
    expect(await statusWithKey(app, secretKey)).toBe(401)
    await rotate(app, token, { graceSeconds: 86_400 })
    expect(await statusWithKey(app, secretKey)).toBe(401)
  })

  test('concurrent rotations leave one current key and at most one expiring key', async () => {
    await using app = await testApp()
    const { token, shop } = await app.merchant()
    const answers = await Promise.all(Array.from({ length: 6 }, () => rotate(app, token, { graceSeconds: 600 })))
    const keys = answers.map(({ body }) => body.privateKey)
    expect(new Set(keys).size).toBe(6)
    const states = await Promise.all(keys.map((key) => statusWithKey(app, key)))
    expect(states.filter((status) => status === 200).length).toBeLessThanOrEqual(2)
    const secret = and(eq(apiKeys.shopId, shop.id), eq(apiKeys.kind, 'SECRET'))
    const rows = await app.deps.db.read.select().from(apiKeys).where(secret)
    expect(rows.filter(({ expiresAt }) => expiresAt === null)).toHaveLength(1)
    expect(rows.filter(({ expiresAt }) => expiresAt === null || expiresAt > app.clock.now())).toHaveLength(2)
  })

  test('a rotation with a grace other than whole seconds up to a day is refused with 400', async () => {
    await using app = await testApp()
    const { token, secretKey } = await app.merchant()
    for (const graceSeconds of [-1, 86_401, 1.5, '60', null]) {
      const answer = await rotate(app, token, { graceSeconds })
      expect([graceSeconds, answer.status]).toEqual([graceSeconds, 400])
      expect(answer.body.message).toStartWith('graceSeconds: ')
    }
    expect(await statusWithKey(app, secretKey)).toBe(200)
  })
})

describe('an API key', () => {
  test('an API key is accepted only in the form in which it was issued', async () => {
    await using app = await testApp()
    const { secretKey, publishableKey } = await app.merchant()
    expect(await statusWithKey(app, secretKey)).toBe(200)
    const last = secretKey.endsWith('A') ? 'B' : 'A'
    for (const key of [
      secretKey.slice(0, -1) + last,
      secretKey.slice(0, -1),
      `${secretKey}A`,
      secretKey.replace('_test_', '_live_'),
      secretKey.replace('sk_', 'pk_'),
      `${secretKey}, ${secretKey}`,
      `${publishableKey}, ${secretKey}`,
      newApiKey('SECRET', 'TEST', app.deps.randomBytes),
      'x',
      sha256(secretKey),
    ]) {
      expect([key, await statusWithKey(app, key)]).toEqual([key, 401])
    }
    expect(await statusWithKey(app, publishableKey)).toBe(403)
  })

  test('an API key of the other mode is refused', async () => {
    await using app = await testApp()
    const { secretKey, publishableKey, shop } = await app.merchant()
    await app.deps.db.write(async (tx) => void (await tx.update(shops).set({ mode: 'LIVE' }).where(eq(shops.id, shop.id))))
    expect(await statusWithKey(app, secretKey)).toBe(401)
    expect(await statusWithKey(app, publishableKey)).toBe(401)
  })

  test('the last use of an API key is recorded to the minute, without a delay of the request', async () => {
    await using app = await testApp()
    const { secretKey } = await app.merchant()
    const lastUsed = async () =>
      (
        await app.deps.db.read
          .select()
          .from(apiKeys)
          .where(eq(apiKeys.hash, sha256(secretKey)))
          .limit(1)
      )[0]?.lastUsedAt
    const settle = () => app.deps.db.write(async () => undefined)
    expect(await lastUsed()).toBeNull()
    const first = app.clock.now()
    await statusWithKey(app, secretKey)
    await settle()
    while ((await lastUsed()) === null) await new Promise((resolve) => setImmediate(resolve))
    expect(await lastUsed()).toBe(first)
    app.clock.advance(59_999)
    await statusWithKey(app, secretKey)
    await settle()
    expect(await lastUsed()).toBe(first)
    app.clock.advance(1)
    await statusWithKey(app, secretKey)
    while ((await lastUsed()) === first) await new Promise((resolve) => setImmediate(resolve))
    expect(await lastUsed()).toBe(first + 60_000)
  })
})

describe('a key that was used a moment ago', () => {
  const rotate = (app: TestApp, token: string, body: unknown = {}) => app.call('POST', '/shops/v2/private-key/rotate', { token, body })
  /** Uses keys until they are cached, and returns the status of a last request with each key. */
  async function useKeys(app: TestApp, ...keys: string[]): Promise<number[]> {
    for (const key of keys) await statusWithKey(app, key)
    // Recording the last use invalidates the cached keys once more.
    await app.deps.db.write(async () => undefined)
    for (const key of keys) await statusWithKey(app, key)
    return Promise.all(keys.map((key) => statusWithKey(app, key)))
  }

  test('a cached key ends with its rotation, and to the millisecond at the end of its grace', async () => {
    await using app = await testApp()
    const { token, secretKey: first } = await app.merchant()
    expect(await useKeys(app, first)).toEqual([200])
    const second = (await rotate(app, token)).body.privateKey
    expect(await useKeys(app, first, second)).toEqual([401, 200])
    const third = (await rotate(app, token, { graceSeconds: 60 })).body.privateKey
    expect(await useKeys(app, first, second, third)).toEqual([401, 200, 200])
    app.clock.advance(59_999)
    expect(await useKeys(app, second, third)).toEqual([200, 200])
    app.clock.advance(1)
    expect(await useKeys(app, second, third)).toEqual([401, 200])
  })

  test('a cached key ends with a rotation by another process, and stays valid if the rotation is rolled back', async () => {
    await using app = await testApp()
    await using command = await openCommandInstance(app)
    const { shop, secretKey } = await app.merchant()
    expect(await useKeys(app, secretKey)).toEqual([200])
    const context = { shop: contextOf(shop), actor: system }
    const write: Write = (work) =>
      command.deps.db.write(async (tx) => {
        await work(tx)
        throw new Error('not kept')
      })
    const refused = rotatePrivateKey(command.deps, { ...context, write }, 0)
    expect(await refused.catch((error: Error) => error.message)).toBe('not kept')
    expect(await useKeys(app, secretKey)).toEqual([200])
    const { privateKey } = await rotatePrivateKey(command.deps, context, 60)
    expect(await useKeys(app, secretKey, privateKey)).toEqual([200, 200])
    await rotatePrivateKey(command.deps, context, 0)
    expect(await useKeys(app, secretKey, privateKey)).toEqual([401, 401])
  })

  test('every store function that ends a key invalidates the cached key', async () => {
    await using app = await testApp()
    const { deps, clock } = app
    const { secretKey, shop } = await app.merchant()
    expect(await useKeys(app, secretKey)).toEqual([200])
    await deps.db.write((tx) => deps.shopStore.expireKeys(tx, shop.id, 'SECRET', 'TEST', clock.now() + 1_000))
    clock.advance(1_000)
    expect(await useKeys(app, secretKey)).toEqual([401])
    const { id } = (await deps.shopStore.findKey(sha256(secretKey))) ?? { id: '' }
    await deps.db.write((tx) => deps.shopStore.setKeyExpiry(tx, id, clock.now() + 1_000))
    expect(await useKeys(app, secretKey)).toEqual([200])
    await deps.db.write((tx) => deps.shopStore.setKeyExpiry(tx, id, clock.now()))
    expect(await useKeys(app, secretKey)).toEqual([401])
  })

  test('a cached key is checked against the current mode of its shop', async () => {
    await using app = await testApp()
    const { secretKey, publishableKey, shop } = await app.merchant()
    const inMode = (mode: 'TEST' | 'LIVE') => app.deps.db.write((tx) => app.deps.shopStore.update(tx, shop.id, { mode }))
    expect(await useKeys(app, secretKey, publishableKey)).toEqual([200, 403])
    await inMode('LIVE')
    expect(await useKeys(app, secretKey, publishableKey)).toEqual([401, 401])
    await inMode('TEST')
    expect(await useKeys(app, secretKey, publishableKey)).toEqual([200, 403])
  })

  test('a cached key uses the current origins and currency of its shop', async () => {
    await using app = await testApp()
    const { token, publishableKey } = await app.merchant()
    const from = (origin: string) => app.call('POST', '/cart', { key: publishableKey, body: {}, headers: { origin } })
    for (let nth = 0; nth < 3; nth++) expect((await from('https://a.example')).status).toBe(201)
    await app.call('PATCH', '/shops/v2', { token, body: { storefrontOrigins: ['https://b.example'], currency: 'EUR' } })
    expect([(await from('https://a.example')).status, (await from('https://b.example')).status]).toEqual([403, 201])
    expect((await from('https://b.example')).body.currency).toBe('EUR')
  })

  test('a cached key finds its shop as another process changed it', async () => {
    await using app = await testApp()
    await using command = await openCommandInstance(app)
    const { shop, publishableKey } = await app.merchant()
    const currency = async () => (await app.call('POST', '/cart', { key: publishableKey, body: {} })).body.currency
    for (let nth = 0; nth < 3; nth++) expect(await currency()).toBe('USD')
    await changeShop(command.deps, { shop: contextOf(shop), actor: system }, { currency: 'EUR' })
    expect(await currency()).toBe('EUR')
  })

  test('a cached key does not open another shop', async () => {
    await using app = await testApp()
    const [one, two] = [await app.merchant(), await app.merchant()]
    expect(await useKeys(app, one.secretKey, two.secretKey)).toEqual([200, 200])
    await rotate(app, one.token)
    expect(await useKeys(app, one.secretKey, two.secretKey)).toEqual([401, 200])
  })
})

describe('the custodial wallet', () => {
  test('the custodial wallet is created once, also by concurrent requests', async () => {
    await using app = await testApp()
    const { token, shop } = await app.merchant()
    const answers = await Promise.all(Array.from({ length: 12 }, () => app.call('POST', '/shops/v2/custody/wallet', { token })))
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    const { body } = answers[0] as (typeof answers)[0]
    expect(body).toEqual({
      address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      network: 'evm',
      createdAt: new Date(app.clock.now()).toISOString(),
    })
    app.clock.advance(1_000)
    expect((await app.call('POST', '/shops/v2/custody/wallet', { token, body: { privateKey: '0x1' } })).body.message).toBe(
      'unknown field: privateKey',
    )
    expect((await app.call('POST', '/shops/v2/custody/wallet', { token, body: {} })).body).toEqual(body)
    const trail = await app.deps.db.read
      .select()
      .from(auditLog)
      .where(and(eq(auditLog.action, 'shop.wallet_created'), eq(auditLog.subject, shop.id)))
    expect(trail).toHaveLength(1)
  })

  test('two shops have different custodial wallets', async () => {
    await using app = await testApp()
    const [one, other] = [await app.merchant(), await app.merchant()]
    const addressOf = async (token: string) => (await app.call('POST', '/shops/v2/custody/wallet', { token })).body.address
    expect(await addressOf(one.token)).not.toBe(await addressOf(other.token))
  })

  test('the key of the custodial wallet matches its address and is stored only sealed for its shop', async () => {
    await using app = await testApp()
    const { token, shop } = await app.merchant()
    const answer = await app.call('POST', '/shops/v2/custody/wallet', { token })
    const [wallet] = await app.deps.db.read.select().from(wallets).where(eq(wallets.shopId, shop.id)).limit(1)
    const key = app.deps.keyring.unseal(wallet?.sealedKey ?? '', walletSeal(shop.id))
    const { privateKeyToAddress } = await import('viem/accounts')
    expect(privateKeyToAddress(key as `0x${string}`)).toBe(answer.body.address)
    expect(() => app.deps.keyring.unseal(wallet?.sealedKey ?? '', walletSeal('shop_other'))).toThrow()
    const hexKey = key.slice(2)
    for (const text of [
      await dumpDatabase(app),
      JSON.stringify(app.logged),
      answer.text,
      (await app.call('GET', '/shops/v2', { token })).text,
    ])
      expect(text.toLowerCase()).not.toContain(hexKey)
  })
})
