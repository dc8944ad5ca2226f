/** Tests the storefront's money, payment steps and content security policy without a browser. */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { build } from '../../docs/storefront/build.ts'
import { currencies, decimalsOf as decimalsOfSouk, parseAmount } from '../../src/lib/money.ts'
import { noticeCodes } from '../../src/modules/selling/cart/domain.ts'

const sources = join(import.meta.dir, '../../docs/storefront/src')
// Imported without types, which are generated. storefront.heavy.ts compiles everything.
const { nextOf, waysToPay } = await import(join(sources, 'payment-methods.ts'))
const { decimalOf, decimalsOf, minorUnitsOf, wordsOf } = await import(join(sources, 'i18n.ts'))

describe('money', () => {
  test('has the decimals of souk for every currency', () => {
    expect(currencies.filter((currency) => decimalsOf(currency) !== decimalsOfSouk(currency))).toEqual([])
  })

  test('formats amounts exactly and parses entered amounts like souk', () => {
    const money = fc.record({ amount: fc.maxSafeNat(), currency: fc.constantFrom(...currencies) })
    fc.assert(
      fc.property(money, ({ amount, currency }) => {
        const text = decimalOf({ amount, currency })
        const digits = BigInt(decimalsOfSouk(currency))
        const [integer = '', fraction = ''] = text.split('.')
        expect(BigInt(integer) * 10n ** digits + BigInt(fraction || '0')).toBe(BigInt(amount))
        expect(fraction.length).toBe(Number(digits))
        if (amount <= 1e12) expect(minorUnitsOf(text, currency)).toBe(parseAmount(text, currency))
      }),
    )
    for (const text of ['', '-1', '1,5', '1.234', '1e3', 'x', '٣']) expect([text, minorUnitsOf(text, 'USD')]).toEqual([text, undefined])
  })

  test('formats large amounts exactly in every language', () => {
    for (const language of ['en', 'ar', 'mn', 'unknown'])
      expect(wordsOf(language, 'US').money({ amount: 9_007_199_254_740_991, currency: 'USD' })).toContain('90,071,992,547,409.91')
    expect(wordsOf('en', 'KW').money({ amount: 1_234, currency: 'KWD' })).toContain('1.234')
    expect(wordsOf('en', 'IQ').money({ amount: 1_234, currency: 'IQD' })).toContain('1.234')
    expect(wordsOf('en', 'JP').money({ amount: 1_234, currency: 'JPY' })).toContain('1,234')
  })
})

test('has a text for every notice and policy in every language', async () => {
  const { policiesIn } = await import(join(sources, 'policies/index.ts'))
  for (const language of ['en', 'ar', 'mn']) {
    const { notices, policies } = wordsOf(language, 'US')
    expect(Object.keys(notices).sort()).toEqual([...noticeCodes].sort())
    const isEnglish = (text: string) => /[a-z]{3}/i.test(text.replace(/<[^>]*>/g, ''))
    const texts = noticeCodes.map((code) => notices[code]('The reason in English'))
    expect(texts.filter((text) => text === '' || isEnglish(text) !== (language === 'en'))).toEqual([])
    expect(Object.keys(policiesIn(language))).toEqual(Object.keys(policies))
    const pages = Object.values<string>(policiesIn(language))
    expect(pages.filter((text) => text === '' || isEnglish(text) !== (language === 'en'))).toEqual([])
  }
})

describe('a payment', () => {
  const stepOf = (processor: string, clientParameters: Record<string, unknown>) =>
    nextOf({ order: { status: 'PENDING_PAYMENT' }, payment: { processor, status: 'REQUIRES_ACTION', clientParameters } })

  test('continues with each processor as docs/storefronts.md says', () => {
    const url = 'https://pay.example/1'
    const redirect = { kind: 'elsewhere' as const, url }
    expect(stepOf('tap', { redirectUrl: url })).toEqual(redirect)
    expect(stepOf('stripe', { redirectUrl: url })).toEqual(redirect)
    expect(stepOf('paypal', { orderId: '1', clientId: 'x', approveUrl: url })).toEqual(redirect)
    expect(stepOf('btcpay', { checkoutLink: url, invoiceId: '1' })).toEqual(redirect)
    expect(stepOf('qpay', { qrText: 'x', qrImage: 'aGk=', urls: [{ name: 'Bank', link: 'bank://pay' }] })).toEqual({
      kind: 'banks',
      image: 'data:image/png;base64,aGk=',
      banks: [{ name: 'Bank', link: 'bank://pay' }],
    })
    expect(stepOf('stripe', { clientSecret: 's' }).kind).toBe('library')
    expect(stepOf('checkout', { paymentSession: {} }).kind).toBe('library')
    expect(stepOf('sandbox', { action: 'x' }).kind).toBe('deciding')
  })

  test('rejects redirects to other schemes than https and http, and links that run code', () => {
    expect(stepOf('tap', { redirectUrl: 'javascript:alert(1)' }).kind).toBe('library')
    expect(
      stepOf('qpay', {
        qrImage: 'aGk=',
        urls: [
          { name: 'x', link: 'JavaScript:alert(1)' },
          { name: 'y', link: 'data:text/html,x' },
        ],
      }),
    ).toMatchObject({
      banks: [],
    })
  })

  test('is confirmed only when its order is paid', () => {
    const stateOf = (status: string, payment: string) =>
      nextOf({ order: { status }, payment: { processor: 'tap', status: payment, clientParameters: {} } }).kind
    expect(stateOf('CONFIRMED', 'CAPTURED')).toBe('paid')
    expect(stateOf('CONFIRMED', 'NOT_REQUIRED')).toBe('paid')
    for (const waiting of ['PENDING', 'AUTHORIZED', 'PROCESSING', 'CAPTURED'] as const)
      expect(stateOf('PENDING_PAYMENT', waiting)).toBe('deciding')
    expect(stateOf('PENDING_PAYMENT', 'FAILED')).toBe('declined')
    for (const ended of ['EXPIRED', 'CANCELLED', 'COMPENSATING'] as const) expect(stateOf(ended, 'CAPTURED')).toBe('over')
  })

  test('offers the methods of the resolver that this storefront supports, and the sandbox in test shops only', () => {
    const words = wordsOf('en', 'US')
    const none = {
      manual: [],
      card: null,
      paypal: { enabled: false },
      crypto: { enabled: false },
      wallet: { enabled: false, tokenProvider: null },
    }
    const rest = { currency: 'USD', meta: { kybCohort: null, partnership: null, chain: [], skippedByBreaker: [] } }
    const methodsOf = (resolved: object, key: string) =>
      waysToPay({ ...none, ...rest, ...resolved }, key, 'https://shop.example/back', words).map(
        ({ choice }: { choice: { processor?: string; method: string } }) => choice.processor ?? choice.method,
      )
    const card = (processor: string) => ({ card: { processor, publishableKey: 'x', environment: 'live' } })
    expect(methodsOf({}, 'pk_live_1')).toEqual([])
    expect(methodsOf({}, 'pk_test_1')).toEqual(['sandbox', 'sandbox'])
    expect(methodsOf({ ...card('tap'), paypal: { enabled: true }, crypto: { enabled: true } }, 'pk_live_1')).toEqual([
      'card',
      'paypal',
      'crypto',
    ])
    expect(methodsOf(card('stripe'), 'pk_live_1')).toEqual([])
    expect(methodsOf({ manual: [{ code: 'transfer', title: 'Bank transfer' }] }, 'pk_live_1')).toEqual(['manual'])
  })
})

describe('the pages', () => {
  const built = build({ souk: 'https://api.example/', shop: 'a"><script>' })

  test('have nothing inline and a strict content security policy', async () => {
    const pages = [...(await built)].filter(([name]) => name.endsWith('.html'))
    expect(pages.length).toBe(18)
    for (const [name, file] of pages) {
      const html = await file.text()
      expect([name, html.match(/<script(?![^>]* src=)|<style| style=| on\w+=/gi)]).toEqual([name, null])
      const [, policy = ''] = /Content-Security-Policy" content="([^"]+)"/.exec(html) ?? []
      expect(policy.split('; ')).toEqual([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: https://api.example",
        'connect-src https://api.example',
        "base-uri 'none'",
        "form-action 'self'",
      ])
      expect(html).toContain('<meta name="souk:shop" content="a&#34;>&#60;script>')
    }
  })

  test('are small with their scripts', async () => {
    const scripts = [...(await built)].filter(([name]) => name.endsWith('.js'))
    expect(scripts.reduce((sum, [, { size }]) => sum + size, 0)).toBeLessThan(100_000)
  })

  test('are built from elements and text, not from markup', async () => {
    const files = [...new Bun.Glob('**/*.ts').scanSync(sources)].filter((file) => file !== 'souk.d.ts')
    expect(files.length).toBeGreaterThan(20)
    const markup =
      /\.(innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment)\b|document\.write|\beval\(|new Function|setHTMLUnsafe/
    const texts = await Promise.all(files.map(async (file) => [file, await Bun.file(join(sources, file)).text()] as const))
    expect(texts.filter(([, text]) => markup.test(text)).map(([file]) => file)).toEqual([])
    expect(texts.filter(([, text]) => text.split('\n').length > 300).map(([file]) => file)).toEqual([])
  })
})
