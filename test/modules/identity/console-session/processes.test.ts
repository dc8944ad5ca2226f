/** Tests several processes on one database: sessions and the first setup behave the same in each. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { users } from '../../../../db/schema/people.ts'
import { issueSetupToken } from '../../../../src/modules/identity/console-session/index.ts'
import { testApp } from '../../../support/app.ts'
import { cookieHeaderOf, postSession, resumeSession, sameOrigin } from '../../../support/console.ts'
import { testDatabase } from '../../../support/database.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

async function startTwoProcesses() {
  const database = await testDatabase()
  const [one, two] = [await testApp({}, { database }), await testApp({}, { database })]
  return {
    one,
    two,
    async [Symbol.asyncDispose]() {
      await one.close()
      await two.close()
      await database.drop()
    },
  }
}

describe.skipIf(engine === 'sqlite')('two processes', () => {
  test('renew a cookie that is sent to both at once to the same cookie, and the session works in both', async () => {
    await using s = await startTwoProcesses()
    const { email, password } = await s.one.merchant()
    let cookie = cookieHeaderOf(await postSession(s.one, { email, password }))
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all([s.one, s.two, s.one, s.two].map((app) => resumeSession(app, cookie)))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      expect(new Set(answers.map(cookieHeaderOf)).size).toBe(1)
      for (const { body } of answers) expect((await s.two.call('GET', '/merchant/me', { token: body.accessToken })).status).toBe(200)
      ;[cookie = ''] = answers.map(cookieHeaderOf)
    }
  })

  test('share the end of a session', async () => {
    await using s = await startTwoProcesses()
    const { email, password } = await s.one.merchant()
    const answer = await postSession(s.one, { email, password })
    const ended = await s.two.call('DELETE', '/console/session', { headers: { ...sameOrigin, cookie: cookieHeaderOf(answer) } })
    expect(ended.status).toBe(204)
    expect((await resumeSession(s.one, cookieHeaderOf(answer))).status).toBe(401)
    expect((await s.one.call('GET', '/merchant/me', { token: answer.body.accessToken })).status).toBe(401)
  })

  test('create one super admin when their setup tokens are used at the same time', async () => {
    await using s = await startTwoProcesses()
    const tokens = [await issueSetupToken(s.one.deps), await issueSetupToken(s.two.deps)]
    const answers = await Promise.all(
      [s.two, s.one, s.two, s.one].map((app, nth) =>
        app.call('POST', '/console/setup', {
          body: { token: tokens[nth % 2], email: `root${nth}@example.com`, password: 'password-of-root' },
          headers: sameOrigin,
        }),
      ),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const { status } of answers) expect([201, 401, 409]).toContain(status)
    expect(await s.one.deps.db.read.select().from(users).where(eq(users.role, 'SUPER_ADMIN'))).toHaveLength(1)
  })
})
