/** Tests that audit rows cannot be changed or removed, except by the configured retention. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { auditLog, auditRetention } from '../../../../db/schema/people.ts'
import { removeExpired } from '../../../../jobs/remove-expired.ts'
import { system } from '../../../../src/core/command-context.ts'
import { dayMs } from '../../../../src/lib/day.ts'
import { audit } from '../../../../src/modules/operations/audit/service.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const rowsOf = (app: TestApp) => app.deps.db.read.select().from(auditLog).orderBy(auditLog.id)
const note = ({ deps }: TestApp, subject: string) => deps.db.write((tx) => audit(tx, deps, { actor: system, action: 'test.done', subject }))
/** The message of the engine, which drizzle wraps. */
async function refusalOf(work: Promise<unknown>): Promise<string> {
  const messages: string[] = []
  for (
    let error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    error instanceof Error;
    error = error.cause
  )
    messages.push(error.message)
  return messages.join(' ')
}

test('no statement changes, removes or replaces an audit row', async () => {
  await using app = await testApp()
  await note(app, 'a')
  const before = await rowsOf(app)
  const [row] = before
  if (!row) throw new Error('no row')
  const { write } = app.deps.db
  const statements = [
    sql`update audit_log set actor = 'somebody' returning id`,
    sql`update audit_log set at = 0 where id = ${row.id} returning id`,
    sql`delete from audit_log where id = ${row.id} returning id`,
    sql`delete from audit_log returning id`,
    sql`insert into audit_log (id, at, actor, action, subject) values (${row.id}, 0, 'x', 'x', 'x') on conflict (id) do update set actor = 'x' returning id`,
    ...(engine === 'postgres'
      ? [sql`truncate audit_log`, sql`truncate audit_log cascade`]
      : [
          sql`insert or replace into audit_log (id, at, actor, action, subject) values (${row.id}, 0, 'x', 'x', 'x') returning id`,
          sql`replace into audit_log (rowid, id, at, actor, action, subject) values (1, 'aud_other', 0, 'x', 'x', 'x') returning id`,
          sql`update or replace audit_log set id = 'aud_other' returning id`,
        ]),
  ]
  for (const statement of statements) expect(await refusalOf(write((tx) => tx.rows(statement)))).toMatch(/audit trail cannot be/)
  expect(await refusalOf(write((tx) => tx.delete(auditLog)))).toMatch(/audit trail cannot be/)
  expect(await rowsOf(app)).toEqual(before)
})

test('audit rows stay permanently without a retention', async () => {
  await using app = await testApp()
  await note(app, 'old')
  const before = await rowsOf(app)
  app.clock.advance(3_650 * dayMs)
  await removeExpired(app.deps)
  expect(await rowsOf(app)).toEqual(before)
})

test('session events of customers are removed after 90 days, which is audited; those of managers and operators stay', async () => {
  await using app = await testApp()
  const { shop, email, password } = await app.merchant()
  const login = { shopName: shop.name, email: 'a@example.com', password: 'a long password' }
  expect((await app.call('POST', '/customer/signup', { body: { ...login, name: 'A' } })).status).toBe(201)
  const session = await app.call('POST', '/customer/login', { body: login })
  expect((await app.call('POST', '/auth/logout', { body: { refreshToken: session.body.data.refreshToken } })).status).toBe(204)
  expect((await app.call('POST', '/merchant/login', { body: { email, password } })).status).toBe(200)
  const before = await rowsOf(app)
  const isOfCustomer = ({ action, subject }: { action: string; subject: string }) =>
    action.startsWith('session.') && subject.startsWith('cus_')
  const ofCustomer = before.filter(isOfCustomer).length
  expect(ofCustomer).toBeGreaterThanOrEqual(2)
  expect(before.some(({ action, subject }) => action === 'session.started' && !subject.startsWith('cus_'))).toBe(true)
  app.clock.advance(90 * dayMs)
  await removeExpired(app.deps)
  expect(await rowsOf(app)).toEqual(before)
  app.clock.advance(dayMs)
  await removeExpired(app.deps)
  const left = await rowsOf(app)
  expect(left.slice(0, -1)).toEqual(before.filter((row) => !isOfCustomer(row)))
  expect(left.at(-1)).toMatchObject({
    action: 'audit.removed',
    actor: 'system',
    after: { rows: ofCustomer, olderThan: '2026-01-07', which: 'customersSessions' },
  })
  await removeExpired(app.deps)
  expect(await rowsOf(app)).toEqual(left)
})

test('the retention removes older whole days, audits the count, and closes the table again', async () => {
  await using app = await testApp({ AUDIT_RETENTION_DAYS: '30' })
  for (let nth = 0; nth < 1_203; nth++) await note(app, `old-${nth}`)
  app.clock.advance(12 * 3_600_000)
  await note(app, 'the day after')
  app.clock.advance(30 * dayMs - 1)
  await removeExpired(app.deps)
  // The first day is still within thirty days of this one.
  expect(await rowsOf(app)).toHaveLength(1_204)
  app.clock.advance(1)
  await removeExpired(app.deps)
  const left = await rowsOf(app)
  expect(left.map(({ subject, action, actor, after }) => [subject, action, actor, after])).toEqual([
    ['the day after', 'test.done', 'system', null],
    ...[500, 500, 203].map((rows) => ['audit', 'audit.removed', 'system', { rows, olderThan: '2026-01-07' }]),
  ])
  expect(await app.deps.db.read.select().from(auditRetention)).toEqual([])
  await removeExpired(app.deps)
  expect(await rowsOf(app)).toEqual(left)
  expect(await refusalOf(app.deps.db.write((tx) => tx.delete(auditLog)))).toMatch(/audit trail cannot be/)
})

test('a retention cannot remove more than its time allows', async () => {
  await using app = await testApp()
  await note(app, 'older')
  app.clock.advance(1)
  const until = app.clock.now()
  await note(app, 'newer')
  const all = app.deps.db.write(async (tx) => {
    await tx.insert(auditRetention).values({ id: 'audit', until })
    await tx.delete(auditLog)
  })
  expect(await refusalOf(all)).toMatch(/audit trail cannot be/)
  expect(await rowsOf(app)).toHaveLength(2)
})
