import { expect, setDefaultTimeout, test } from 'bun:test'
import { eq, getTableColumns, is, sql } from 'drizzle-orm'
import { PgTable } from 'drizzle-orm/pg-core'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import * as schema from '../../../../db/schema/index.ts'
import { apiKeys, auditLog, encryptionKeys, idempotencyKeys, processorAccounts } from '../../../../db/schema/index.ts'
import { parseConfig } from '../../../../src/config.ts'
import { createKeyring } from '../../../../src/keys.ts'
import { keyVersionOf } from '../../../../src/lib/seal.ts'
import { countSealed, findFaultySeals, resealSecrets } from '../../../../src/modules/identity/master-key/service.ts'
import { sealedColumns } from '../../../../src/modules/identity/master-key/store.ts'
import { answerSeal } from '../../../../src/modules/operations/idempotency/domain.ts'
import { accountSeal } from '../../../../src/modules/payments/processor-account/domain.ts'
import { contextOf, ensureCustodyWallet, readPrivateKey } from '../../../../src/modules/shop/shop/service.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const newSecret = 'the-new-encryption-key-of-the-test-00'
const storedAnswers = 450

/** Returns the same instance with a new first encryption key in its settings. */
function withNewKey(app: TestApp) {
  const { dataDir, databaseUrl, jwtSecrets, encryptionKeys: old, integrationApiKey } = app.deps.config
  const env = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, JWT_SECRET: jwtSecrets[0], INTEGRATION_API_KEY: integrationApiKey }
  const bothKeys = createKeyring(parseConfig({ ...env, ENCRYPTION_KEY: `${newSecret},${old[0]}` }), false)
  const onlyNewKey = createKeyring(parseConfig({ ...env, ENCRYPTION_KEY: newSecret }), false)
  return { ...app.deps, keyring: bothKeys, onlyNew: onlyNewKey }
}

/** Returns a processor account with sealed keys of the shop. */
function accountOf({ deps }: TestApp, shopId: string): typeof processorAccounts.$inferInsert {
  const id = 'pacc_1'
  const accountKey = { id, shopId, processor: 'stripe' } as const
  const sealedSettings = deps.keyring.seal('{"secretKey":"sk_test_a"}', accountSeal(accountKey))
  const times = { checkedAt: 0, createdAt: 0, retiredAt: null }
  return { ...accountKey, accountId: id, mode: 'TEST', publishable: {}, sealedSettings, names: ['secretKey'], version: 1, ...times }
}

/** Inserts a secret into every table with sealed columns, and more idempotent responses than one batch reseals. */
async function insertSecrets(app: TestApp) {
  const { shop, secretKey } = await app.merchant()
  await ensureCustodyWallet(app.deps, { shop: contextOf(shop), actor: { id: 'test' } })
  const rows = Array.from({ length: storedAnswers }, (_, at) => {
    const [scope, key] = [`principal${at % 3} POST /carts`, `key-${at}`]
    return {
      scope,
      key,
      fingerprint: 'f',
      attempt: 'a',
      leaseUntil: 0,
      expiresAt: 1,
      sealedAnswer: at % 10 === 0 ? null : app.deps.keyring.seal(`answer ${at}`, answerSeal(scope, key)),
    }
  })
  await app.deps.db.write(async (tx) => void (await tx.insert(idempotencyKeys).values(rows)))
  await app.deps.db.write(async (tx) => void (await tx.insert(processorAccounts).values(accountOf(app, shop.id))))
  return { shop, secretKey }
}

const keysOf = async (app: TestApp) => app.deps.db.read.select().from(encryptionKeys).orderBy(encryptionKeys.createdAt)

test('a rotation reseals every sealed column of the schema', () => {
  const columns: string[] = []
  for (const [name, table] of Object.entries<unknown>(schema)) {
    if (!is(table, SQLiteTable) && !is(table, PgTable)) continue
    for (const column of Object.values(getTableColumns(table as SQLiteTable)))
      if (/^(sealed|private_key)/.test(column.name)) columns.push(`${name}.${column.name}`)
  }
  const camel = (text: string) => text.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  expect(columns.sort()).toEqual(
    Object.entries(sealedColumns)
      .map(([table, { sealed }]) => `${camel(table)}.${sealed}`)
      .sort(),
  )
})

test('after a rotation, every secret opens with the new key alone, and the old key is retired with an audit row', async () => {
  await using app = await testApp()
  const { shop, secretKey } = await insertSecrets(app)
  const deps = withNewKey(app)
  const total = await countSealed(app.deps.db)
  expect(total).toBe(storedAnswers * 0.9 + 3)
  const [old] = await keysOf(app)
  app.clock.advance(1_000)

  const progress: number[] = []
  const { resealed, retired } = await resealSecrets(deps, (rows) => progress.push(rows))

  expect(resealed).toBe(total)
  expect(retired).toEqual([old?.version ?? ''])
  expect(Math.max(...progress)).toBe(total)
  expect(await findFaultySeals({ db: app.deps.db, keyring: deps.onlyNew })).toEqual({ closed: [], outdated: [] })
  expect(await readPrivateKey({ ...deps, keyring: deps.onlyNew }, { shop: contextOf(shop), actor: { id: 'test' } })).toBe(secretKey)
  const [row] = await app.deps.db.read.select().from(idempotencyKeys).where(eq(idempotencyKeys.key, 'key-7'))
  expect(deps.onlyNew.unseal(row?.sealedAnswer ?? '', answerSeal(row?.scope ?? '', 'key-7'))).toBe('answer 7')
  const current = deps.keyring.encryption()[0]?.version
  expect(await keysOf(app)).toMatchObject([
    { version: old?.version, retiredAt: app.clock.now() },
    { version: current, retiredAt: null },
  ])
  const audited = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'encryption_key.rotated'))
  expect(audited).toMatchObject([{ actor: 'system', subject: current }])
  for (const secret of app.deps.config.encryptionKeys) expect(JSON.stringify(audited)).not.toContain(secret)
})

test('secrets that a server seals with the old key during a rotation are resealed before that key is retired', async () => {
  await using app = await testApp()
  await insertSecrets(app)
  const lateShops = ['late 1', 'late 2']
  // A server's last writes with the old key happen in the pause between two passes.
  const sleep = async () => {
    const shopName = lateShops.shift()
    if (shopName) await app.merchant({ shopName: shopName.replace(' ', '-') })
  }
  const { retired } = await resealSecrets({ ...withNewKey(app), sleep })
  expect(retired).toHaveLength(1)
  expect(lateShops).toEqual([])
  expect(await findFaultySeals({ db: app.deps.db, keyring: withNewKey(app).onlyNew })).toEqual({ closed: [], outdated: [] })
})

test('the old key is not retired while a server continues to seal with it', async () => {
  await using app = await testApp()
  const sleep = async () => void (await app.merchant())
  await expect(resealSecrets({ ...withNewKey(app), sleep })).rejects.toThrow('A server still uses another key')
  expect((await keysOf(app)).map(({ retiredAt }) => retiredAt)).toEqual([null, null])
})

test('a rotation that is interrupted at any write continues where it stopped', async () => {
  await using app = await testApp()
  await insertSecrets(app)
  const deps = withNewKey(app)
  let isFinished = false
  for (let writesLeft = 1; !isFinished; writesLeft += 3) {
    let writes = 0
    const db = {
      ...deps.db,
      write: ((work) => (++writes > writesLeft ? Promise.reject(new Error('killed')) : deps.db.write(work))) as typeof deps.db.write,
    }
    isFinished = await resealSecrets({ ...deps, db }).then(
      () => true,
      (error: Error) => {
        expect(error.message).toBe('killed')
        return false
      },
    )
    expect((await findFaultySeals({ db: app.deps.db, keyring: deps.keyring })).closed).toEqual([])
  }
  expect(await findFaultySeals({ db: app.deps.db, keyring: deps.onlyNew })).toEqual({ closed: [], outdated: [] })
  expect((await keysOf(app)).filter(({ retiredAt }) => retiredAt === null)).toHaveLength(1)
})

test('a repeated rotation changes nothing', async () => {
  await using app = await testApp()
  await insertSecrets(app)
  const deps = withNewKey(app)
  await resealSecrets(deps)
  const before = await app.deps.db.read.select().from(apiKeys)
  expect(await resealSecrets(deps)).toEqual({ resealed: 0, retired: [] })
  expect(await app.deps.db.read.select().from(apiKeys)).toEqual(before)
})

test('a secret that does not open is reported and stops the rotation, and the old key is not retired', async () => {
  await using app = await testApp()
  const { shop } = await insertSecrets(app)
  // A sealed value is bound to its row, so that it does not open in another table.
  await app.deps.db.write(
    async (tx) =>
      void (await tx.rows(
        sql`update wallets set sealed_key = (select sealed from api_keys where shop_id = ${shop.id} and sealed is not null)`,
      )),
  )
  expect(await findFaultySeals({ db: app.deps.db, keyring: app.deps.keyring })).toEqual({
    closed: [{ table: 'wallets', rows: 1 }],
    outdated: [],
  })
  await expect(resealSecrets(withNewKey(app))).rejects.toThrow("A secret in wallets can't be decrypted")
  expect((await keysOf(app)).map(({ retiredAt }) => retiredAt)).toEqual([null, null])
})

test('a secret with a retired key is reported, and the next rotation reseals it', async () => {
  await using app = await testApp()
  await insertSecrets(app)
  const deps = withNewKey(app)
  await resealSecrets(deps)
  await app.merchant({ shopName: 'late-one' })
  expect(await findFaultySeals({ db: app.deps.db, keyring: deps.keyring })).toEqual({
    closed: [],
    outdated: [{ table: 'api_keys', rows: 1 }],
  })
  expect((await resealSecrets(deps)).resealed).toBe(1)
  const rows = await app.deps.db.read.select({ sealed: apiKeys.sealed }).from(apiKeys)
  expect(new Set(rows.flatMap(({ sealed }) => (sealed ? [keyVersionOf(sealed)] : [])))).toEqual(
    new Set([deps.keyring.encryption()[0]?.version ?? '']),
  )
})
