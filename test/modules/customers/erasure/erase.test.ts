/** Tests that an erasure removes all personal data of a customer and keeps the books intact. */
import { Database as Sqlite } from 'bun:sqlite'
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { erasures } from '../../../../db/schema/erasures.ts'
import { idempotencyKeys } from '../../../../db/schema/people.ts'
import { carts, orders } from '../../../../db/schema/selling.ts'
import { createFolderStore } from '../../../../src/clients/backups/folder.ts'
import { AppError } from '../../../../src/core/errors.ts'
import { encodeErasure, finishPendingErasures, replayErasures } from '../../../../src/modules/customers/erasure/index.ts'
import { queueMail } from '../../../../src/modules/messaging/mail/index.ts'
import type { BackupPlace } from '../../../../src/modules/operations/backup/index.ts'
import { answerSeal, encodeAnswer } from '../../../../src/modules/operations/idempotency/domain.ts'
import { backfillKpis, checkKpis } from '../../../../src/modules/operations/kpi/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { booksOf, violationsOf } from '../../../support/books.ts'
import { temporaryDir } from '../../../support/database.ts'
import { mailServer } from '../../../support/mail-server.ts'
import { mailRows, sendMails } from '../../../support/mails.ts'
import { plantedAddress, plantedPerson, tracesInIndexes, tracesOf } from '../../../support/personal-data.ts'
import { customerOf, ok, type Selling, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { loopbackAllowed, receiver, registerEndpoint } from '../../../support/webhooks.ts'

setDefaultTimeout(longTestMs)

const minute = 60_000
const erase = (shop: Selling, id: string) => shop.post(`/customer/${id}/erase`, {})

/** Creates a customer with personal data in every kind of record. */
async function plantCustomer(app: TestApp, shop: Selling) {
  const login = { shopName: shop.shop.name, email: plantedPerson.email, password: plantedPerson.password }
  const { id } = ok(await app.call('POST', '/customer/signup', { body: { ...login, name: plantedPerson.name } })).body
  const { token } = {
    token: ok(await app.call('POST', '/customer/login', { body: login, headers: { 'user-agent': 'x' } })).body.data.accessToken,
  }
  const callAsCustomer = (method: string, path: string, body?: unknown) =>
    app.call(method, path, { token, body, headers: { 'idempotency-key': randomUUID() } })
  ok(await callAsCustomer('PATCH', '/customer/me', { phone: plantedPerson.phone, acceptsMarketing: true }))
  ok(await callAsCustomer('POST', '/customer/me/addresses', plantedAddress))
  ok(await callAsCustomer('POST', '/addresses', plantedAddress))
  ok(await callAsCustomer('POST', '/customer/verify/send', {}), 204)
  ok(await app.call('POST', '/auth/password/forgot', { body: { email: plantedPerson.email, shopName: shop.shop.name } }), 202)
  const addressFields = { shippingAddress: plantedAddress, billingAddress: plantedAddress }
  // An order with a note, a fulfilment with a corrected tracking number, and a partial refund.
  const one = await shop.placeOrder({ token, email: plantedPerson.email, ...addressFields, quantity: 2 })
  ok(await shop.post(`/v2/orders/${one.id}/notes`, { text: plantedPerson.note }))
  const fulfilment = ok(
    await shop.post(`/v2/orders/${one.id}/fulfilments`, { trackingNumber: plantedPerson.tracking, carrier: 'DHL' }),
    201,
  ).body
  ok(
    await app.call('PATCH', `/v2/orders/${one.id}/fulfilments/${fulfilment.id}`, {
      key: shop.secretKey,
      body: { trackingNumber: `${plantedPerson.tracking}9` },
    }),
  )
  ok(await shop.refund(one.id, { amount: shop.money(300), reason: plantedPerson.reason }))
  expect(ok(await shop.get(`/v2/orders/${one.id}/invoice`)).text).toContain(plantedPerson.line1)
  // An order that is cancelled with a reason, and an order as a guest.
  const two = await shop.placeOrder({ token, email: plantedPerson.email.toUpperCase(), ...addressFields })
  ok(await shop.post(`/v2/orders/${two.id}/cancel`, { reason: plantedPerson.reason }))
  const guest = await shop.placeOrder({ email: plantedPerson.email, ...addressFields })
  ok(await shop.post(`/v2/orders/${guest.id}/fulfil`, { trackingNumber: plantedPerson.tracking }))
  // Carts without an order.
  await shop.cart({ token, email: plantedPerson.email, ...addressFields })
  await shop.cart({ email: plantedPerson.email, ...addressFields })
  await shop.giftCard(500, { customerId: id, note: plantedPerson.note })
  await app.deps.backgroundTasks.whenIdle()
  return { id: String(id), token, orders: [one.id, two.id, guest.id] as string[], place: addressFields }
}

describe('the erasure of a customer', () => {
  test('removes all personal data of a customer, and keeps order numbers, amounts, tax and the country', async () => {
    await using server = await mailServer()
    await using hook = await receiver()
    await using app = await testApp({ ...server.settings, ...loopbackAllowed })
    const shop = await sellingIn(app, { onHand: 50 })
    await registerEndpoint(app, shop, hook.url, ['order.confirmed', 'order.cancelled', 'customer.erased'])
    await backfillKpis(app.deps)
    const { id, token, orders } = await plantCustomer(app, shop)
    const before = await Promise.all(orders.map(shop.order))
    expect((await tracesOf(app)).length).toBeGreaterThan(20)
    expect((await shop.get('/v2/orders?q=zyxandra')).body.total).toBeGreaterThan(0)
    expect((await shop.get('/customer?q=quillf')).body.total).toBe(1)
    // An index stores a word without the prefix that it shares with the previous word.
    const pieces = ['feather', 'lantedcompany']
    expect((await tracesInIndexes(app, pieces)).sort()).toEqual([
      'customer_words: feather',
      ...pieces.map((piece) => `order_words: ${piece}`),
    ])

    const answer = await erase(shop, id)
    expect([answer.status, answer.body.customerId]).toEqual([200, id])
    expect(await tracesOf(app)).toEqual([])
    // The search does not find the former names.
    for (const word of ['Zyxandra', 'zyx.quill', 'Quillf']) {
      expect((await shop.get(`/v2/orders?q=${word}`)).body.total).toBe(0)
      expect((await shop.get(`/customer?q=${word}`)).body.total).toBe(0)
    }
    expect(await violationsOf(await booksOf(app))).toEqual([])
    if (engine === 'sqlite') {
      // Free space of the database file has no personal data either.
      const file = `${app.database.dataDir}/souk.db`
      using connection = new Sqlite(file)
      connection.run('PRAGMA busy_timeout = 30000')
      // This checkpoint waits for readers, unlike the app's. It is busy at once while another checkpoint runs.
      const truncate = () => connection.query('PRAGMA wal_checkpoint(TRUNCATE)').values().flat()
      let truncated = truncate()
      for (let tries = 0; truncated[0] === 1 && tries < 1_000; tries++) {
        await Bun.sleep(10)
        truncated = truncate()
      }
      expect(truncated).toEqual([0, 0, 0])
      const bytes = readFileSync(file).toString('latin1').toLowerCase()
      expect(bytes.includes(shop.shop.name)).toBe(true)
      expect(Object.values(plantedPerson).filter((value) => bytes.includes(value.toLowerCase()))).toEqual([])
    }

    const after = await Promise.all(orders.map(shop.order))
    const bookFieldsOf = ({ number, total, taxTotal, lines, refundedTotal, status, createdAt, currency }: (typeof before)[number]) => ({
      number,
      total,
      taxTotal,
      lines,
      refundedTotal,
      status,
      createdAt,
      currency,
    })
    expect(after.map(bookFieldsOf)).toEqual(before.map(bookFieldsOf))
    for (const order of after) {
      expect(order.shippingAddress).toEqual({
        name: '',
        company: null,
        line1: '',
        line2: null,
        city: '',
        province: 'ME',
        postalCode: null,
        countryCode: 'US',
        phone: null,
      })
      expect([order.email, order.customerId]).toEqual([`${id}@erased.invalid`, id])
    }
    const erasedCustomer = (await shop.get(`/customer/${id}`)).body
    expect(erasedCustomer).toMatchObject({
      name: '',
      phone: null,
      addressIds: [],
      ordersCount: 3,
      acceptsMarketing: false,
      erasedAt: answer.body.erasedAt,
    })
    // The token and the password no longer work.
    expect((await app.call('GET', '/customer/me', { token })).status).toBe(401)
    const login = { shopName: shop.shop.name, email: plantedPerson.email, password: plantedPerson.password }
    expect((await app.call('POST', '/customer/login', { body: login })).status).toBe(401)

    // The webhook contains only the id of the customer.
    await app.deps.webhooks.run()
    await app.deps.webhooks.idle()
    const erasureEvents = hook.received.map(({ body }) => JSON.parse(body)).filter(({ type }) => type === 'customer.erased')
    expect(erasureEvents.map(({ data }) => data)).toEqual([{ customerId: id }])
    await sendMails(app)
    expect(server.received.flatMap(({ to }) => to)).not.toContain(plantedPerson.email)
    expect((await mailRows(app)).filter(({ status }) => status === 'PENDING')).toEqual([])

    // A second erasure has the same result, and the list has one line.
    const repeated = await erase(shop, id)
    expect([repeated.status, repeated.body]).toEqual([200, answer.body])
    const lines = (await app.deps.erasedList.read())?.map((line) => JSON.parse(line))
    expect(lines?.map(({ customerId }) => customerId)).toEqual([id])
    app.clock.advance(3 * minute)
    await finishPendingErasures(app.deps)
    expect(await tracesOf(app)).toEqual([])
    expect(await tracesInIndexes(app, pieces)).toEqual([])
    expect(await Array.fromAsync(checkKpis(app.deps.db.read))).toEqual([{ subject: 'figures of the dashboards', problems: [] }])
    const auditRows = (await app.call('GET', '/admin/audit?action=customer.erased', { token: (await app.superAdmin()).token })).body
    expect(auditRows.data.map(({ subject, after }: { subject: string; after: unknown }) => [subject, after])).toEqual([[id, { orders: 3 }]])
  })

  test('rejects an erasure with 409 while an order of the customer or guest address is open, naming the order', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 50 })
    const { id, token } = await customerOf(app, shop.shop.name, plantedPerson.email)
    const order = await shop.placeOrder({ token, email: plantedPerson.email, shippingAddress: plantedAddress })
    const refused = await erase(shop, id)
    expect([refused.status, refused.body.message]).toEqual([
      409,
      `The customer cannot be erased while an order, payment, refund or dispute of theirs is open: order #${order.number} (CONFIRMED)`,
    ])
    expect(await tracesOf(app, [plantedPerson.email])).toContain(`customers: ${plantedPerson.email}`)
    // An open guest order with the address counts too. The refused erasure does not assign it to the customer.
    ok(await shop.post(`/v2/orders/${order.id}/fulfil`, {}))
    const guest = await shop.placeOrder({ email: plantedPerson.email })
    expect((await erase(shop, id)).body.message).toContain(`order #${guest.number} (CONFIRMED)`)
    expect((await shop.order(guest.id)).customerId).toBeNull()
    ok(await shop.post(`/v2/orders/${guest.id}/cancel`, {}))
    await app.deps.backgroundTasks.whenIdle()
    expect((await erase(shop, id)).status).toBe(200)
    expect(await tracesOf(app)).toEqual([])
  })

  test('lets an erased person sign up again as a new customer without any earlier data', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 50 })
    const { id, orders } = await plantCustomer(app, shop)
    ok(await erase(shop, id))
    const newCustomer = await customerOf(app, shop.shop.name, plantedPerson.email)
    expect(newCustomer.id).not.toBe(id)
    expect((await app.call('GET', '/customer/me/orders', { token: newCustomer.token })).body.data).toEqual([])
    const newOrder = await shop.placeOrder({ token: newCustomer.token, email: plantedPerson.email })
    // The next run of the job does not erase orders of the new customer.
    app.clock.advance(3 * minute)
    await finishPendingErasures(app.deps)
    expect((await shop.order(newOrder.id)).email).toBe(plantedPerson.email)
    expect((await shop.order(orders[0] ?? '')).email).toBe(`${id}@erased.invalid`)
  })

  test('erases guest orders once the shop has created a customer with their email address', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 50 })
    const order = await shop.placeOrder({ email: plantedPerson.email, shippingAddress: plantedAddress })
    ok(await shop.post(`/v2/orders/${order.id}/fulfil`, {}))
    const { id } = ok(await shop.post('/customer', { email: plantedPerson.email }, { 'idempotency-key': 'k' })).body
    ok(await erase(shop, id))
    expect(await tracesOf(app)).toEqual([])
    // The idempotency key stays used, but its response is erased.
    const replayed = await shop.post('/customer', { email: plantedPerson.email }, { 'idempotency-key': 'k' })
    expect([replayed.status, replayed.body.message]).toEqual([404, 'What this was about was erased'])
  })

  test("erases draft orders, stored responses and late mails for a customer's email address", async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await sellingIn(app, { onHand: 50 })
    const body = {
      email: plantedPerson.email,
      note: plantedPerson.note,
      shippingAddress: plantedAddress,
      lines: [{ variantId: shop.variantId, quantity: 1 }],
    }
    const draft = ok(await shop.post('/v2/orders/drafts', body, { 'idempotency-key': 'draft' }), 201).body
    expect(await tracesOf(app, [plantedPerson.note])).toEqual([
      `draft_orders: ${plantedPerson.note}`,
      `idempotency_keys: ${plantedPerson.note}`,
    ])
    const { id } = ok(await shop.post('/customer', { email: plantedPerson.email })).body
    ok(await erase(shop, id))
    expect(await tracesOf(app)).toEqual([])
    expect((await shop.get(`/v2/orders/drafts/${draft.id}`)).body).toMatchObject({ email: null, note: null })
    // A request that read the address just before the erasure queues this mail. The job finds it by its draft.
    const lateMail = { key: 'order-draft:late', shopId: shop.shop.id, to: plantedPerson.email, template: 'order-draft' } as const
    const data = { draftId: String(draft.id), lines: [], more: 0, total: shop.money(1) }
    await app.deps.db.write((tx) => queueMail(tx, app.deps, { ...lateMail, data }))
    expect(await tracesOf(app)).toEqual([`mails: ${plantedPerson.email}`])
    app.clock.advance(3 * minute)
    await finishPendingErasures(app.deps)
    expect(await tracesOf(app)).toEqual([])
  })

  test("rejects addresses and drafts for an erased customer, and lets only the customer's own shop erase", async () => {
    await using app = await testApp()
    const [shop, other] = [await sellingIn(app), await sellingIn(app)]
    const { id, token } = await customerOf(app, shop.shop.name, plantedPerson.email)
    expect((await erase(other, id)).status).toBe(404)
    expect((await app.call('POST', `/customer/${id}/erase`, { key: shop.publishableKey, body: {} })).status).toBe(403)
    expect((await app.call('POST', `/customer/${id}/erase`, { token, body: {} })).status).toBe(403)
    ok(await app.call('POST', `/customer/${id}/erase`, { token: shop.token, body: {} }))
    expect((await shop.post(`/customer/${id}/addresses`, plantedAddress)).status).toBe(409)
    const { id: unassigned } = ok(await shop.post('/addresses', { ...plantedAddress, name: 'Somebody else' })).body
    expect((await shop.post(`/customer/${id}/addresses/add`, { addressId: unassigned })).status).toBe(409)
    // An erased customer has no address that could receive a draft order.
    const draft = { customerId: id, lines: [{ variantId: shop.variantId, quantity: 1 }] }
    expect((await shop.post('/v2/orders/drafts', draft)).status).toBe(404)
  })
})

describe('an interrupted erasure', () => {
  test('retries a failed write of the erasure list, and later deletes a response that was stored late', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app)
    const { id } = ok(await shop.post('/customer', { email: plantedPerson.email, name: plantedPerson.name })).body
    const { append } = app.deps.erasedList
    let refusals = 0
    app.deps.erasedList.append = async () => {
      refusals++
      throw new Error('no room')
    }
    ok(await erase(shop, id))
    expect([refusals, await app.deps.erasedList.read()]).toEqual([1, undefined])
    expect(app.logged.filter(({ event }) => event === 'erasures.not_listed')).toHaveLength(1)
    app.deps.erasedList.append = append
    await finishPendingErasures(app.deps)
    expect((await app.deps.erasedList.read())?.length).toBe(1)
    // A request that was in flight during the erasure stores its response afterwards.
    const [key] = await app.deps.db.read.select().from(idempotencyKeys).limit(1)
    expect(key).toBeUndefined()
    const lateKey = { scope: `secret ${shop.shop.id} POST x`, key: 'late' }
    const answer = app.deps.keyring.seal(encodeAnswer(201, { id, name: plantedPerson.name }), answerSeal(lateKey.scope, lateKey.key))
    const row = {
      ...lateKey,
      fingerprint: 'f',
      attempt: 'a',
      leaseUntil: 0,
      expiresAt: app.clock.now() + 60 * minute,
      sealedAnswer: answer,
    }
    await app.deps.db.write((tx) => tx.insert(idempotencyKeys).values(row))
    expect(await tracesOf(app)).toEqual([`idempotency_keys: ${plantedPerson.name}`])
    await finishPendingErasures(app.deps)
    expect(await tracesOf(app)).toHaveLength(1)
    app.clock.advance(3 * minute)
    await finishPendingErasures(app.deps)
    expect(await tracesOf(app)).toEqual([])
    const [erasure] = await app.deps.db.read.select().from(erasures)
    expect([erasure?.finishedAt, erasure?.otherIds]).toEqual([app.clock.now(), []])
  })

  test('does not finish an erasure before an order that was placed during it ends, without delaying other erasures', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 50 })
    const people: string[] = []
    // More erasures than one run of the job finishes.
    for (let nth = 0; nth < 21; nth++) people.push(ok(await shop.post('/customer', { email: `a${nth}@example.com` })).body.id)
    const laterOrder = await shop.placeOrder({ email: plantedPerson.email, shippingAddress: plantedAddress })
    for (const id of people) ok(await erase(shop, id))
    // As if the first customer had placed the order during the erasure.
    const [customerId = ''] = people
    await app.deps.db.write(async (tx) => {
      const [order] = await tx.update(orders).set({ customerId }).where(eq(orders.id, laterOrder.id)).returning()
      await tx
        .update(carts)
        .set({ customerId })
        .where(eq(carts.id, order?.cartId ?? ''))
    })
    app.clock.advance(3 * minute)
    await finishPendingErasures(app.deps)
    const listOpen = async () =>
      (await app.deps.db.read.select().from(erasures)).filter(({ finishedAt }) => finishedAt === null).map(({ customerId }) => customerId)
    await finishPendingErasures(app.deps)
    expect(await listOpen()).toEqual([customerId])
    expect(await tracesOf(app, [plantedPerson.email])).toContain(`orders: ${plantedPerson.email}`)
    let sealed = 0
    const { unseal } = app.deps.keyring
    ok(await shop.post('/customer', { email: 'other@example.com' }, { 'idempotency-key': 'other' }))
    app.deps.keyring.unseal = (...args) => {
      sealed++
      return unseal(...args)
    }
    await finishPendingErasures(app.deps)
    app.deps.keyring.unseal = unseal
    expect(sealed).toBe(0)
    ok(await shop.post(`/v2/orders/${laterOrder.id}/fulfil`, {}))
    await finishPendingErasures(app.deps)
    expect(await listOpen()).toEqual([])
    expect(await tracesOf(app, [plantedPerson.email])).toEqual([])
  })
})

describe('the erasure list in the backup targets', () => {
  test.skipIf(engine !== 'sqlite')('writes the erasure list once to each available backup target, and later to the others', async () => {
    const folder = join(temporaryDir(), 'copies')
    await using app = await testApp({ BACKUP_DIR: folder })
    const shop = await sellingIn(app)
    const failingStore = createFolderStore(join(temporaryDir(), 'dead'), app.clock.now)
    let isFailing = true
    let puts = 0
    const put: typeof failingStore.put = async (...args) => {
      puts++
      if (isFailing) throw new AppError('UNAVAILABLE', 'no such disk')
      return failingStore.put(...args)
    }
    const failingTarget: BackupPlace = { isNamed: true, store: { ...failingStore, put } }
    const deps = { ...app.deps, backupPlaces: [failingTarget, ...app.deps.backupPlaces] }
    const ids: string[] = []
    for (let nth = 0; nth < 3; nth++) {
      const { id } = ok(await shop.post('/customer', { email: `a${nth}@example.com` })).body
      ok(await erase(shop, id))
      ids.push(id)
    }
    await finishPendingErasures(deps)
    const names = () => readdirSync(join(folder, 'erased')).sort()
    const listed = async () => (await app.deps.db.read.select().from(erasures)).filter(({ listedAt }) => listedAt !== null).length
    const all = ids.map((id) => `${id}.json`).sort()
    expect([names(), await listed(), puts]).toEqual([all, 0, 1])
    rmSync(join(folder, 'erased', all[0] ?? ''))
    isFailing = false
    await finishPendingErasures(deps)
    // Files that the working target already had were not written again.
    expect([names(), await listed(), puts]).toEqual([all.slice(1), 3, 4])
  })
})

test('rewrites the search indexes once per interval, and finishes pending erasures then', async () => {
  await using app = await testApp()
  const shop = await sellingIn(app)
  const { id } = ok(await shop.post('/customer', { email: plantedPerson.email, name: plantedPerson.name })).body
  ok(await erase(shop, id))
  app.clock.advance(3 * minute)
  // As if the previous rewrite had taken long.
  app.deps.wordsPurged.nextAt = app.clock.monotonic() + minute
  await finishPendingErasures(app.deps)
  const readErasures = async () =>
    (await app.deps.db.read.select().from(erasures)).map(({ finishedAt, otherIds }) => [finishedAt, otherIds])
  expect(await readErasures()).toEqual([[null, []]])
  ok(await shop.post('/customer', { email: 'other@example.com' }, { 'idempotency-key': 'other' }))
  const { unseal } = app.deps.keyring
  app.deps.keyring.unseal = () => {
    throw new Error('the keys were searched again')
  }
  await finishPendingErasures(app.deps)
  app.clock.advance(minute)
  await finishPendingErasures(app.deps)
  app.deps.keyring.unseal = unseal
  expect(await readErasures()).toEqual([[app.clock.now(), []]])
  expect(await tracesInIndexes(app, ['feather'])).toEqual([])
})

describe('the replay of erasures on an older database', () => {
  test('replays an erasure on guest orders when the database does not have the customer', async () => {
    await using app = await testApp()
    const shop = await sellingIn(app, { onHand: 50 })
    const addressFields = { shippingAddress: plantedAddress, billingAddress: plantedAddress }
    const order = await shop.placeOrder({ email: plantedPerson.email.toUpperCase(), ...addressFields })
    await shop.cart({ email: plantedPerson.email, ...addressFields })
    const other = await shop.placeOrder({ email: 'stays@example.com' })
    const customerId = app.deps.newId('customer')
    const erasure = { customerId, shopId: shop.shop.id, at: app.clock.now(), orderIds: [order.id] }
    await app.deps.erasedList.append([encodeErasure(erasure)])
    expect(await replayErasures(app.deps)).toBe(1)
    const replayed = () => app.logged.filter(({ event }) => event === 'erasures.replayed')
    expect(replayed()).toEqual([{ level: 'warn', event: 'erasures.replayed', fields: { customers: 1 } }])
    expect(await tracesOf(app)).toEqual([])
    expect((await shop.order(order.id)).email).toBe(`${customerId}@erased.invalid`)
    expect((await shop.order(other.id)).email).toBe('stays@example.com')
    expect(await replayErasures(app.deps)).toBe(0)
    expect(replayed()).toHaveLength(1)
  })
})
