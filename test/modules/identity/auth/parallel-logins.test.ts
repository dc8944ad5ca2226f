/** Tests concurrent logins: valid ones succeed, failed ones are counted, and waiting is bounded. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { attempts } from '../../../../db/schema/people.ts'
import type { Passwords } from '../../../../src/core/deps.ts'
import { checkPassword } from '../../../../src/modules/identity/auth/service.ts'
import { type Answer, type TestApp, testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const login = (app: TestApp, { email, password }: { email: string; password: string }) =>
  app.call('POST', '/merchant/login', { body: { email, password } })
const times = <T>(count: number, create: (nth: number) => T): T[] => Array.from({ length: count }, (_, nth) => create(nth))
const countStatuses = (answers: Answer[]) => {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
const countAttempts = async (app: TestApp) => (await app.deps.db.read.select().from(attempts)).length

/** Returns passwords whose checks block until `release`, and a promise for a number of checks in flight. */
function createBlockedPasswords() {
  let inFlight = 0
  let release = () => {}
  const unblocked = new Promise<void>((resolve) => {
    release = resolve
  })
  const waiters = new Map<number, () => void>()
  const passwords: Passwords = {
    hash: async (password) => `hash of ${password}`,
    verify: async (password, hash) => {
      waiters.get(++inFlight)?.()
      await unblocked
      return hash === `hash of ${password}`
    },
  }
  const whenInFlight = (count: number) => new Promise<void>((resolve) => waiters.set(count, resolve))
  return { passwords, release, whenInFlight, inFlightCount: () => inFlight }
}

describe('concurrent logins', () => {
  test('30 valid logins of one account from one address all succeed', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    expect(countStatuses(await Promise.all(times(30, () => login(app, merchant))))).toEqual({ 200: 30 })
    expect(await countAttempts(app)).toBe(0)
  })

  test('60 valid logins of 60 accounts from one address all succeed', async () => {
    await using app = await testApp()
    const merchants = []
    for (let nth = 0; nth < 60; nth++) merchants.push(await app.merchant())
    expect(countStatuses(await Promise.all(merchants.map((merchant) => login(app, merchant))))).toEqual({ 200: 60 })
    expect(await countAttempts(app)).toBe(0)
  })

  test('of 30 failed logins, ten get 401 and 20 get 429 with retry-after', async () => {
    await using app = await testApp()
    const { email } = await app.merchant()
    const answers = await Promise.all(times(30, () => login(app, { email, password: 'not the password' })))
    expect(countStatuses(answers)).toEqual({ 401: 10, 429: 20 })
    for (const { status, headers } of answers) expect(Number(headers.get('retry-after')) > 0).toBe(status === 429)
    expect(await countAttempts(app)).toBe(30)
  })

  test('among concurrent valid and failed logins, a failed one gets 401 or 429, and at most ten get 401', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const answers = await Promise.all(
      times(30, async (nth) => ({
        isWrong: nth % 3 === 0,
        ...(await login(app, nth % 3 === 0 ? { ...merchant, password: 'wrong' } : merchant)),
      })),
    )
    for (const { isWrong, status } of answers) expect(status).toBeOneOf(isWrong ? [401, 429] : [200, 429])
    expect(answers.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(10)
  })
})

describe('waiting logins', () => {
  test('at most a hundred logins wait while ten checks are in flight, and further ones get 503 at once', async () => {
    const { passwords, release, whenInFlight, inFlightCount } = createBlockedPasswords()
    await using app = await testApp({}, { passwords })
    const merchant = await app.merchant()
    const tenInFlight = whenInFlight(10)
    const first = times(10, () => login(app, merchant))
    await tenInFlight
    const refused: Answer[] = []
    let resolveThirty = () => {}
    const thirtyRefused = new Promise<void>((resolve) => {
      resolveThirty = resolve
    })
    const further = times(130, async () => {
      const answer = await login(app, merchant)
      if (refused.push(answer) === 30) resolveThirty()
      return answer
    })
    await thirtyRefused
    expect(countStatuses(refused)).toEqual({ 503: 30 })
    for (const { headers } of refused) expect(headers.get('retry-after')).toBe('10')
    expect(inFlightCount()).toBe(10)
    release()
    expect(countStatuses(await Promise.all([...first, ...further]))).toEqual({ 200: 110, 503: 30 })
    expect(await countAttempts(app)).toBe(0)
  })

  test('a waiting login succeeds even if the last check ends while its limit is counted', async () => {
    const { passwords, release, whenInFlight } = createBlockedPasswords()
    await using app = await testApp({}, { passwords })
    const { deps } = app
    const account = { kind: 'merchant', name: 'user a@b.example', hash: 'hash of right' } as const
    const attempt = { address: '203.0.113.9', password: 'right' }
    const tenInFlight = whenInFlight(10)
    const ten = times(10, () => checkPassword(deps, account, attempt))
    await tenInFlight
    // The write that counts starts before the ten checks end, and resolves afterwards.
    let isCounted = () => {}
    const whenCounted = new Promise<void>((resolve) => {
      isCounted = resolve
    })
    const write: typeof deps.db.write = async (work) => {
      const result = await deps.db.write(work)
      isCounted()
      await Promise.all(ten)
      return result
    }
    const eleventh = checkPassword({ ...deps, db: { ...deps.db, write } }, account, attempt)
    await whenCounted
    release()
    expect(await eleventh).toBeUndefined()
    expect(await countAttempts(app)).toBe(0)
  })

  test('logins get 429 without waiting if the limit of failures is already reached', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    for (let nth = 0; nth < 10; nth++) await login(app, { ...merchant, password: 'not the password' })
    expect(countStatuses(await Promise.all(times(20, () => login(app, merchant))))).toEqual({ 429: 20 })
  })

  test('waiting logins continue when a check in flight throws', async () => {
    const { passwords, release, whenInFlight } = createBlockedPasswords()
    let checks = 0
    const failingPasswords: Passwords = {
      ...passwords,
      verify: async (password, hash, turn) => {
        const nth = ++checks
        const matches = await passwords.verify(password, hash, turn)
        if (nth <= 10) throw new Error('broken')
        return matches
      },
    }
    await using app = await testApp({}, { passwords: failingPasswords })
    const merchant = await app.merchant()
    const tenInFlight = whenInFlight(10)
    const answers = times(15, () => login(app, merchant))
    await tenInFlight
    release()
    expect(countStatuses(await Promise.all(answers))).toEqual({ 200: 5, 500: 10 })
    expect(await countAttempts(app)).toBe(0)
  })
})

test('the login of a merchant overtakes most of eight earlier customer logins from the same address, and all succeed', async () => {
  await using app = await testApp({}, { realPasswords: true })
  const merchant = await app.merchant()
  const password = 'the password of a customer'
  const emails = times(5, (nth) => `customer${nth}@example.com`)
  for (const email of emails) await app.call('POST', '/customer/signup', { body: { shopName: merchant.shop.name, email, password } })
  const answered: string[] = []
  const asCustomers = times(8, async (nth) => {
    const answer = await app.call('POST', '/customer/login', { body: { shopName: merchant.shop.name, email: emails[nth % 5], password } })
    answered.push('customer')
    return answer
  })
  const asMerchant = login(app, merchant).then((answer) => {
    answered.push('merchant')
    return answer
  })
  expect(countStatuses(await Promise.all([...asCustomers, asMerchant]))).toEqual({ 200: 9 })
  expect(answered.indexOf('merchant')).toBeLessThan(5)
})
