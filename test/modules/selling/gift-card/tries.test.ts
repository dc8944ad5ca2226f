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
const wrong = 'ZZZZ-ZZZZ-ZZZZ-ZZZZ'

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
    /** The id of the card, or the refusal. */
    tried: (code: string, more: Try = {}): Promise<string | AppError> =>
      tryCode(deps, {
        shopId: shop.id,
        code,
        currency: 'USD',
        cartId: 'cart_1',
        customerId: undefined,
        address: '192.0.2.1',
        ...more,
      }).then(
        ({ id }) => id,
        (error: unknown) => {
          if (error instanceof AppError) return error
          throw error
        },
      ),
  }
}

const codeOf = (outcome: string | AppError) => (outcome instanceof AppError ? outcome.kind : 'FOUND')
const left = async ({ deps }: TestApp) =>
  (await deps.db.read.select().from(attempts)).filter(({ bucket }) => bucket.startsWith('gift-card:'))

describe('gift card codes from shoppers', () => {
  test('finds a gift card by its code in any spelling, and records no failed attempt', async () => {
    await using app = await testApp()
    const { issue, tried } = await shopWithCards(app)
    const { id, code, last4 } = await issue()
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{16}$/)
    expect(code.endsWith(last4)).toBe(true)
    const spaced = code.replace(/.{4}(?=.)/g, '$&-').toLowerCase()
    for (const typed of [code, spaced, ` ${code.replaceAll('0', 'o').replaceAll('1', 'l')} `]) expect(await tried(typed)).toBe(id)
    expect(await left(app)).toEqual([])
  })

  test('rejects a gift card code with the same error for every cause', async () => {
    await using app = await testApp()
    const { issue, customer, tried, shop } = await shopWithCards(app)
    const elsewhere = await shopWithCards(app)
    const [ann, bob] = [await customer('ann@example.com'), await customer('bob@example.com')]
    const used = await issue()
    await app.deps.db.write((tx) =>
      holdGiftCards(tx, app.deps, { orderId: 'order_1', draws: [{ giftCardId: used.id, last4: used.last4, amount: 5_000 }] }),
    )
    const disabled = await issue()
    await changeGiftCard(app.deps, { shop, actor: system }, disabled.id, { status: 'DISABLED' })
    const expired = await issue({ expiresAt: app.clock.now() + second })
    app.clock.advance(second)
    const anns = await issue({ customerId: ann.id })
    const outcomes = [
      await tried(wrong),
      await tried(''),
      await tried('no code at all'),
      await tried(used.code),
      await tried(disabled.code),
      await tried(expired.code, { cartId: 'cart_2' }),
      await tried(anns.code, { cartId: 'cart_2' }),
      await tried(anns.code, { cartId: 'cart_2', customerId: bob.id }),
      await tried((await issue()).code, { cartId: 'cart_2', currency: 'KWD' }),
      await tried((await elsewhere.issue()).code, { cartId: 'cart_2' }),
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
    expect(await tried(anns.code, { cartId: 'cart_3', customerId: ann.id })).toBe(anns.id)
  })

  test('accepts a code until its card expires, and again after the shop extends or enables the card', async () => {
    await using app = await testApp()
    const { issue, tried, shop } = await shopWithCards(app)
    const { id, code } = await issue({ expiresAt: app.clock.now() + second })
    app.clock.advance(second - 1)
    expect(await tried(code)).toBe(id)
    app.clock.advance(1)
    expect(codeOf(await tried(code))).toBe('NOT_FOUND')
    const change = (to: Parameters<typeof changeGiftCard>[3]) => changeGiftCard(app.deps, { shop, actor: system }, id, to)
    await change({ expiresAt: null })
    expect(await tried(code)).toBe(id)
    await change({ status: 'DISABLED' })
    expect(codeOf(await tried(code))).toBe('NOT_FOUND')
    await change({ status: 'ACTIVE' })
    expect(await tried(code)).toBe(id)
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
    const { issue, tried } = await shopWithCards(app)
    const { id, code } = await issue()
    for (let nth = 0; nth < 10; nth++) {
      expect(codeOf(await tried(wrong))).toBe('NOT_FOUND')
      expect(await left(app)).toHaveLength(2 * (nth + 1))
      app.clock.advance(second)
    }
    expect(await tried(code)).toMatchObject({ kind: 'RATE_LIMITED', message: 'Too many attempts: try again later', retryAfterSeconds: 50 })
    expect(await tried(code, { cartId: 'cart_2' })).toBe(id)
    // The window slides: once the oldest failure has left it there is room for one.
    app.clock.advance(50 * second - 1)
    expect(codeOf(await tried(code))).toBe('RATE_LIMITED')
    app.clock.advance(1)
    expect(await tried(code)).toBe(id)
    expect(codeOf(await tried(wrong))).toBe('NOT_FOUND')
    expect(codeOf(await tried(code))).toBe('RATE_LIMITED')
  })

  test('allows ten failed codes a minute per customer, across carts', async () => {
    await using app = await testApp()
    const { issue, tried } = await shopWithCards(app)
    const { id, code } = await issue()
    const mine = { customerId: 'cus_1' }
    for (let nth = 0; nth < 10; nth++) expect(codeOf(await tried(wrong, { ...mine, cartId: `cart_${nth}` }))).toBe('NOT_FOUND')
    expect(await tried(code, { ...mine, cartId: 'cart_new' })).toMatchObject({ kind: 'RATE_LIMITED', retryAfterSeconds: 60 })
    expect(await tried(code, { customerId: 'cus_2', cartId: 'cart_new' })).toBe(id)
    app.clock.advance(minute)
    expect(await tried(code, { ...mine, cartId: 'cart_new' })).toBe(id)
  })

  test('allows thirty failed codes a minute per network address, and does not count callers without an address', async () => {
    await using app = await testApp()
    const { issue, tried } = await shopWithCards(app)
    const { id, code } = await issue()
    for (let nth = 0; nth < 40; nth++) expect(codeOf(await tried(wrong, { cartId: `cart_a${nth}`, address: undefined }))).toBe('NOT_FOUND')
    for (let nth = 0; nth < 30; nth++) expect(codeOf(await tried(wrong, { cartId: `cart_b${nth}` }))).toBe('NOT_FOUND')
    expect(await tried(code, { cartId: 'cart_new' })).toMatchObject({ kind: 'RATE_LIMITED', retryAfterSeconds: 60 })
    expect(await tried(code, { cartId: 'cart_new', address: '192.0.2.2' })).toBe(id)
    expect(await tried(code, { cartId: 'cart_new', address: undefined })).toBe(id)
    app.clock.advance(minute)
    expect(await tried(code, { cartId: 'cart_new' })).toBe(id)
  })

  test('enforces the limit for parallel failed codes, and accepts parallel valid codes', async () => {
    await using app = await testApp()
    const { issue, tried } = await shopWithCards(app)
    const { id, code } = await issue()
    const right = await Promise.all(Array.from({ length: 40 }, () => tried(code)))
    expect(right).toEqual(Array.from({ length: 40 }, () => id))
    expect(await left(app)).toEqual([])
    const outcomes = (await Promise.all(Array.from({ length: 40 }, () => tried(wrong)))).map(codeOf)
    expect(outcomes.filter((outcome) => outcome === 'NOT_FOUND')).toHaveLength(10)
    expect(outcomes.filter((outcome) => outcome === 'RATE_LIMITED')).toHaveLength(30)
  })

  test('shares failed attempts between processes, and stores no cart, customer or address in clear text', async () => {
    await using app = await testApp()
    const { shop, tried } = await shopWithCards(app)
    for (let nth = 0; nth < 10; nth++) await tried(wrong, { customerId: 'cus_secret' })
    const other = await openInstance({ config: app.deps.config, as: 'command', clock: app.clock, log: app.deps.log })
    try {
      const again = { shopId: shop.id, code: wrong, currency: 'USD', cartId: 'cart_1', customerId: undefined, address: undefined }
      await expect(tryCode(other.deps, again)).rejects.toMatchObject({ kind: 'RATE_LIMITED' })
    } finally {
      await other.close()
    }
    const rows = await left(app)
    expect(rows).toHaveLength(30)
    expect(JSON.stringify(rows)).not.toMatch(/cart_1|cus_secret|192\.0|ZZZZ/)
  })
})
