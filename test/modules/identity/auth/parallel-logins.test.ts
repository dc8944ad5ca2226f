/** Many logins at once: those that are right get in, those that are wrong are counted, and nobody waits for ever. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { attempts } from '../../../../db/schema/people.ts'
import type { Passwords } from '../../../../src/core/deps.ts'
import { checkPassword } from '../../../../src/modules/identity/auth/service.ts'
import { type Answer, type TestApp, testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const login = (app: TestApp, { email, password }: { email: string; password: string }) =>
  app.call('POST', '/merchant/login', { body: { email, password } })
const times = <T>(count: number, make: (nth: number) => T): T[] => Array.from({ length: count }, (_, nth) => make(nth))
const statuses = (answers: Answer[]) => {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
const counted = async (app: TestApp) => (await app.deps.db.read.select().from(attempts)).length

/** Passwords whose check is under way until it is let go, and a sign of when so many checks are. */
function heldPasswords() {
  let underWay = 0
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const reached = new Map<number, () => void>()
  const passwords: Passwords = {
    hash: async (password) => `hash of ${password}`,
    verify: async (password, hash) => {
      reached.get(++underWay)?.()
      await released
      return hash === `hash of ${password}`
    },
  }
  const whenUnderWay = (count: number) => new Promise<void>((resolve) => reached.set(count, resolve))
  return { passwords, release, whenUnderWay, underWay: () => underWay }
}

describe('at once', () => {
  test('30 right logins at once of one account from one address all succeed', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    expect(statuses(await Promise.all(times(30, () => login(app, merchant))))).toEqual({ 200: 30 })
    expect(await counted(app)).toBe(0)
  })

  test('60 right logins at once of 60 accounts from one address all succeed', async () => {
    await using app = await testApp()
    const merchants = []
    for (let nth = 0; nth < 60; nth++) merchants.push(await app.merchant())
    expect(statuses(await Promise.all(merchants.map((merchant) => login(app, merchant))))).toEqual({ 200: 60 })
    expect(await counted(app)).toBe(0)
  })

  test('30 wrong logins at once are ten refusals, and 20 that say when to come back', async () => {
    await using app = await testApp()
    const { email } = await app.merchant()
    const answers = await Promise.all(times(30, () => login(app, { email, password: 'not the password' })))
    expect(statuses(answers)).toEqual({ 401: 10, 429: 20 })
    for (const { status, headers } of answers) expect(Number(headers.get('retry-after')) > 0).toBe(status === 429)
    expect(await counted(app)).toBe(30)
  })

  test('wrong logins among right ones, at once: every wrong one is refused, none gets in, and more than ten are never checked', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const answers = await Promise.all(
      times(30, async (nth) => ({
        wrong: nth % 3 === 0,
        ...(await login(app, nth % 3 === 0 ? { ...merchant, password: 'wrong' } : merchant)),
      })),
    )
    for (const { wrong, status } of answers) expect(status).toBeOneOf(wrong ? [401, 429] : [200, 429])
    expect(answers.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(10)
  })
})

describe('who waits', () => {
  test('who waits is one of a hundred at most: the others are told at once that it is busy, while ten checks are under way', async () => {
    const { passwords, release, whenUnderWay, underWay } = heldPasswords()
    await using app = await testApp({}, { passwords })
    const merchant = await app.merchant()
    const tenAtWork = whenUnderWay(10)
    const first = times(10, () => login(app, merchant))
    await tenAtWork
    const told: Answer[] = []
    let enough = () => {}
    const thirtyTold = new Promise<void>((resolve) => {
      enough = resolve
    })
    const later = times(130, async () => {
      const answer = await login(app, merchant)
      if (told.push(answer) === 30) enough()
      return answer
    })
    await thirtyTold
    expect(statuses(told)).toEqual({ 503: 30 })
    for (const { headers } of told) expect(headers.get('retry-after')).toBe('10')
    expect(underWay()).toBe(10)
    release()
    expect(statuses(await Promise.all([...first, ...later]))).toEqual({ 200: 110, 503: 30 })
    expect(await counted(app)).toBe(0)
  })

  test('who waits is let in too when the last of the others ends while the limit is being counted', async () => {
    const { passwords, release, whenUnderWay } = heldPasswords()
    await using app = await testApp({}, { passwords })
    const { deps } = app
    const account = { kind: 'merchant', name: 'user a@b.example', hash: 'hash of right' } as const
    const attempt = { address: '203.0.113.9', password: 'right' }
    const tenAtWork = whenUnderWay(10)
    const ten = times(10, () => checkPassword(deps, account, attempt))
    await tenAtWork
    // The count is made before the ten end, and its answer arrives after.
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
    expect(await counted(app)).toBe(0)
  })

  test('who waits does not wait where the failures are there already: nobody is at work, and the answer is 429', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    for (let nth = 0; nth < 10; nth++) await login(app, { ...merchant, password: 'not the password' })
    expect(statuses(await Promise.all(times(20, () => login(app, merchant))))).toEqual({ 429: 20 })
  })

  test('who waits goes on when a check under way breaks', async () => {
    const { passwords, release, whenUnderWay } = heldPasswords()
    let checks = 0
    const breaking: Passwords = {
      ...passwords,
      verify: async (password, hash, turn) => {
        const nth = ++checks
        const matches = await passwords.verify(password, hash, turn)
        if (nth <= 10) throw new Error('broken')
        return matches
      },
    }
    await using app = await testApp({}, { passwords: breaking })
    const merchant = await app.merchant()
    const tenAtWork = whenUnderWay(10)
    const answers = times(15, () => login(app, merchant))
    await tenAtWork
    release()
    expect(statuses(await Promise.all(answers))).toEqual({ 200: 5, 500: 10 })
    expect(await counted(app)).toBe(0)
  })
})

test('a merchant logs in before most of eight customers, who came first and from the same address, and rightly', async () => {
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
  expect(statuses(await Promise.all([...asCustomers, asMerchant]))).toEqual({ 200: 9 })
  expect(answered.indexOf('merchant')).toBeLessThan(5)
})
