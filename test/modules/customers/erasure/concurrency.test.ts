/** Tests an erasure by another process during a purchase: exactly one of the two succeeds. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { system } from '../../../../src/core/command-context.ts'
import { AppError } from '../../../../src/core/errors.ts'
import { eraseCustomer, finishPendingErasures } from '../../../../src/modules/customers/erasure/index.ts'
import { testApp } from '../../../support/app.ts'
import { booksOf, violationsOf } from '../../../support/books.ts'
import { openCommandInstance } from '../../../support/command-process.ts'
import { plantedAddress, plantedPerson, tracesOf } from '../../../support/personal-data.ts'
import { customerOf, ok, sellingIn } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const minute = 60_000
const actions = ['checkout', 'cart', 'address', 'rename', 'login', 'guest', 'add', 'forgot', 'decline'] as const
type Action = (typeof actions)[number]

test('either erases a customer or accepts the checkout when both run at the same time', async () => {
  await using app = await testApp()
  await using otherProcess = await openCommandInstance(app)
  const shop = await sellingIn(app, { onHand: 10_000 })
  const outcomes = new Map<string, number>()
  let round = 0
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.constantFrom<Action>(...actions), { minLength: 1 }),
      fc.integer({ min: 0, max: 9 }),
      // Turns of the event loop before the erasure starts. -1: it starts after all other actions.
      fc.integer({ min: -1, max: 40 }),
      async (selected, at, turns) => {
        // Each round uses a new customer without earlier data.
        const email = `${plantedPerson.email.replace('@', `${++round}@`)}`
        const name = `${plantedPerson.name} ${round}.`
        const addressFields = { shippingAddress: { ...plantedAddress, name } }
        const login = { shopName: shop.shop.name, email: email, password: 'a password of theirs' }
        const { id, token } = await customerOf(app, shop.shop.name, email)
        const cartId = await shop.cart({ token, email: email, ...addressFields })
        const callAsCustomer = (method: string, path: string, body: unknown) =>
          app.call(method, path, { token, body, headers: { 'idempotency-key': randomUUID() } })
        const run: Record<Action, () => Promise<{ status: number; body: unknown }>> = {
          checkout: () => shop.checkout(cartId, {}, randomUUID(), token),
          decline: () => shop.checkout(cartId, { paymentToken: 'tok_decline' }, randomUUID(), token),
          cart: () => callAsCustomer('POST', '/cart', { email: email, ...addressFields }),
          address: () => callAsCustomer('POST', '/customer/me/addresses', { ...plantedAddress, name }),
          rename: () => callAsCustomer('PATCH', '/customer/me', { name }),
          login: () => app.call('POST', '/customer/login', { body: login }),
          guest: () => shop.cart({ email: `guest${round}@example.com` }).then((cart) => shop.checkout(cart)),
          add: () => shop.post(`/customer/${id}/addresses`, { ...plantedAddress, name }),
          forgot: () => app.call('POST', '/auth/password/forgot', { body: { email: email, shopName: shop.shop.name } }),
        }
        const erase = async () => {
          for (let turn = 0; turn < turns; turn++) await new Promise((resume) => setImmediate(resume))
          try {
            await eraseCustomer(otherProcess.deps, { shop: { id: shop.shop.id }, actor: system }, id)
            return 200
          } catch (error) {
            if (error instanceof AppError && error.kind === 'CONFLICT') return 409
            throw error
          }
        }
        const tasks: (() => Promise<unknown>)[] = selected.map((action) => run[action])
        tasks.splice(Math.min(at, tasks.length), 0, erase)
        const others = turns < 0 ? await Promise.all(tasks.filter((work) => work !== erase).map((work) => work())) : []
        const results =
          turns < 0 ? others.toSpliced(Math.min(at, selected.length), 0, await erase()) : await Promise.all(tasks.map((work) => work()))
        const erased = results[Math.min(at, selected.length)]
        const answers = results.filter((_, nth) => nth !== Math.min(at, selected.length)) as { status: number; body: unknown }[]
        for (const [nth, { status, body }] of answers.entries())
          expect([selected[nth], status < 500, body]).toEqual([selected[nth] as Action, true, body])
        await app.deps.backgroundTasks.whenIdle()
        app.clock.advance(3 * minute)
        await finishPendingErasures(app.deps)
        const hasOrder = answers.some(({ status }, nth) => status === 201 && (selected[nth] === 'checkout' || selected[nth] === 'decline'))
        outcomes.set(`${erased}${hasOrder ? ' bought' : ''}`, (outcomes.get(`${erased}${hasOrder ? ' bought' : ''}`) ?? 0) + 1)
        if (erased === 200) {
          expect(hasOrder).toBe(false)
          expect(await tracesOf(app, [name, email])).toEqual([])
          expect(ok(await shop.get(`/customer/${id}`)).body.name).toBe('')
        } else {
          expect(hasOrder).toBe(true)
          expect(ok(await shop.get(`/customer/${id}`)).body.email).toBe(email)
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
  // Both outcomes occurred. Otherwise the test proves nothing.
  expect([...outcomes.keys()].sort()).toEqual(['200', '409 bought'])
})
