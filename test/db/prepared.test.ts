/** Tests prepared inserts and updates of whole rows on both engines. */
import { expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { isUniqueViolation } from '../../db/engine.ts'
import { insertNewOf, insertOf, updateOf } from '../../db/prepared.ts'
import { users } from '../../db/schema/people.ts'
import { shops } from '../../db/schema/shop.ts'
import { openTestDatabase } from '../support/database.ts'

const user = { id: 'usr_1', role: 'MERCHANT' as const, email: 'a@b.example', passwordHash: 'x', createdAt: 1 }
const shop = {
  id: 'shop_1',
  merchantId: user.id,
  name: 'one',
  title: 'One',
  description: '',
  logoUrl: null,
  currency: 'USD',
  country: 'US',
  mode: 'TEST' as const,
  status: 'ACTIVE' as const,
  contact: { email: 'c@d.example' },
  address: {},
  origins: ['https://a.example'],
  taxRates: [{ country: 'US', region: null, rateBps: 1, inclusive: true }],
  shippingMethods: [],
  showQuantity: false,
  strictProvinces: false,
  legalName: null,
  taxNumber: null,
  invoiceNote: null,
  returnDays: 30,
  pages: {},
  timeZone: 'UTC',
  createdAt: 1,
  updatedAt: 2,
  version: 1,
  verifiedAt: null,
  taxRatesVersion: 1,
  shippingMethodsVersion: 1,
}

test('an insert stores every column as it is read back: texts, nulls and JSON', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  await db.write(async (tx) => {
    await insertOf(users)(tx, user)
    await insertOf(shops)(tx, shop)
  })
  expect(await db.read.select().from(shops)).toEqual([shop])
})

test('an insert with a taken key is refused, or skipped if requested', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  const insert = insertOf(users)
  const insertNew = insertNewOf(users)
  expect(await db.write((tx) => insertNew(tx, user))).toBe(true)
  expect(await db.write((tx) => insertNew(tx, { ...user, passwordHash: 'y' }))).toBe(false)
  const refusal = await db.write((tx) => insert(tx, user)).catch((error: unknown) => error)
  expect(isUniqueViolation(refusal)).toBe(true)
  expect(await db.read.select().from(users)).toEqual([user])
})

test('an update sets only the given columns and returns the row', async () => {
  await using opened = await openTestDatabase()
  const { db } = opened
  const update = updateOf(shops, eq(shops.id, sql.placeholder('which')))
  await db.write(async (tx) => {
    await insertOf(users)(tx, user)
    await insertOf(shops)(tx, shop)
  })
  const changed = { ...shop, title: 'Two', logoUrl: 'https://a.example/l.png', contact: {} }
  expect(await db.write((tx) => update(tx, { title: 'Two', logoUrl: changed.logoUrl, contact: {} }, { which: shop.id }))).toEqual([changed])
  expect(await db.write((tx) => update(tx, { logoUrl: null }, { which: shop.id }))).toEqual([{ ...changed, logoUrl: null }])
  expect(await db.write((tx) => update(tx, { title: 'Three' }, { which: 'shop_2' }))).toEqual([])
  const touch = updateOf(shops, eq(shops.id, sql.placeholder('which')), ['id', 'updatedAt'])
  expect(await db.write((tx) => touch(tx, { updatedAt: 2 }, { which: shop.id }))).toEqual([{ id: shop.id, updatedAt: 2 }])
  expect(await db.read.select().from(shops)).toEqual([{ ...changed, logoUrl: null }])
})
