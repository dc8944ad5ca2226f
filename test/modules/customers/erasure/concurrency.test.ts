/** Erases a customer from another process during a purchase: exactly one of the two succeeds. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { finishErasures } from '../../../../jobs/finish-erasures.ts'
import { system } from '../../../../src/core/command-context.ts'
import { AppError } from '../../../../src/core/errors.ts'
import { eraseCustomer } from '../../../../src/modules/customers/erasure/index.ts'
import { testApp } from '../../../support/app.ts'
import { booksOf, violationsOf } from '../../../support/books.ts'
import { commandBeside } from '../../../support/command-process.ts'
import { planted, plantedAddress, tracesOf } from '../../../support/personal-data.ts'
import { customerOf, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minute = 60_000
const acts = ['checkout', 'cart', 'address', 'rename', 'login', 'guest', 'add', 'forgot', 'decline'] as const
type Act = (typeof acts)[number]

test('either erases a customer or accepts the checkout when both run at the same time', async () => {
  await using app = await testApp()
  await using beside = await commandBeside(app)
  const shop = await sellingIn(app, { onHand: 10_000 })
  const outcomes = new Map<string, number>()
  let round = 0
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.constantFrom<Act>(...acts), { minLength: 1 }),
      fc.integer({ min: 0, max: 9 }),
      // Turns of the loop before the erasure begins; -1: behind all others.
      fc.integer({ min: -1, max: 40 }),
      async (chosen, at, turns) => {
        // Each round uses another person without earlier data.
        const mark = `${planted.email.replace('@', `${++round}@`)}`
        const name = `${planted.name} ${round}.`
        const place = { shippingAddress: { ...plantedAddress, name } }
        const login = { shopName: shop.shop.name, email: mark, password: 'a password of theirs' }
        const { id, token } = await customerOf(app, shop.shop.name, mark)
        const cartId = await shop.cart({ token, email: mark, ...place })
        const own = (method: string, path: string, body: unknown) =>
          app.call(method, path, { token, body, headers: { 'idempotency-key': randomUUID() } })
        const run: Record<Act, () => Promise<{ status: number; body: unknown }>> = {
          checkout: () => shop.checkout(cartId, {}, randomUUID(), token),
          decline: () => shop.checkout(cartId, { paymentToken: 'tok_decline' }, randomUUID(), token),
          cart: () => own('POST', '/cart', { email: mark, ...place }),
          address: () => own('POST', '/customer/me/addresses', { ...plantedAddress, name }),
          rename: () => own('PATCH', '/customer/me', { name }),
          login: () => app.call('POST', '/customer/login', { body: login }),
          guest: () => shop.cart({ email: `guest${round}@example.com` }).then((cart) => shop.checkout(cart)),
          add: () => shop.post(`/customer/${id}/addresses`, { ...plantedAddress, name }),
          forgot: () => app.call('POST', '/auth/password/forgot', { body: { email: mark, shopName: shop.shop.name } }),
        }
        const erasing = async () => {
          for (let turn = 0; turn < turns; turn++) await new Promise((resume) => setImmediate(resume))
          try {
            await eraseCustomer(beside.deps, { shop: { id: shop.shop.id }, actor: system }, id)
            return 200
          } catch (error) {
            if (error instanceof AppError && error.kind === 'CONFLICT') return 409
            throw error
          }
        }
        const works: (() => Promise<unknown>)[] = chosen.map((act) => run[act])
        works.splice(Math.min(at, works.length), 0, erasing)
        const others = turns < 0 ? await Promise.all(works.filter((work) => work !== erasing).map((work) => work())) : []
        const results =
          turns < 0 ? others.toSpliced(Math.min(at, chosen.length), 0, await erasing()) : await Promise.all(works.map((work) => work()))
        const erased = results[Math.min(at, chosen.length)]
        const answers = results.filter((_, nth) => nth !== Math.min(at, chosen.length)) as { status: number; body: unknown }[]
        for (const [nth, { status, body }] of answers.entries())
          expect([chosen[nth], status < 500, body]).toEqual([chosen[nth] as Act, true, body])
        await app.deps.backgroundTasks.whenIdle()
        app.clock.advance(3 * minute)
        await finishErasures(app.deps)
        const bought = answers.some(({ status }, nth) => status === 201 && (chosen[nth] === 'checkout' || chosen[nth] === 'decline'))
        outcomes.set(`${erased}${bought ? ' bought' : ''}`, (outcomes.get(`${erased}${bought ? ' bought' : ''}`) ?? 0) + 1)
        if (erased === 200) {
          expect(bought).toBe(false)
          expect(await tracesOf(app, [name, mark])).toEqual([])
          expect(ok(await shop.get(`/customer/${id}`)).body.name).toBe('')
        } else {
          expect(bought).toBe(true)
          expect(ok(await shop.get(`/customer/${id}`)).body.email).toBe(mark)
        }
        expect(await violationsOf(await booksOf(app))).toEqual([])
      },
    ),
    {
      numRuns: 20,
      examples: [
        [['checkout'], 1, -1],
        [['cart', 'forgot'], 0, 0],
      ],
    },
  )
  // Both happened, or the test has tried nothing.
  expect([...outcomes.keys()].sort()).toEqual(['200', '409 bought'])
})
