/** Gift card codes of shoppers: lookup, errors and limits on failed attempts. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { attempts } from '../../../../db/schema/people.ts'
import { system } from '../../../../src/core/command-context.ts'
import { AppError } from '../../../../src/core/errors.ts'
import { openInstance } from '../../../../src/instance.ts'
import { signUpCustomer } from '../../../../src/modules/customers/customer/service.ts'
import {
  changeGiftCard,
  findUsableCard,
  holdGiftCards,
  issueGiftCard,
  type NewGiftCard,
  tryCode,
} from '../../../../src/modules/selling/gift-card/service.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const second = 1_000
const minute = 60 * second
const unknownCode = 'ZZZZ-ZZZZ-ZZZZ-ZZZZ'

type Try = Partial<Parameters<typeof tryCode>[1]>

async function shopWithCards(app: TestApp) {
  const { shop } = await app.merchant()
  const { deps } = app
  return {
    shop,
    issue: (more: Partial<NewGiftCard> = {}) =>
      issueGiftCard(deps, { shop, actor: system }, { amount: { amount: 5_000, currency: 'USD' }, ...more }),
    customer: (email: string) =>
      signUpCustomer(deps, { shopId: shop.id, email, password: 'a long password', name: '' }, { limitKey: email, requestId: undefined }),
    /** Returns the id of the found card, or the error. */
    tryToFind: (code: string, options: Try = {}): Promise<string | AppError> =>
      tryCode(deps, {
        shopId: shop.id,
        code,
        currency: 'USD',
        cartId: 'cart_1',
        customerId: undefined,
        address: '192.0.2.1',
        ...options,
      }).then(
        ({ id }) => id,
        (error: unknown) => {
          if (error instanceof AppError) return error
          throw error
        },
      ),
  }
}

const outcomeKind = (outcome: string | AppError) => (outcome instanceof AppError ? outcome.kind : 'FOUND')
const storedAttempts = async ({ deps }: TestApp) =>
  (await deps.db.read.select().from(attempts)).filter(({ bucket }) => bucket.startsWith('gift-card:'))

describe('gift card codes from shoppers', () => {
  test('finds a gift card by its code in any spelling, and records no failed attempt', async () => {
    await using app = await testApp()
    const { issue, tryToFind } = await shopWithCards(app)
    const { id, code, last4 } = await issue()
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{16}$/)
    expect(code.endsWith(last4)).toBe(true)
    const spaced = code.replace(/.{4}(?=.)/g, '$&-').toLowerCase()
    for (const typed of [code, spaced, ` ${code.replaceAll('0', 'o').replaceAll('1', 'l')} `]) expect(await tryToFind(typed)).toBe(id)
    expect(await storedAttempts(app)).toEqual([])
  })

  test('rejects a gift card code with the same error for every cause', async () => {
    await using app = await testApp()
    const { issue, customer, tryToFind, shop } = await shopWithCards(app)
    const otherShop = await shopWithCards(app)
    const [ann, bob] = [await customer('ann@example.com'), await customer('bob@example.com')]
    const used = await issue()
    await app.deps.db.write((tx) =>
      holdGiftCards(tx, app.deps, { orderId: 'order_1', draws: [{ giftCardId: used.id, last4: used.last4, amount: 5_000 }] }),
    )
    const disabled = await issue()
    await changeGiftCard(app.deps, { shop, actor: system }, disabled.id, { status: 'DISABLED' })
    const expired = await issue({ expiresAt: app.clock.now() + second })
    app.clock.advance(second)
    const cardOfAnn = await issue({ customerId: ann.id })
    const outcomes = [
      await tryToFind(unknownCode),
      await tryToFind(''),
      await tryToFind('no code at all'),
      await tryToFind(used.code),
      await tryToFind(disabled.code),
      await tryToFind(expired.code, { cartId: 'cart_2' }),
      await tryToFind(cardOfAnn.code, { cartId: 'cart_2' }),
      await tryToFind(cardOfAnn.code, { cartId: 'cart_2', customerId: bob.id }),
      await tryToFind((await issue()).code, { cartId: 'cart_2', currency: 'KWD' }),
      await tryToFind((await otherShop.issue()).code, { cartId: 'cart_2' }),
    ]
    for (const outcome of outcomes) {
      expect(outcome).toBeInstanceOf(AppError)
      const { kind, message, cause, retryAfterSeconds } = outcome as AppError
      expect({ kind, message, cause, retryAfterSeconds }).toEqual({
        kind: 'NOT_FOUND',
        message: 'No such gift card',
        cause: undefined,
        retryAfterSeconds: undefined,
      })
    }
    expect(await tryToFind(cardOfAnn.code, { cartId: 'cart_3', customerId: ann.id })).toBe(cardOfAnn.id)
  })

  test('accepts a code until its card expires, and again after the shop extends or enables the card', async () => {
    await using app = await testApp()
    const { issue, tryToFind, shop } = await shopWithCards(app)
    const { id, code } = await issue({ expiresAt: app.clock.now() + second })
    app.clock.advance(second - 1)
    expect(await tryToFind(code)).toBe(id)
    app.clock.advance(1)
    expect(outcomeKind(await tryToFind(code))).toBe('NOT_FOUND')
    const change = (to: Parameters<typeof changeGiftCard>[3]) => changeGiftCard(app.deps, { shop, actor: system }, id, to)
    await change({ expiresAt: null })
    expect(await tryToFind(code)).toBe(id)
    await change({ status: 'DISABLED' })
    expect(outcomeKind(await tryToFind(code))).toBe('NOT_FOUND')
    await change({ status: 'ACTIVE' })
    expect(await tryToFind(code)).toBe(id)
  })

  test('finds a gift card by its code from another process on the same database', async () => {
    await using app = await testApp()
    const { issue, shop } = await shopWithCards(app)
    const { id, code } = await issue()
    const other = await openInstance({ config: app.deps.config, as: 'command', clock: app.clock, log: app.deps.log })
    try {
      const found = await findUsableCard(other.deps, { shopId: shop.id, code, currency: 'USD', customerId: undefined })
      expect(found?.id).toBe(id)
    } finally {
      await other.close()
    }
  })
})

describe('failed attempts with gift card codes', () => {
  test('allows ten failed codes a minute per cart, then rejects even a valid code with Retry-After', async () => {
    await using app = await testApp()
    const { issue, tryToFind } = await shopWithCards(app)
    const { id, code } = await issue()
    for (let nth = 0; nth < 10; nth++) {
      expect(outcomeKind(await tryToFind(unknownCode))).toBe('NOT_FOUND')
      expect(await storedAttempts(app)).toHaveLength(2 * (nth + 1))
      app.clock.advance(second)
    }
    expect(await tryToFind(code)).toMatchObject({
      kind: 'RATE_LIMITED',
      message: 'Too many attempts: try again later',
      retryAfterSeconds: 50,
    })
    expect(await tryToFind(code, { cartId: 'cart_2' })).toBe(id)
    // The window slides: when the oldest failure is a minute old, one more is allowed.
    app.clock.advance(50 * second - 1)
    expect(outcomeKind(await tryToFind(code))).toBe('RATE_LIMITED')
    app.clock.advance(1)
    expect(await tryToFind(code)).toBe(id)
    expect(outcomeKind(await tryToFind(unknownCode))).toBe('NOT_FOUND')
    expect(outcomeKind(await tryToFind(code))).toBe('RATE_LIMITED')
  })

  test('allows ten failed codes a minute per customer, across carts', async () => {
    await using app = await testApp()
    const { issue, tryToFind } = await shopWithCards(app)
    const { id, code } = await issue()
    const mine = { customerId: 'cus_1' }
    for (let nth = 0; nth < 10; nth++)
      expect(outcomeKind(await tryToFind(unknownCode, { ...mine, cartId: `cart_${nth}` }))).toBe('NOT_FOUND')
    expect(await tryToFind(code, { ...mine, cartId: 'cart_new' })).toMatchObject({ kind: 'RATE_LIMITED', retryAfterSeconds: 60 })
    expect(await tryToFind(code, { customerId: 'cus_2', cartId: 'cart_new' })).toBe(id)
    app.clock.advance(minute)
    expect(await tryToFind(code, { ...mine, cartId: 'cart_new' })).toBe(id)
  })

  test('allows thirty failed codes a minute per network address, and does not count callers without an address', async () => {
    await using app = await testApp()
    const { issue, tryToFind } = await shopWithCards(app)
    const { id, code } = await issue()
    for (let nth = 0; nth < 40; nth++)
      expect(outcomeKind(await tryToFind(unknownCode, { cartId: `cart_a${nth}`, address: undefined }))).toBe('NOT_FOUND')
    for (let nth = 0; nth < 30; nth++) expect(outcomeKind(await tryToFind(unknownCode, { cartId: `cart_b${nth}` }))).toBe('NOT_FOUND')
    expect(await tryToFind(code, { cartId: 'cart_new' })).toMatchObject({ kind: 'RATE_LIMITED', retryAfterSeconds: 60 })
    expect(await tryToFind(code, { cartId: 'cart_new', address: '192.0.2.2' })).toBe(id)
    expect(await tryToFind(code, { cartId: 'cart_new', address: undefined })).toBe(id)
    app.clock.advance(minute)
    expect(await tryToFind(code, { cartId: 'cart_new' })).toBe(id)
  })

  test('enforces the limit for parallel failed codes, and accepts parallel valid codes', async () => {
    await using app = await testApp()
    const { issue, tryToFind } = await shopWithCards(app)
    const { id, code } = await issue()
    const found = await Promise.all(Array.from({ length: 40 }, () => tryToFind(code)))
    expect(found).toEqual(Array.from({ length: 40 }, () => id))
    expect(await storedAttempts(app)).toEqual([])
    const outcomes = (await Promise.all(Array.from({ length: 40 }, () => tryToFind(unknownCode)))).map(outcomeKind)
    expect(outcomes.filter((outcome) => outcome === 'NOT_FOUND')).toHaveLength(10)
    expect(outcomes.filter((outcome) => outcome === 'RATE_LIMITED')).toHaveLength(30)
  })

  test('shares failed attempts between processes, and stores no cart, customer or address in clear text', async () => {
    await using app = await testApp()
    const { shop, tryToFind } = await shopWithCards(app)
    for (let nth = 0; nth < 10; nth++) await tryToFind(unknownCode, { customerId: 'cus_secret' })
    const other = await openInstance({ config: app.deps.config, as: 'command', clock: app.clock, log: app.deps.log })
    try {
      const attempt = { shopId: shop.id, code: unknownCode, currency: 'USD', cartId: 'cart_1', customerId: undefined, address: undefined }
      await expect(tryCode(other.deps, attempt)).rejects.toMatchObject({ kind: 'RATE_LIMITED' })
    } finally {
      await other.close()
    }
    const rows = await storedAttempts(app)
    expect(rows).toHaveLength(30)
    expect(JSON.stringify(rows)).not.toMatch(/cart_1|cus_secret|192\.0|ZZZZ/)
  })
})
