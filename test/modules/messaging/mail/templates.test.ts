/** Tests mail templates: user text stays text, and amounts are exact. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { selectForSlots } from '../../../../src/core/delivery-queue.ts'
import { isMailAddress, senderOf } from '../../../../src/lib/mail-address.ts'
import { readableColorOn } from '../../../../src/lib/markup.ts'
import { currencies, decimalsOf } from '../../../../src/lib/money.ts'
import { plainText } from '../../../../src/lib/plain-text.ts'
import { mailPageUrl } from '../../../../src/modules/messaging/mail/compose.ts'
import {
  afterAttempt,
  hasSlot,
  laneSlots,
  mailLanguages,
  mailTemplates,
  templateNames,
} from '../../../../src/modules/messaging/mail/domain.ts'
import { defaultLook, type Look } from '../../../../src/modules/messaging/mail/layout.ts'
import { sampleData } from '../../../../src/modules/messaging/mail/samples.ts'
import { type Links, renderMail } from '../../../../src/modules/messaging/mail/templates.ts'
import { phrasebookOf } from '../../../../src/modules/messaging/mail/texts.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const links: Links = {
  order: () => 'https://souk.example/o',
  manage: () => 'https://souk.example/m',
  pay: () => 'https://souk.example/p',
  cart: () => 'https://souk.example/c',
  unsubscribe: () => 'https://souk.example/u',
  reset: () => 'https://souk.example/r',
  verify: () => 'https://souk.example/v',
  invitation: () => 'https://souk.example/i',
}
const lookWith = (title: string, language: (typeof mailLanguages)[number] = 'en'): Look => ({
  // The same title as lookOf uses.
  title: plainText(title, 100) || 'x',
  logoUrl: null,
  ...defaultLook,
  words: phrasebookOf(language, 'US'),
})
/** Random and hostile texts for any field. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.constantFrom(
    '</td></table><script>alert(1)</script>',
    '"onload=x ',
    "'><img src=x>",
    'a\r\nBcc: b@c.example',
    '\u202egnp.exe',
    '&lt;b&gt;',
    '\ud800',
  ),
)
const tagsOf = (html: string): string[] => html.match(/<[^>]*>/g) ?? []

test('payment instructions name the order number in the text, which is their reference', () => {
  const sample = sampleData('USD')['payment-instructions']
  for (const language of mailLanguages) {
    const { html, text } = renderMail('payment-instructions', sample, lookWith('Acme', language), links)
    for (const body of [html.slice(html.indexOf('<body')), text])
      expect([language, body.includes(String(sample.order.number))]).toEqual([language, true])
  }
})

test('a shop name that ends with a full stop does not get a second one', () => {
  for (const language of mailLanguages)
    for (const template of templateNames) {
      const { html, text } = renderMail(template, sampleData('USD')[template], lookWith('Acme Co.', language), links)
      for (const output of [html, text]) expect([language, template, /Acme Co\.\./.test(output)]).toEqual([language, template, false])
    }
  const { text } = renderMail('order-confirmed', sampleData('USD')['order-confirmed'], lookWith('Acme'), links)
  expect(text).toContain('Sent on behalf of Acme.')
})

test('hostile titles and names cannot add tags, subject lines or bidi characters to a mail', () => {
  fc.assert(
    fc.property(
      hostile,
      hostile,
      fc.constantFrom(...templateNames),
      fc.constantFrom(...mailLanguages),
      (title, text, template, language) => {
        const fill = (replacement: string) => {
          const replace = (_: string, value: unknown) =>
            value === 'Linen shirt' || value === 'Blue / M' || value === 'Post' || value === 'TRACK-123' || value === 'Ann'
              ? replacement
              : value
          return JSON.parse(JSON.stringify(sampleData('USD')[template], replace))
        }
        const { subject, html, text: plain } = renderMail(template, fill(text), lookWith(title, language), links)
        const harmless = renderMail(template, fill('x'), lookWith('x', language), links)
        // Skips text without a visible character, because some templates omit it.
        if (text.trim() !== '' && /[\p{L}\p{N}]/u.test(text)) expect(tagsOf(html)).toEqual(tagsOf(harmless.html))
        expect(html).not.toMatch(/<script|<img|\u202e|\r/)
        expect(subject).not.toMatch(/\p{Cc}|\u202e/u)
        expect(subject.length).toBeLessThanOrEqual(200)
        expect(plain).not.toMatch(/(?!\n)\p{Cc}|\u202e/u)
        expect(subject.isWellFormed() && html.isWellFormed() && plain.isWellFormed()).toBe(true)
      },
    ),
    { numRuns: 400 },
  )
})

test('amounts in mail are exact to the minor unit in every currency', () => {
  const { money } = phrasebookOf('en', 'US')
  fc.assert(
    fc.property(fc.constantFrom(...currencies), fc.bigInt(0n, 100_000_000_000_000n), (currency, amount) => {
      const digits = money({ amount: Number(amount), currency }).replace(/[^\d.]/g, '')
      const unit = 10n ** BigInt(decimalsOf(currency))
      const [whole = '', fraction = ''] = digits.replace(/^\.+/, '').split('.')
      expect(BigInt(whole) * unit + BigInt(fraction || '0')).toBe(amount)
      expect(fraction.length).toBe(decimalsOf(currency))
    }),
  )
})

test('every template has a different subject in every language', () => {
  const output = mailLanguages.map((language) =>
    templateNames.map((template) => renderMail(template, sampleData('USD')[template], lookWith('x', language), links)),
  )
  for (const [at] of templateNames.entries()) expect(new Set(output.map((mails) => mails[at]?.subject)).size).toBe(mailLanguages.length)
})

describe('addresses in mail', () => {
  test('mail addresses are validated so that none can end a header or an SMTP command', () => {
    for (const good of ['a@b.example', "o'neil+shop@sub.b-c.example", 'A.B@X.EXAMPLE', 'a@localhost'])
      expect([good, isMailAddress(good)]).toEqual([good, true])
    for (const bad of [
      'a',
      '@b',
      'a@',
      'a@b@c',
      'a b@c.d',
      'a@b.c\n',
      'a@b.c\r\nRCPT TO:<x@y.z>',
      'a@-b.c',
      '.a@b.c',
      'a..b@c.d',
      '"a"@b.c',
      'a@[127.0.0.1]',
      `${'a'.repeat(65)}@b.c`,
      `a@${'b.'.repeat(130)}c`,
    ])
      expect([bad, isMailAddress(bad)]).toEqual([bad, false])
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !isMailAddress(text) || !/[\s<>,;:"\\\p{C}]/u.test(text)))
    expect(senderOf('"The Souk" <a@b.example>')).toEqual({ name: 'The Souk', address: 'a@b.example' })
    expect(senderOf('The\nSouk <a@b.example>')).toBeUndefined()
  })

  test('links in mail lead to the pages of the shop, or else to the instance', () => {
    const deps = { config: { publicUrl: 'https://souk.example/', host: '127.0.0.1', port: 3000 }, life: {} } as never
    expect(mailPageUrl(deps, undefined, 'reset', 'T')).toBe('https://souk.example/pages/reset/T')
    const pages = { reset: 'https://shop.example/reset?lang=en#form' }
    expect(mailPageUrl(deps, { pages }, 'reset', 'T')).toBe('https://shop.example/reset?lang=en&token=T#form')
    expect(mailPageUrl(deps, { pages }, 'verify', 'T')).toBe('https://souk.example/pages/verify/T')
    expect(mailPageUrl({ config: { host: '::1', port: 80 }, life: {} } as never, undefined, 'reset', 'T')).toBe(
      'http://[::1]:80/pages/reset/T',
    )
  })
})

describe('selection and outcome of mail attempts', () => {
  test('no lane takes more than its slots, and something is selected when anything waits', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { maxLength: 40 }), (lanes) => {
        const selected = selectForSlots(
          lanes.map((lane) => ({ lane: String(lane) })),
          [],
          hasSlot,
        )
        expect(selected.length).toBeLessThanOrEqual(8)
        if (lanes.length > 0) expect(selected.length).toBeGreaterThan(0)
        for (const lane of new Set(lanes)) {
          const taken = selected.filter((one) => one.lane === String(lane)).length
          expect(taken).toBeLessThanOrEqual(laneSlots(8))
        }
      }),
    )
    expect(
      selectForSlots(
        Array.from({ length: 20 }, () => ({ lane: 'a' })),
        [],
        hasSlot,
      ).length,
    ).toBe(4)
  })

  test('an ended mail loses its sealed data; a pending one keeps it and is retried before it expires', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('sent', 'nobody', 'refused', 'later', 'broken', 'server', 'internal'),
        fc.integer({ min: 1, max: 50 }),
        fc.nat(10 * 24 * 60 * 60_000),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (result, attempts, left, chance) => {
          const now = 1_000_000_000_000
          const after = afterAttempt({ result, error: 'x' } as never, { attempts, expiresAt: now + left }, now, chance)
          if (after.status === 'PENDING') {
            expect(after.sealed).toBeUndefined()
            expect(after.nextAt).toBeGreaterThan(now)
            if (result !== 'server') expect(after.nextAt).toBeLessThan(now + left)
          } else expect(after.sealed).toBeNull()
          expect((after.attempts ?? attempts) >= attempts - 1).toBe(true)
        },
      ),
    )
    for (const name of templateNames) expect(mailTemplates[name].lifeMs).toBeGreaterThan(0)
  })
})

test('the text colour is readable on every background colour', () => {
  const channel = (value: number) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4)
  fc.assert(
    fc.property(fc.nat(255), fc.nat(255), fc.nat(255), (r, g, b) => {
      const colour = `#${[r, g, b].map((one) => one.toString(16).padStart(2, '0')).join('')}`
      const light = 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b)
      const [high, low] = readableColorOn(colour) === '#ffffff' ? [1, light] : [light, 0]
      expect((high + 0.05) / (low + 0.05)).toBeGreaterThanOrEqual(4.5)
    }),
  )
})
