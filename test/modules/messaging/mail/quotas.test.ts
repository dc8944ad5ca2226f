/** Tests the quotas of mail by shop, recipient and network. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { shops } from '../../../../db/schema/shop.ts'
import { createMailSender } from '../../../../src/modules/messaging/mail/delivery.ts'
import { deleteOldMails } from '../../../../src/modules/messaging/mail/index.ts'
import { isReservedName, senderNameOf } from '../../../../src/modules/messaging/mail/sender-name.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { mailServer } from '../../../support/mail-server.ts'
import { mailRows, queueTestMail, sendMails } from '../../../support/mails.ts'
import { bankTransfer } from '../../../support/manual-payments.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const hourMs = 3_600_000
/** Queues a mail that no client requested. */
const queueNotice = (app: TestApp, shopId: string | null, key: string, to = `${key}@example.com`) =>
  queueTestMail(app, 'account-changed', { what: 'password' }, { key, to, shopId })
const setLive = (app: TestApp, id: string) => app.deps.db.write((tx) => tx.update(shops).set({ mode: 'LIVE' }).where(eq(shops.id, id)))
const statusesOf = async (app: TestApp) => (await mailRows(app)).map(({ status, lastError }) => `${status} ${lastError}`)

describe('mail quotas of a shop', () => {
  test('mail above the quota of a shop is delayed until the quota is free, and other shops are not affected', async () => {
    await using server = await mailServer()
    await using app = await testApp({ ...server.settings, MAIL_PER_SHOP_HOUR: '5', MAIL_PER_SHOP_DAY: '8' })
    const [busy, other] = [await app.merchant(), await app.merchant()]
    for (let nth = 0; nth < 12; nth++) await queueNotice(app, busy.shop.id, `busy-${nth}`)
    await queueNotice(app, other.shop.id, 'other')
    await sendMails(app)
    expect(server.received).toHaveLength(6)
    expect((await statusesOf(app)).filter((one) => one === 'PENDING over the quota of the shop')).toHaveLength(7)
    const limitsOf = async () => ok(await app.call('GET', '/shops/v2/mail', { token: busy.token })).body.limits
    expect(await limitsOf()).toEqual({
      perHour: 5,
      perDay: 8,
      sentLastHour: 5,
      sentLastDay: 5,
      delayed: 7,
      refusedLastDay: 0,
      onlyStaff: false,
    })
    app.clock.advance(hourMs + 1)
    await sendMails(app)
    expect(server.received).toHaveLength(9)
    app.clock.advance(hourMs + 1)
    await sendMails(app)
    expect(server.received).toHaveLength(9)
    app.clock.advance(22 * hourMs)
    await sendMails(app)
    app.clock.advance(hourMs)
    await sendMails(app)
    expect(server.received).toHaveLength(13)
    expect(app.logged.filter(({ event }) => event === 'mail.delayed').length).toBeGreaterThan(0)
    expect((await statusesOf(app)).filter((one) => !one.startsWith('SENT'))).toEqual([])
  })

  test('several processes and a restart count each mail of a shop once', async () => {
    await using server = await mailServer()
    await using app = await testApp({ ...server.settings, MAIL_PER_SHOP_HOUR: '5' })
    const { shop } = await app.merchant()
    for (let nth = 0; nth < 20; nth++) await queueNotice(app, shop.id, `key-${nth}`)
    const processes = [app.deps.mails, createMailSender(app.deps), createMailSender(app.deps)]
    await Promise.all(processes.map((one) => one.run()))
    await Promise.all(processes.map((one) => one.idle()))
    await createMailSender(app.deps).run()
    await sendMails(app)
    expect(server.received).toHaveLength(5)
    app.clock.advance(24 * hourMs)
    await deleteOldMails(app.deps)
    expect((await mailRows(app)).filter(({ status }) => status === 'SENT').map(({ recipient }) => recipient)).toEqual(Array(5).fill(null))
  })

  test('mail of a suspended shop is not sent', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { shop } = await app.merchant()
    await app.deps.db.write((tx) => tx.update(shops).set({ status: 'SUSPENDED' }).where(eq(shops.id, shop.id)))
    await queueNotice(app, shop.id, 'suspended')
    await queueNotice(app, null, 'instance')
    await sendMails(app)
    expect(server.received.map(({ to }) => to)).toEqual([['instance@example.com']])
    expect((await mailRows(app)).find(({ key }) => key === 'suspended')).toMatchObject({
      status: 'DROPPED',
      sealed: null,
      lastError: 'the shop is suspended',
    })
  })

  test('a shop in test mode sends mail only to its own staff when MAIL_TEST_SHOPS is off', async () => {
    await using server = await mailServer()
    await using app = await testApp({ ...server.settings, MAIL_TEST_SHOPS: 'false' })
    const shop = await sellingIn(app)
    const owner = ok(await app.call('GET', '/merchant/me', { token: shop.token })).body.merchant.email as string
    await shop.placeOrder({ email: 'stranger@example.com' })
    await shop.placeOrder({ email: owner.toUpperCase() })
    ok(await app.call('POST', '/shops/v2/staff', { token: shop.token, body: { email: 'invited@example.com', role: 'MANAGER' } }))
    await queueNotice(app, shop.shop.id, 'invited')
    await sendMails(app)
    expect(
      server.received
        .flatMap(({ to }) => to)
        .map((to) => to.toLowerCase())
        .sort(),
    ).toEqual([owner, 'invited@example.com'].sort())
    expect(server.received.find(({ to }) => to[0] === 'invited@example.com')?.text).toContain('/console/invitation#/')
    const { limits } = ok(await app.call('GET', '/shops/v2/mail', { token: shop.token })).body
    expect(limits).toMatchObject({ onlyStaff: true, refusedLastDay: 2 })
    await setLive(app, shop.shop.id)
    await queueNotice(app, shop.shop.id, 'customer')
    await sendMails(app)
    expect(server.received.at(-1)?.to).toEqual(['customer@example.com'])
  })
})

test('above the quota of a recipient, order mail is delayed and requested mail is dropped', async () => {
  await using server = await mailServer()
  await using app = await testApp({ ...server.settings, MAIL_PER_RECIPIENT_HOUR: '3' })
  const [one, two] = [await app.merchant(), await app.merchant()]
  for (const [nth, { shop }] of [one, two, one, two, one].entries())
    await queueNotice(app, shop.id, `key-${nth}`, nth % 2 ? 'Ann@example.com' : 'ann@Example.com')
  await sendMails(app)
  await queueTestMail(app, 'test', {}, { key: 'asked', to: 'ann@example.com' })
  await queueTestMail(app, 'test', {}, { key: 'bob', to: 'bob@example.com' })
  await sendMails(app)
  expect(server.received).toHaveLength(4)
  expect((await statusesOf(app)).filter((why) => why.includes('over'))).toEqual([
    'PENDING over the quota of the recipient',
    'PENDING over the quota of the recipient',
    'DROPPED over the quota of the recipient',
  ])
  app.clock.advance(hourMs + 60_000)
  await sendMails(app)
  expect(server.received).toHaveLength(6)
})

test('all spellings of one mailbox share the quota of its recipient', async () => {
  await using server = await mailServer()
  await using app = await testApp({ ...server.settings, MAIL_PER_RECIPIENT_HOUR: '2' })
  const { shop } = await app.merchant()
  const mailboxes = [
    ['ann@example.com', 'Ann+1@example.com', 'ann+2+3@EXAMPLE.com', 'ann+ж@example.com'],
    ['bob.lee@gmail.com', 'boblee@gmail.com', 'b.o.b.lee+shop@googlemail.com'],
    ['eva@exämple.de', 'EVA+1@xn--exmple-cua.de', 'eva+2@exämple.de'],
  ]
  for (const [nth, to] of mailboxes.flat().entries()) await queueNotice(app, shop.id, `key-${nth}`, to)
  await sendMails(app)
  expect(server.received).toHaveLength(2 * mailboxes.length)
})

test('password resets arrive above the quota of a recipient, and those of unknown accounts do not count', async () => {
  await using server = await mailServer()
  await using app = await testApp({ ...server.settings, MAIL_PER_RECIPIENT_HOUR: '3' })
  const [shop, other] = [await sellingIn(app), await sellingIn(app)]
  ok(await shop.post('/customer', { email: 'ann@example.com' }))
  const requestReset = (shopName: string, peer: string) =>
    app.call('POST', '/auth/password/forgot', { body: { email: 'ann@example.com', shopName }, from: peer })
  for (let nth = 0; nth < 4; nth++) await requestReset(other.shop.name, `203.0.113.${nth}`)
  await sendMails(app)
  expect(server.received).toHaveLength(0)
  for (const key of ['1', '2', '3', '4']) await queueTestMail(app, 'test', {}, { key, to: 'ann@example.com' })
  await sendMails(app)
  expect(server.received).toHaveLength(3)
  await requestReset(shop.shop.name, '203.0.113.9')
  await sendMails(app)
  expect(server.received).toHaveLength(4)
})

test('mail requested above the quota of a network is dropped, logged and counted, with unchanged responses', async () => {
  await using server = await mailServer()
  await using app = await testApp({ ...server.settings, MAIL_PER_ADDRESS_HOUR: '3' })
  const shop = await sellingIn(app)
  const requestReset = async (email: string, peer: string) => {
    ok(await shop.post('/customer', { email }))
    return app.call('POST', '/auth/password/forgot', { body: { email, shopName: shop.shop.name }, from: peer })
  }
  for (let nth = 0; nth < 6; nth++) {
    const answer = await requestReset(`c${nth}@example.com`, `2001:db8:1:2::${nth + 1}`)
    expect([answer.status, answer.body.sending]).toEqual([202, true])
  }
  await requestReset('other@example.com', '2001:db8:1:3::1')
  await sendMails(app)
  expect(server.received).toHaveLength(4)
  expect((await statusesOf(app)).filter((why) => why === 'DROPPED over the quota of the network address')).toHaveLength(3)
  expect(app.logged.filter(({ event }) => event === 'mail.refused')).toHaveLength(3)
  expect(new Map(app.deps.mailCounts.all()).get('refused')).toBe(3)
})

test('mails about unpaid and free orders of one network are delayed above its quota, and those about paid ones are not', async () => {
  await using server = await mailServer()
  await using app = await testApp({ ...server.settings, MAIL_PER_ADDRESS_HOUR: '3' })
  const shop = await sellingIn(app, { onHand: 100 })
  ok(await app.call('PUT', '/shops/v2/payment-methods', { token: shop.token, body: { manual: [bankTransfer] } }))
  const free = await shop.add({ title: 'Sample', variants: [{ price: shop.money(0) }] })
  const checkout = async (
    cartId: string,
    from: string,
    body: object = { method: 'manual', manualCode: bankTransfer.code },
    key = shop.publishableKey,
  ) => ok(await app.call('POST', `/cart/${cartId}/checkout`, { key, from, body, headers: { 'idempotency-key': crypto.randomUUID() } }), 201)
  const strangers = Array.from({ length: 4 }, (_, nth) => `stranger${nth}@example.com`)
  for (const email of strangers) {
    await checkout(await shop.cart({ email }), '203.0.113.1')
    await checkout(await shop.cart({ email, variants: [free.variants[0]?.id ?? ''] }), '203.0.113.1', { method: 'card' })
  }
  await sendMails(app)
  expect(server.received).toHaveLength(3)
  expect((await statusesOf(app)).filter((why) => why === 'PENDING over the quota of the network address')).toHaveLength(5)

  await checkout(await shop.cart({ email: 'other@example.com' }), '203.0.113.2')
  for (const nth of [0, 1, 2, 3]) await checkout(await shop.cart({ email: `paid${nth}@example.com` }), '203.0.113.1', { method: 'card' })
  // All shoppers of a shop's own server share its address.
  for (const nth of [0, 1, 2, 3])
    await checkout(await shop.cart({ email: `server${nth}@example.com` }), '203.0.113.1', undefined, shop.secretKey)
  await sendMails(app)
  expect(server.received).toHaveLength(3 + 1 + 4 + 4)
  for (const received of [15, 17]) {
    app.clock.advance(hourMs + 60_000)
    await sendMails(app)
    expect(server.received).toHaveLength(received)
  }
})

describe('bursts against the default mail quotas', () => {
  const from = (nth: number) => `203.0.113.${nth}`
  const passHour = (app: TestApp) => app.clock.advance(hourMs + 60_000)

  test('a shop in test mode that sells to 25 strangers sends them no mail', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.limitedSettings)
    const shop = await sellingIn(app, { onHand: 1_000 })
    for (let nth = 0; nth < 25; nth++) await shop.placeOrder({ email: `stranger${nth}@example.com` })
    await sendMails(app)
    expect(server.received).toEqual([])
    expect(new Set(await statusesOf(app))).toEqual(new Set(['DROPPED a shop in test mode sends mail to its own staff only']))
  })

  test('a network that signs up 35 addresses at a live shop causes 20 mails in an hour', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.limitedSettings)
    const shop = await sellingIn(app)
    const strangers = Array.from({ length: 35 }, (_, nth) => `stranger${nth}@example.com`)
    for (const email of strangers) ok(await shop.post('/customer', { email }))
    await setLive(app, shop.shop.id)
    const signUp = (email: string) =>
      app.call('POST', '/customer/signup', { body: { shopName: shop.shop.name, email, password: 'a password of theirs' }, from: from(1) })
    const answers = new Map<number, number>()
    for (const email of strangers) {
      const { status } = await signUp(email)
      answers.set(status, (answers.get(status) ?? 0) + 1)
    }
    const resetBody = { shopName: shop.shop.name, email: 'stranger0@example.com' }
    await app.call('POST', '/auth/password/forgot', { body: resetBody, from: from(1) })
    await app.call('POST', '/auth/password/forgot', { body: resetBody, from: from(2) })
    await sendMails(app)
    // An address may sign up 30 times an hour, and 20 of its mails are sent. The last mail is from another address.
    expect(Object.fromEntries(answers)).toEqual({ 409: 30, 429: 5 })
    expect(server.received).toHaveLength(21)
    expect((await mailRows(app)).every(({ status }) => status === 'SENT' || status === 'DROPPED')).toBe(true)
  })

  test('65 mails to one mailbox are sent as 20 an hour and 60 a day, and the rest waits', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.limitedSettings)
    const shop = await sellingIn(app, { onHand: 1_000 })
    for (let nth = 0; nth < 65; nth++) await shop.placeOrder({ email: nth % 2 ? 'Victim@example.com' : 'victim@EXAMPLE.com' })
    await setLive(app, shop.shop.id)
    await sendMails(app)
    expect(server.received).toHaveLength(20)
    for (const expected of [40, 60, 60]) {
      passHour(app)
      await sendMails(app)
      expect(server.received).toHaveLength(expected)
    }
    expect((await mailRows(app)).filter(({ status }) => status === 'PENDING')).toHaveLength(5)
  })

  test('25 mails to the mailbox of a merchant are limited to 20 an hour', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.limitedSettings)
    const shop = await sellingIn(app, { onHand: 1_000 })
    const { email } = ok(await app.call('GET', '/merchant/me', { token: shop.token })).body.merchant
    for (let nth = 0; nth < 25; nth++) await shop.placeOrder({ email })
    await sendMails(app)
    expect(server.received).toHaveLength(20)
  })
})

test('order notifications to staff of a live shop do not use up the quota of the recipient, and those to others do', async () => {
  await using server = await mailServer()
  await using app = await testApp({ ...server.settings, MAIL_PER_RECIPIENT_HOUR: '2' })
  const shop = await sellingIn(app, { onHand: 100 })
  const { email } = ok(await app.call('GET', '/merchant/me', { token: shop.token })).body.merchant
  const setMails = (orderMails: string[]) => app.call('PUT', '/shops/v2/mail', { token: shop.token, body: { orderMails } })
  ok(await setMails([email, 'other@example.com']))
  for (let nth = 0; nth < 5; nth++) await shop.placeOrder()
  await setLive(app, shop.shop.id)
  await queueNotice(app, shop.shop.id, 'last', email)
  await sendMails(app)
  const sentTo = (to: string) => server.received.filter((one) => one.to[0] === to).length
  expect([sentTo(email), sentTo('other@example.com')]).toEqual([6, 2])
})

test('a mail counted before its process was killed is sent once by the next process and not counted again', async () => {
  await using server = await mailServer()
  const settings = { ...server.settings, MAIL_PER_SHOP_HOUR: '1' }
  const app = await testApp(settings)
  const { shop } = await app.merchant()
  await queueNotice(app, shop.id, 'first')
  const { promise: never } = Promise.withResolvers<never>()
  const dying = createMailSender({ ...app.deps, mailServer: { send: () => never, verify: async () => {}, close() {} } })
  await dying.run()
  const [before] = await mailRows(app)
  expect([before?.status, before?.countedAt]).toEqual(['PENDING', app.clock.now()])
  await app.abandon()
  await using next = await testApp(settings, { database: app.database, startAt: app.clock.now() })
  await queueNotice(next, shop.id, 'second')
  await sendMails(next)
  expect(server.received).toEqual([])
  next.clock.advance(2 * 60_000)
  await sendMails(next)
  await sendMails(next)
  expect(server.received.map(({ to }) => to)).toEqual([['first@example.com']])
  const [after, other] = await mailRows(next)
  expect([after?.status, after?.countedAt, other?.status]).toEqual(['SENT', before?.countedAt, 'PENDING'])
  next.clock.advance(hourMs)
  await sendMails(next)
  expect(server.received.map(({ to }) => to)).toEqual([['first@example.com'], ['second@example.com']])
  await app.database.drop()
})

describe('the sender name of mail', () => {
  test('the sender name is the configured name or the title of the shop, with its handle', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await app.merchant()
    const { name } = shop.shop
    ok(await app.call('PATCH', '/shops/v2', { token: shop.token, body: { title: 'Noors Tea' } }))
    await queueNotice(app, shop.shop.id, 'one')
    await sendMails(app)
    ok(await app.call('PUT', '/shops/v2/mail', { token: shop.token, body: { senderName: 'Noor & Ann' } }))
    await queueNotice(app, shop.shop.id, 'two')
    await sendMails(app)
    expect(server.received.map(({ headers }) => headers.get('from'))).toEqual([
      `"Noors Tea (${name})" <shop@souk.example>`,
      `"Noor & Ann (${name})" <shop@souk.example>`,
    ])
  })

  test('the sender name cannot look like a payment processor, a card network or the instance', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await app.merchant()
    const refused = [
      'Stripe',
      'PayPal',
      'Stripe Support',
      'P a y P a l',
      'PayPaI',
      'Рауpal',
      'ＳＴＲＩＰＥ',
      'str\u00efpe',
      'S-T-R-I-P-E',
      'StripePayments',
      'PAYPAL.',
      'Pay\u200bPal',
      'souk',
      'Souk Support',
      'Tap Payments',
      'Checkout Support',
      'Mastercard',
      'souk.example',
      'Checkout.com',
      'stripe™',
      'ᴘᴀʏᴘᴀʟ',
      'Maestro Security',
      'JCB',
      'Union Pay',
      'Discover Support',
    ]
    for (const senderName of refused) {
      const { status } = await app.call('PUT', '/shops/v2/mail', { token: shop.token, body: { senderName } })
      expect([senderName, status]).toEqual([senderName, 400])
    }
    for (const senderName of [
      'Striped Shirts',
      'Tapestry House',
      'Noor',
      'Soukaina',
      'متجر نور',
      'Дэлгүүр',
      'Visage',
      'The Checkered Cup',
      'Spice Souk',
      'Wine on Tap',
      'Times Square Gifts',
      'Discover Oman',
      'Mada Books™',
    ])
      expect([senderName, (await app.call('PUT', '/shops/v2/mail', { token: shop.token, body: { senderName } })).status]).toEqual([
        senderName,
        200,
      ])
    expect(['Acme', 'ACME Support', 'The A-c-m-e Team', 'Acme Tools'].map((name) => isReservedName(name, ['Acme']))).toEqual([
      true,
      true,
      true,
      false,
    ])
    expect(senderNameOf('PayPal', 'paypal-help', [])).toBe('Shop')
    expect(senderNameOf('PayPal', 'noors-tea', [])).toBe('noors-tea')
    expect(senderNameOf('Noor', 'stripe', [])).toBe('Noor')
    expect([senderNameOf('Noor', 'noors-tea', []), senderNameOf('noors-tea', 'noors-tea', [])]).toEqual(['Noor (noors-tea)', 'noors-tea'])
  })
})
