/** Tests texts of mails that a shop edits, and the mail to the shop for each order. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import fc from 'fast-check'
import { shops } from '../../../../db/schema/shop.ts'
import { plainParagraphs, plainText } from '../../../../src/lib/plain-text.ts'
import { mailLanguages, placeholdersOf, templateNames } from '../../../../src/modules/messaging/mail/domain.ts'
import { fillPlaceholders, findInvalidText } from '../../../../src/modules/messaging/mail/edited-texts.ts'
import { defaultLook } from '../../../../src/modules/messaging/mail/layout.ts'
import { sampleData } from '../../../../src/modules/messaging/mail/samples.ts'
import { defaultTexts, renderMail } from '../../../../src/modules/messaging/mail/templates.ts'
import { phrasebookOf } from '../../../../src/modules/messaging/mail/texts.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { growthOf, linearMax } from '../../../support/growth.ts'
import { mailServer } from '../../../support/mail-server.ts'
import { mailRows, queueTestMail, sendMails } from '../../../support/mails.ts'
import { ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const page = (name: string) => () => `https://souk.example/${name}`
const links = {
  ...{ order: page('o'), manage: page('m'), pay: page('p'), reset: page('r'), verify: page('v'), invitation: page('i') },
  ...{ cart: page('c'), unsubscribe: page('u') },
}
const path = (template: string, language = 'en') => `/shops/v2/mail/templates/${template}/${language}`
const texts = {
  subject: 'Hi from {{shop}}: {{ orderNumber }}',
  intro: 'Thanks!\nWe pack {{total}}.\n\n<b>Soon</b>',
  closing: 'Bye, {{shop}}',
}
const setMail = (app: TestApp, { token }: { token: string }, body: object) => app.call('PUT', '/shops/v2/mail', { token, body })
const setLive = (app: TestApp, id: string) => app.deps.db.write((tx) => tx.update(shops).set({ mode: 'LIVE' }).where(eq(shops.id, id)))

describe('rendering', () => {
  test('the default texts with their placeholders render the default mail in every template and language', () => {
    for (const language of mailLanguages)
      for (const template of templateNames) {
        const appearance = { title: 'Acme', logoUrl: null, ...defaultLook, words: phrasebookOf(language, 'US') }
        const data = sampleData('USD')[template]
        // A shipment of the complete order has another intro.
        if ('lines' in data && template === 'order-shipped') delete (data as { lines?: unknown }).lines
        const defaultMail = renderMail(template, data, appearance, links)
        const edited = renderMail(template, data, appearance, links, { ...defaultTexts(template, language), closing: null })
        expect([template, language, edited]).toEqual([template, language, defaultMail])
      }
  })

  test('any accepted text is rendered as text: it adds no tags except paragraphs and line breaks, and no header lines', () => {
    const typed = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc
        .array(
          fc.constantFrom(
            '{{shop}}',
            '{{ total }}',
            '{',
            '}',
            '<script>alert(1)</script>',
            '\r\n',
            '\n\n',
            '"\'>',
            '\u202e',
            '\ud800',
            ' a ',
          ),
        )
        .map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(typed, typed, typed, fc.constantFrom(...mailLanguages), (subject, intro, closing, language) => {
        const edited = { subject, intro, closing }
        if (findInvalidText('order-confirmed', edited) !== undefined) return
        const appearance = { title: plainText('<i>{{total}}</i>', 100), logoUrl: null, ...defaultLook, words: phrasebookOf(language, 'US') }
        const data = sampleData('USD')['order-confirmed']
        const tagsOf = (html: string) => (html.match(/<[^>]*>/g) ?? []).filter((tag) => !/^<(\/?p\b|br>)/.test(tag))
        const mail = renderMail('order-confirmed', data, appearance, links, edited)
        expect(tagsOf(mail.html)).toEqual(tagsOf(renderMail('order-confirmed', data, appearance, links).html))
        expect(mail.subject).not.toMatch(/\p{Cc}|\u202e/u)
        expect(mail.subject.length).toBeLessThanOrEqual(200)
        expect(mail.text).not.toMatch(/(?!\n)\p{Cc}|[\u2028-\u202e]/u)
        expect(mail.html).not.toMatch(/<script|\u202e|\r/)
        expect([mail.subject, mail.html, mail.text].every((one) => one.isWellFormed())).toBe(true)
        // Placeholders in the shop's name are not filled.
        if (intro.trim() === '{{shop}}') expect(mail.text).toContain('<i>{{total}}</i>')
      }),
      { numRuns: 300 },
    )
  })

  test('placeholders are filled once, and unknown or incomplete ones are found', () => {
    expect(fillPlaceholders('{{a}} {{ b }} {{c}} {{toString}}', { a: '{{b}}', b: 'B' })).toBe('{{b}} B {{c}} {{toString}}')
    const isInvalid = (subject: string) => findInvalidText('order-confirmed', { subject, intro: null, closing: null }) === 'subject'
    for (const good of ['{{shop}}', '{{{shop}}}', '{{ total }}', '{ } {a}', 'a']) expect([good, isInvalid(good)]).toEqual([good, false])
    for (const bad of ['{{amount}}', '{{Shop}}', '{{', '}}', '{{shop}', '{{}}', '{{shop}} {{', '{{sh op}}', '{{constructor}}'])
      expect([bad, isInvalid(bad)]).toEqual([bad, true])
  })

  test('paragraphs are separated by blank lines, and the time grows linearly with the text', () => {
    expect(plainParagraphs(' a \r\nb\r\n \t\r\n\n c\u0007\u202e ')).toEqual(['a\nb', 'c'])
    expect(plainParagraphs('👨‍👩‍👧 می‌خواهم')).toEqual(['👨‍👩‍👧 می‌خواهم'])
    for (const unit of [' ', '\n', '\n ', '{{', '{{ '])
      expect(growthOf((length) => void plainParagraphs(fillPlaceholders(unit.repeat(length), {})), 5_000)).toBeLessThan(linearMax)
  })
})

describe('routes', () => {
  test('every template can be edited, previewed and reset in every language', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    for (const template of templateNames)
      for (const language of mailLanguages) {
        const preview = async () => ok(await app.call('GET', `/shops/v2/mail/preview/${template}?language=${language}`, { token })).body
        const before = await preview()
        expect(before.placeholders).toEqual(placeholdersOf(template))
        const body = { subject: 'S {{shop}}', intro: 'Mine {{shop}}', closing: '<b>Bye</b>' }
        const set = ok(await app.call('PUT', path(template, language), { token, body }))
        const read = ok(await app.call('GET', path(template, language), { token }))
        expect(read.body).toEqual(set.body)
        expect(read.body).toEqual({
          ...body,
          template,
          language,
          defaults: defaultTexts(template, language),
          placeholders: before.placeholders,
        })
        const after = await preview()
        expect(after.subject).toBe('S shop-1')
        expect(after.text).toContain('Mine shop-1')
        expect(after.html).toContain('&lt;b&gt;Bye&lt;/b&gt;')
        const reset = ok(await app.call('DELETE', path(template, language), { token }), 200)
        expect(reset.body).toMatchObject({ subject: null, intro: null, closing: null })
        expect(await preview()).toEqual(before)
      }
  })

  test('invalid texts are refused by field with the limit, and change nothing', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const put = (body: unknown, at = path('order-confirmed')) => app.call('PUT', at, { token, body })
    ok(await put({ intro: 'Kept' }))
    for (const [body, field, message] of [
      [{ subject: '{{password}}' }, 'subject', 'subject: must use only these placeholders: {{shop}}, {{orderNumber}}, {{total}}'],
      [{ intro: 'a {{shop' }, 'intro', /placeholders/],
      [{ closing: '}}' }, 'closing', /placeholders/],
      [{ intro: 'x'.repeat(100_000) }, 'intro', /5,?000/],
      [{ closing: 'x'.repeat(5_001) }, 'closing', /5,?000/],
      [{ subject: 'x'.repeat(201) }, 'subject', /200/],
      [{ subject: 'a\nBcc: b@c.example' }, 'subject', /one line/],
      [{ intro: ' \n ' }, 'intro', /blank/],
      [{ heading: 'x' }, 'heading', /unknown/],
      [{ intro: 5 }, 'intro', /text|string/],
    ] as const) {
      const refused = await put(body)
      expect([field, refused.status, refused.body.field]).toEqual([field, 400, field])
      expect(refused.body.message).toMatch(message)
    }
    for (const invalid of ['nothing', 'constructor']) expect((await put({}, path(invalid))).status).toBe(400)
    expect((await put({}, path('test', 'fr'))).status).toBe(400)
    expect(ok(await app.call('GET', path('order-confirmed'), { token })).body.intro).toBe('Kept')
  })

  test('another shop has its own texts', async () => {
    await using app = await testApp()
    const [one, two] = [await app.merchant(), await app.merchant()]
    ok(await app.call('PUT', path('order-confirmed'), { token: one.token, body: { intro: 'Ours' } }))
    expect(ok(await app.call('GET', path('order-confirmed'), { token: two.token })).body.intro).toBeNull()
    ok(await app.call('DELETE', path('order-confirmed'), { token: two.token }))
    expect(ok(await app.call('GET', path('order-confirmed'), { token: one.token })).body.intro).toBe('Ours')
  })

  test('a reset raises the version, so that an older one is refused', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const at = path('order-confirmed')
    const first = ok(await app.call('PUT', at, { token, body: { intro: 'One' } }))
    const etag = first.headers.get('etag') ?? ''
    ok(await app.call('DELETE', at, { token, headers: { 'if-match': etag } }))
    const late = await app.call('PUT', at, { token, body: { intro: 'Two' }, headers: { 'if-match': etag } })
    expect(late.status).toBe(412)
  })
})

describe('sending', () => {
  test('a mail has the texts of its language at the time of sending, and mails of souk itself have none', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const { token, shop } = await app.merchant()
    const data = sampleData('USD')['order-confirmed']
    await queueTestMail(app, 'order-confirmed', data, { key: 'one', shopId: shop.id })
    ok(await app.call('PUT', path('order-confirmed'), { token, body: texts }))
    ok(await app.call('PUT', path('order-confirmed', 'ar'), { token, body: { subject: 'Arabic' } }))
    ok(await app.call('PUT', path('test'), { token, body: { subject: 'Not souk’s' } }))
    await queueTestMail(app, 'test', {})
    await sendMails(app)
    const sent = server.received.find(({ headers }) => headers.get('subject')?.startsWith('Hi'))
    expect(sent?.headers.get('subject')).toBe('Hi from shop-1: 1001')
    expect(sent?.text).toContain('Thanks!\nWe pack $95.31.\n\n<b>Soon</b>\n')
    expect(sent?.text).toContain('Bye, shop-1')
    expect(sent?.html).toContain('Thanks!<br>We pack $95.31.</p>')
    expect(sent?.html).toContain('&lt;b&gt;Soon&lt;/b&gt;')
    expect(server.received.map(({ headers }) => headers.get('subject'))).toContain('Test email')
  })

  test('invitations of a shop in test mode use souk’s texts, because anyone may open one and invite strangers', async () => {
    await using server = await mailServer()
    await using app = await testApp({ ...server.settings, MAIL_TEST_SHOPS: 'false' })
    const [trial, live] = [await app.merchant(), await app.merchant()]
    await setLive(app, live.shop.id)
    for (const { token } of [trial, live]) {
      ok(await app.call('PUT', path('invitation'), { token, body: { subject: 'Win a prize' } }))
      ok(await app.call('POST', '/shops/v2/staff', { token, body: { email: 'stranger@example.com', role: 'MANAGER' } }), 201)
      await sendMails(app)
    }
    expect(server.received.map(({ headers }) => headers.get('subject'))).toEqual(['You’ve been invited to shop-1', 'Win a prize'])
  })
})

describe('new_order', () => {
  test('each confirmed order is mailed once to each address, with a link to the console', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await sellingIn(app)
    const orderMails = ['one@example.com', 'two@example.com']
    const set = ok(await setMail(app, shop, { orderMails }))
    expect(set.body.orderMails).toEqual(orderMails)
    ok(await app.call('PUT', path('new_order'), { token: shop.token, body: { subject: 'Sold: {{orderNumber}} for {{total}}' } }))
    const [first, second] = [await shop.placeOrder(), await shop.placeOrder()]
    await sendMails(app)
    await sendMails(app)
    const orderNotices = server.received.filter(({ to }) => orderMails.includes(to[0] ?? ''))
    const subjects = [first, second].flatMap(({ number }) => orderMails.map((to) => `${to} Sold: ${number} for $10.00`))
    expect(orderNotices.map(({ to, headers }) => `${to} ${headers.get('subject')}`).sort()).toEqual(subjects.sort())
    for (const { text, html } of orderNotices) {
      expect(text).toMatch(new RegExp(`https://souk\\.example/console/s/${shop.shop.name}/orders/order_[0-9a-z]{26}`))
      expect(text).toContain('Mug')
      // No personal data of the shopper.
      expect(text + html).not.toContain('guest@example.com')
    }
    ok(await setMail(app, shop, {}))
    expect(ok(await app.call('GET', '/shops/v2/mail', { token: shop.token })).body.orderMails).toEqual([])
    await shop.placeOrder()
    expect((await mailRows(app)).filter(({ template }) => template === 'new_order')).toHaveLength(4)
  })

  test('an unpaid order is not mailed', async () => {
    await using server = await mailServer()
    await using app = await testApp(server.settings)
    const shop = await sellingIn(app)
    ok(await setMail(app, shop, { orderMails: ['one@example.com'] }))
    const { order } = (await shop.checkout(await shop.cart(), { paymentToken: 'tok_decline' })).body
    expect(order.status).toBe('PENDING_PAYMENT')
    expect((await mailRows(app)).filter(({ template }) => template === 'new_order')).toEqual([])
  })

  test('a shop in test mode sends order notices only to addresses of its staff', async () => {
    await using server = await mailServer()
    await using app = await testApp({ ...server.settings, MAIL_TEST_SHOPS: 'false' })
    const shop = await sellingIn(app)
    ok(await setMail(app, shop, { orderMails: ['stranger@example.com', shop.email] }))
    await shop.placeOrder()
    const before = server.received.length
    await sendMails(app)
    expect(server.received.slice(before).map(({ to }) => to)).toEqual([[shop.email]])
    const refused = (await mailRows(app)).filter(({ template, status }) => template === 'new_order' && status === 'DROPPED')
    expect(refused.map(({ lastError }) => lastError)).toEqual(['a shop in test mode sends mail to its own staff only'])
  })

  test('at most five addresses are accepted, each once and valid', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const put = (orderMails: unknown) => app.call('PUT', '/shops/v2/mail', { token, body: { orderMails } })
    const addresses = Array.from({ length: 6 }, (_, nth) => `a${nth}@example.com`)
    ok(await put(addresses.slice(0, 5)))
    for (const [invalid, field] of [
      [addresses, 'orderMails'],
      [['a@example.com', 'A@Example.com'], 'orderMails.1'],
      [['a@example.com', 'no'], 'orderMails.1'],
      [['a@example.com\r\nBcc: b@c.example'], 'orderMails.0'],
      ['a@example.com', 'orderMails'],
      [null, 'orderMails'],
    ] as const) {
      const { status, body } = await put(invalid)
      expect([field, status, body.field]).toEqual([field, 400, field])
    }
    expect(ok(await app.call('GET', '/shops/v2/mail', { token })).body.orderMails).toEqual(addresses.slice(0, 5))
  })
})
