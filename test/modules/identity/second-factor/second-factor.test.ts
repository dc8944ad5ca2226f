/** Tests the second factor of merchants and operators: setup, confirmation, logins, recovery codes and removal. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { attempts, auditLog } from '../../../../db/schema/people.ts'
import { secondFactors } from '../../../../db/schema/second-factor.ts'
import { findFaultySeals } from '../../../../src/modules/identity/master-key/index.ts'
import { removeSecondFactor, resetUserPassword } from '../../../../src/modules/identity/merchant/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { customerIn } from '../../../support/customers.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { beginTotp, codeAt, enableTotp } from '../../../support/totp.ts'

setDefaultTimeout(longTestMs)

type Person = { id: string; email: string; password: string; token: string }
const step = 30_000
const minute = 60_000
const lockMs = 15 * minute

const logIn = (app: TestApp, { email, password }: Pick<Person, 'email' | 'password'>, code?: unknown, from = '127.0.0.1') =>
  app.call('POST', '/merchant/login', { body: { email, password, ...(code === undefined ? {} : { code }) }, from })
const remove = (app: TestApp, { token }: Person, body: unknown) => app.call('DELETE', '/auth/totp', { token, body })
const auditRowsOf = async (app: TestApp, action: string) =>
  app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, action)).orderBy(auditLog.id)
const rowOf = async (app: TestApp, { id }: Person) =>
  (await app.deps.db.read.select().from(secondFactors).where(eq(secondFactors.userId, id)))[0]
/** Advances the clock by a step and returns its code, which is unused. */
const nextCode = (app: TestApp, secret: string): string => {
  app.clock.advance(step)
  return codeAt(secret, app.clock.now())
}
/** Returns six digits that are not the code of a nearby step. */
const wrongCode = (app: TestApp, secret: string): string => {
  const near = [-2, -1, 0, 1, 2].map((steps) => codeAt(secret, app.clock.now(), steps))
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !near.includes(code)) ?? ''
}

describe('beginning a second factor', () => {
  test('a new secret is shown once, stored sealed, and not required at login before its confirmation', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const { status, body, headers } = await app.call('POST', '/auth/totp', { token: merchant.token, body: { password: merchant.password } })
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store'])
    expect(body).toEqual({
      secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
      otpauthUri: `otpauth://totp/souk:merchant1%40example.com?secret=${body.secret}&issuer=souk&algorithm=SHA1&digits=6&period=30`,
    })
    expect((await logIn(app, merchant)).status).toBe(200)
    expect((await logIn(app, merchant, 'anything')).status).toBe(200)
    const row = await rowOf(app, merchant)
    expect(row?.sealedSecret.startsWith(`${app.deps.keyring.encryption()[0]?.version}.`)).toBe(true)
    expect(JSON.stringify([row, await app.deps.db.read.select().from(auditLog), app.logged])).not.toContain(body.secret)
  })

  test('a secret opens only for its owner, and souk check reports one that does not open', async () => {
    await using app = await testApp()
    const [merchant, other] = [await app.merchant(), await app.merchant()]
    await enableTotp(app, merchant)
    await enableTotp(app, other)
    expect(await findFaultySeals(app.deps)).toEqual({ closed: [], outdated: [] })
    const sealedSecret = (await rowOf(app, other))?.sealedSecret ?? ''
    await app.deps.db.write((tx) => tx.update(secondFactors).set({ sealedSecret }).where(eq(secondFactors.userId, merchant.id)))
    expect(await findFaultySeals(app.deps)).toEqual({ closed: [{ table: 'second_factors', rows: 1 }], outdated: [] })
    expect((await logIn(app, merchant, '123456')).status).toBe(500)
  })

  test('beginning requires the password, and a wrong one counts as a failed login', async () => {
    await using app = await testApp()
    const { token, email, password } = await app.merchant()
    const begin = (body: object) => app.call('POST', '/auth/totp', { token, body })
    const { status, body } = await begin({})
    expect([status, body.message]).toEqual([400, expect.stringMatching(/^password: /)])
    for (let nth = 0; nth < 10; nth++) {
      const refused = await begin({ password: `wrong ${nth}` })
      expect([refused.status, refused.body.message, refused.body.error]).toEqual([401, 'The password is wrong', 'Unauthorized'])
    }
    expect((await begin({ password })).status).toBe(429)
    expect((await app.call('POST', '/merchant/login', { body: { email, password } })).status).toBe(429)
    expect(await app.deps.db.read.select().from(secondFactors)).toEqual([])
  })

  test('beginning again replaces the secret, and only the last one can be confirmed', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const { token, password } = merchant
    const [first, second] = [await beginTotp(app, merchant), await beginTotp(app, merchant)]
    const confirm = (secret: string) => app.call('POST', '/auth/totp/confirm', { token, body: { code: codeAt(secret, app.clock.now()) } })
    expect([first === second, (await confirm(first)).status, (await confirm(second)).status]).toEqual([false, 401, 200])
    expect((await app.call('POST', '/auth/totp', { token, body: { password } })).status).toBe(409)
    expect((await confirm(second)).status).toBe(409)
  })

  test('only the current six digits confirm the second factor', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const { token } = merchant
    const confirm = (code: unknown) => app.call('POST', '/auth/totp/confirm', { token, body: { code } })
    expect((await confirm('123456')).status).toBe(409)
    const secret = await beginTotp(app, merchant)
    const good = codeAt(secret, app.clock.now())
    const arabic = [...good].map((digit) => String.fromCharCode(0x660 + Number(digit))).join('')
    for (const code of [wrongCode(app, secret), `${good}0`, `0${good}`, good.slice(1), arabic, ' ', `${good}\n`])
      expect([code, (await confirm(code)).status]).toEqual([code, 401])
    for (const code of ['', 123456, null, ['1'], 'x'.repeat(65)]) expect([code, (await confirm(code)).status]).toEqual([code, 400])
    expect((await confirm(good)).status).toBe(200)
  })

  test('a second factor that is not confirmed expires after an hour', async () => {
    await using app = await testApp({ ACCESS_TOKEN_SECONDS: '86400' })
    const merchant = await app.merchant()
    const { token } = merchant
    const secret = await beginTotp(app, merchant)
    app.clock.advance(60 * minute)
    const expired = await app.call('POST', '/auth/totp/confirm', { token, body: { code: codeAt(secret, app.clock.now()) } })
    expect([expired.status, expired.body.message]).toEqual([409, 'No second factor was started within the last hour. Start again'])
  })

  test('a confirmation ends the sessions that began without it, except the one that confirms', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const other = (await logIn(app, merchant)).body.data
    await enableTotp(app, merchant)
    const readMe = async (token: string) => (await app.call('GET', '/merchant/me', { token })).status
    expect([await readMe(merchant.token), await readMe(other.accessToken)]).toEqual([200, 401])
    expect((await app.call('POST', '/auth/refresh', { body: { refreshToken: other.refreshToken } })).status).toBe(401)
  })

  test('concurrent confirmations return one set of recovery codes', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const { token } = merchant
    const code = codeAt(await beginTotp(app, merchant), app.clock.now())
    const answers = await Promise.all([1, 2].map(() => app.call('POST', '/auth/totp/confirm', { token, body: { code } })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  for (const kind of ['merchant', 'superAdmin'] as const)
    test(`a ${kind} reads whether the second factor is on and how many recovery codes are left`, async () => {
      await using app = await testApp()
      const person: Person = await app[kind]()
      const readStatus = async (token = person.token) => (await app.call('GET', '/auth/totp', { token })).body
      const off = { enabled: false, recoveryCodesLeft: 0 }
      expect(await readStatus()).toEqual(off)
      await beginTotp(app, person)
      expect(await readStatus()).toEqual(off)
      const { recoveryCodes } = await enableTotp(app, person)
      expect(await readStatus()).toEqual({ enabled: true, recoveryCodesLeft: 10 })
      const { body } = await logIn(app, person, recoveryCodes[0])
      expect(await readStatus(body.data.accessToken)).toEqual({ enabled: true, recoveryCodesLeft: 9 })
      expect(await readStatus((await app.merchant()).token)).toEqual(off)
      expect((await app.call('GET', '/auth/totp', {})).status).toBe(401)
      expect((await remove(app, person, { password: person.password, code: recoveryCodes[1] })).status).toBe(204)
      expect(await readStatus()).toEqual(off)
    })

  test('customers and API keys have no second factor', async () => {
    await using app = await testApp()
    const { shop, secretKey } = await app.merchant()
    const { token } = await customerIn(app, shop)
    for (const [method, path] of [
      ['GET', '/auth/totp'],
      ['POST', '/auth/totp'],
      ['POST', '/auth/totp/confirm'],
      ['DELETE', '/auth/totp'],
    ] as const) {
      expect((await app.call(method, path, { token, body: {} })).status).toBe(403)
      expect((await app.call(method, path, { key: secretKey, body: {} })).status).toBe(401)
    }
  })
})

describe('logging in with a second factor', () => {
  for (const kind of ['merchant', 'superAdmin'] as const)
    test(`a ${kind} needs a code after the password, and each code works once`, async () => {
      await using app = await testApp()
      const person: Person = await app[kind]()
      const { secret } = await enableTotp(app, person)
      const codeRequired = await logIn(app, person)
      expect([codeRequired.status, codeRequired.body]).toEqual([
        401,
        {
          statusCode: 401,
          message: 'Send the code of your authenticator app, or a recovery code, as `code`',
          error: 'TOTP_REQUIRED',
          code: 'totp_required',
        },
      ])
      const usedCode = codeAt(secret, app.clock.now())
      expect((await logIn(app, person, usedCode)).body).toMatchObject({ statusCode: 401, error: 'TOTP_REQUIRED' })
      const code = nextCode(app, secret)
      expect((await logIn(app, person, code)).status).toBe(200)
      expect((await logIn(app, person, code)).status).toBe(401)
      const spaced = nextCode(app, secret).replace(/^.../, '$& ')
      expect((await logIn(app, person, spaced)).status).toBe(200)
      expect(
        (await app.call('POST', '/api/v3/merchant/login', { body: { email: person.email, password: person.password } })).body.error,
      ).toBe('TOTP_REQUIRED')
    })

  test('a wrong password gets the same response with and without a code, a factor or an account', async () => {
    await using app = await testApp()
    const [merchant, other] = [await app.merchant(), await app.merchant()]
    const { secret } = await enableTotp(app, merchant)
    const code = nextCode(app, secret)
    const emails = [merchant.email, other.email, 'nobody@example.com']
    const answers = await Promise.all(
      emails.flatMap((email) => [undefined, code, 'x'].map((sent) => logIn(app, { email, password: 'not the password' }, sent))),
    )
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers[0]?.body.error).toBe('Unauthorized')
    expect((await logIn(app, merchant, code)).status).toBe(200)
  })

  test('codes of the adjacent steps are accepted, and then none of an earlier step', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const { secret } = await enableTotp(app, merchant)
    app.clock.advance(10 * step)
    const code = (steps: number) => codeAt(secret, app.clock.now(), steps)
    expect((await logIn(app, merchant, code(-2))).status).toBe(401)
    expect((await logIn(app, merchant, code(2))).status).toBe(401)
    expect((await logIn(app, merchant, code(-1))).status).toBe(200)
    expect((await logIn(app, merchant, code(1))).status).toBe(200)
    expect((await logIn(app, merchant, code(0))).status).toBe(401)
    expect((await logIn(app, merchant, code(1))).status).toBe(401)
  })

  test("another account's code, seven digits, digits of other scripts and an empty text are wrong", async () => {
    await using app = await testApp()
    const [merchant, other] = [await app.merchant(), await app.merchant()]
    const { secret } = await enableTotp(app, merchant)
    const { secret: otherSecret, recoveryCodes } = await enableTotp(app, other)
    const good = nextCode(app, secret)
    const arabic = [...good].map((digit) => String.fromCharCode(0x660 + Number(digit))).join('')
    const fullWidth = [...good].map((digit) => String.fromCharCode(0xff10 + Number(digit))).join('')
    for (const code of [codeAt(otherSecret, app.clock.now()), `${good}1`, arabic, fullWidth, recoveryCodes[0], "' or 1=1 --"])
      expect([code, (await logIn(app, merchant, code)).status]).toEqual([code, 401])
    for (const code of [Number(good), '', null, {}, [good], 'x'.repeat(65)])
      expect([code, (await logIn(app, merchant, code)).status]).toEqual([code, 400])
    expect((await rowOf(app, merchant))?.wrongCodes).toBe(6)
    expect((await logIn(app, merchant, good)).status).toBe(200)
    expect((await rowOf(app, merchant))?.wrongCodes).toBe(0)
  })

  test('a code sent in concurrent logins admits one', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const { secret } = await enableTotp(app, merchant)
    const code = nextCode(app, secret)
    const answers = await Promise.all(Array.from({ length: 8 }, () => logIn(app, merchant, code)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)])
  })

  test('a code sent to two processes at once admits one login', async () => {
    await using app = await testApp()
    await using second = await testApp({}, { database: app.database, startAt: app.clock.now(), as: 'command' })
    const merchant = await app.merchant()
    const { secret, recoveryCodes } = await enableTotp(app, merchant)
    second.clock.advance(step)
    for (const code of [nextCode(app, secret), recoveryCodes[3]]) {
      const answers = await Promise.all([app, second, app, second].map((one) => logIn(one, merchant, code)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401])
    }
  })
})

describe('wrong codes', () => {
  test('ten wrong codes after the right password lock the account for 15 minutes with 429, for every address and code', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const other = await app.merchant()
    const { secret, recoveryCodes } = await enableTotp(app, merchant)
    app.clock.advance(step)
    for (let nth = 0; nth < 10; nth++) {
      expect((await logIn(app, merchant)).body.error).toBe('TOTP_REQUIRED')
      expect((await logIn(app, merchant, wrongCode(app, secret), `203.0.113.${nth}`)).status).toBe(401)
    }
    const limited = await logIn(app, merchant, codeAt(secret, app.clock.now()), '198.51.100.1')
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '900'])
    expect((await logIn(app, merchant, recoveryCodes[0])).status).toBe(429)
    expect((await logIn(app, merchant)).status).toBe(429)
    expect((await remove(app, merchant, { password: merchant.password, code: recoveryCodes[0] })).status).toBe(429)
    expect((await logIn(app, { ...merchant, password: 'not the password' })).status).toBe(401)
    expect((await logIn(app, other)).status).toBe(200)
    // Existing sessions stay valid.
    expect((await app.call('GET', '/merchant/me', { token: merchant.token })).status).toBe(200)
    expect((await auditRowsOf(app, 'totp.shut')).map(({ actor, subject, after }) => [actor, subject, after])).toEqual([
      [merchant.id, merchant.id, { wrongCodes: 10, minutes: 15 }],
    ])
    const failures = (await auditRowsOf(app, 'login.failed')).filter(({ subject }) => subject === merchant.id)
    expect(failures.length).toBeGreaterThanOrEqual(5)
  })

  test('the lock ends after exactly 15 minutes, and ten more codes can be tried', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const { secret } = await enableTotp(app, merchant)
    const guess = async () => (await logIn(app, merchant, wrongCode(app, secret))).status
    for (let nth = 0; nth < 10; nth++) expect(await guess()).toBe(401)
    app.clock.advance(lockMs - 1)
    expect(await guess()).toBe(429)
    app.clock.advance(1)
    for (let nth = 0; nth < 9; nth++) expect(await guess()).toBe(401)
    expect((await logIn(app, merchant, codeAt(secret, app.clock.now()))).status).toBe(200)
    expect((await rowOf(app, merchant))?.wrongCodes).toBe(0)
  })

  test('concurrent wrong codes do not exceed the limit, also in two processes', async () => {
    await using app = await testApp()
    await using second = await testApp({}, { database: app.database, startAt: app.clock.now(), as: 'command' })
    const merchant = await app.merchant()
    const { secret } = await enableTotp(app, merchant)
    const code = wrongCode(app, secret)
    const answers = await Promise.all(Array.from({ length: 30 }, (_, nth) => logIn(nth % 2 ? app : second, merchant, code)))
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20)
  })

  test('wrong codes are not failed logins of the address, and logins without a code are not counted', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const { secret } = await enableTotp(app, merchant)
    for (let nth = 0; nth < 60; nth++) expect((await logIn(app, merchant)).status).toBe(401)
    for (let nth = 0; nth < 5; nth++) await logIn(app, merchant, wrongCode(app, secret))
    expect(await app.deps.db.read.select().from(attempts)).toHaveLength(0)
    expect((await rowOf(app, merchant))?.wrongCodes).toBe(5)
  })
})

describe('recovery codes', () => {
  test('there are ten recovery codes, stored as hashes, and each works once in every spelling', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const { recoveryCodes } = await enableTotp(app, merchant)
    expect([recoveryCodes.length, new Set(recoveryCodes).size]).toEqual([10, 10])
    for (const code of recoveryCodes) expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/)
    const stored = JSON.stringify([await rowOf(app, merchant), await app.deps.db.read.select().from(auditLog)])
    for (const code of recoveryCodes) expect(stored.includes(code) || stored.includes(code.replaceAll('-', ''))).toBe(false)
    const [first = '', second = '', third = ''] = recoveryCodes
    for (const code of [
      first,
      second.toUpperCase().replaceAll('-', ' '),
      third.replaceAll('-', '').replaceAll('0', 'O').replaceAll('1', 'l'),
    ]) {
      expect([code, (await logIn(app, merchant, code)).status]).toEqual([code, 200])
      expect([code, (await logIn(app, merchant, code)).status]).toEqual([code, 401])
    }
    expect((await rowOf(app, merchant))?.recoveryHashes).toHaveLength(7)
    expect((await auditRowsOf(app, 'totp.recovery_code_used')).map(({ subject, after }) => [subject, after])).toEqual(
      [9, 8, 7].map((recoveryCodes) => [merchant.id, { recoveryCodes }]),
    )
  })

  test("the app's codes still work when all recovery codes are used", async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const { secret, recoveryCodes } = await enableTotp(app, merchant)
    for (const code of recoveryCodes) expect((await logIn(app, merchant, code)).status).toBe(200)
    expect((await logIn(app, merchant, recoveryCodes[9])).status).toBe(401)
    expect((await logIn(app, merchant, nextCode(app, secret))).status).toBe(200)
  })
})

describe('bypass and removal', () => {
  test('neither a changed nor a reset password bypasses the second factor', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const { secret } = await enableTotp(app, merchant)
    const [changedPassword, resetPassword] = ['another long password', 'yet another password']
    const body = { current: merchant.password, password: changedPassword }
    expect((await app.call('POST', '/auth/password', { token: merchant.token, body })).status).toBe(204)
    expect((await logIn(app, { ...merchant, password: changedPassword })).body.error).toBe('TOTP_REQUIRED')
    await resetUserPassword(app.deps, { email: merchant.email, password: resetPassword })
    expect((await logIn(app, { ...merchant, password: resetPassword })).body.error).toBe('TOTP_REQUIRED')
    expect((await logIn(app, { ...merchant, password: resetPassword }, nextCode(app, secret))).status).toBe(200)
  })

  test('removing the second factor requires the password and a code', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    expect((await remove(app, merchant, { password: merchant.password, code: '123456' })).status).toBe(409)
    const { secret } = await enableTotp(app, merchant)
    const { password } = merchant
    for (const body of [{}, { password }, { code: nextCode(app, secret) }]) expect((await remove(app, merchant, body)).status).toBe(400)
    expect((await remove(app, merchant, { password: 'not the password', code: codeAt(secret, app.clock.now()) })).body.error).toBe(
      'Unauthorized',
    )
    expect((await remove(app, merchant, { password, code: wrongCode(app, secret) })).body.error).toBe('TOTP_REQUIRED')
    expect((await rowOf(app, merchant))?.wrongCodes).toBe(1)
    const removed = await remove(app, merchant, { password, code: codeAt(secret, app.clock.now()) })
    expect([removed.status, removed.text]).toEqual([204, ''])
    expect(await rowOf(app, merchant)).toBeUndefined()
    expect((await logIn(app, merchant)).status).toBe(200)
    const secondFactor = await enableTotp(app, merchant)
    expect(secondFactor.secret).not.toBe(secret)
    expect((await remove(app, merchant, { password, code: secondFactor.recoveryCodes[0] })).status).toBe(204)
    expect((await auditRowsOf(app, 'totp.removed')).map(({ actor }) => actor)).toEqual([merchant.id, merchant.id])
  })

  test("the operator's command removes the second factor of one account, confirmed or not", async () => {
    await using app = await testApp()
    const [merchant, other] = [await app.merchant(), await app.merchant()]
    await enableTotp(app, merchant)
    await enableTotp(app, other)
    expect(await removeSecondFactor(app.deps, 'nobody@example.com')).toBeUndefined()
    expect((await removeSecondFactor(app.deps, merchant.email.toUpperCase()))?.id).toBe(merchant.id)
    expect(await removeSecondFactor(app.deps, merchant.email)).toBeUndefined()
    expect([(await logIn(app, merchant)).status, (await logIn(app, other)).status]).toEqual([200, 401])
    await beginTotp(app, merchant)
    expect((await removeSecondFactor(app.deps, merchant.email))?.id).toBe(merchant.id)
    expect((await auditRowsOf(app, 'totp.removed')).map(({ actor, subject }) => [actor, subject])).toEqual([
      ['system', merchant.id],
      ['system', merchant.id],
    ])
  })

  test('a login during the confirmation of a second factor starts no session without a code', async () => {
    await using app = await testApp()
    const merchant = await app.merchant()
    const secret = await beginTotp(app, merchant)
    const find = app.deps.secondFactorStore.find
    const code = codeAt(secret, app.clock.now())
    let confirmed: number | undefined
    // The login finds no second factor. Before it stores the session, another process confirms one.
    app.deps.secondFactorStore.find = async (id, from) => {
      const found = await find(id, from)
      if (confirmed !== undefined || from !== undefined) return found
      confirmed = 0
      confirmed = (await app.call('POST', '/auth/totp/confirm', { token: merchant.token, body: { code } })).status
      return found
    }
    const answer = await logIn(app, merchant)
    app.deps.secondFactorStore.find = find
    expect([confirmed, answer.status, answer.body.error]).toEqual([200, 401, 'TOTP_REQUIRED'])
    expect((await app.call('GET', '/auth/sessions', { token: merchant.token })).body.total).toBe(1)
  })
})
