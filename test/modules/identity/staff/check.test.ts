/** Tests the findings of `souk check` about staff, and that older shops get their merchant as the owner. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { postgresMigrations, sqliteMigrations } from '../../../../db/migrations/index.ts'
import { staff } from '../../../../db/schema/staff.ts'
import { assignMissingOwners, findStaffInconsistencies } from '../../../../src/modules/identity/member/index.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { openCommandInstance } from '../../../support/command-process.ts'
import { invitePerson, staffOf } from '../../../support/staff.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const findProblems = async (app: TestApp) =>
  (await Array.fromAsync(findStaffInconsistencies(app.deps.db))).flatMap(({ subject, problems }) =>
    problems.map((problem) => `${subject}: ${problem}`),
  )

test('reports shops without an owner, and staff rows that are neither an invitation nor a person with an account', async () => {
  await using app = await testApp()
  const owner = await app.merchant()
  const { id } = await invitePerson(app, owner, 'OWNER')
  const person = await staffOf(app, owner, 'MANAGER')
  expect(await findProblems(app)).toEqual([])
  const set = (staffId: string, change: Partial<typeof staff.$inferInsert>) =>
    app.deps.db.write((tx) => tx.update(staff).set(change).where(eq(staff.id, staffId)))
  await set(id, { email: null })
  await set(person.staffId, { joinedAt: null })
  await app.deps.db.write((tx) => tx.update(staff).set({ role: 'MANAGER' }).where(eq(staff.userId, owner.id)))
  expect(await findProblems(app)).toEqual([
    `owners of shops: ${owner.shop.id}: has no OWNER`,
    ...[id, person.staffId].sort().map((one) => `staff of shops: ${one}: neither an invitation nor a person with an account`),
  ])
})

test('a shop that an older process created after the migration gets its owner when the next server starts', async () => {
  await using app = await testApp()
  const [one, other] = [await app.merchant(), await app.merchant()]
  await app.deps.db.write((tx) => tx.delete(staff).where(eq(staff.shopId, one.shop.id)))
  app.clock.advance(1_000)
  expect([await assignMissingOwners(app.deps), await assignMissingOwners(app.deps)]).toEqual([1, 0])
  expect(await findProblems(app)).toEqual([])
  for (const { token, id, shop } of [one, other]) {
    const { data } = (await app.call('GET', '/shops/v2/staff', { token })).body
    expect(data).toEqual([expect.objectContaining({ userId: id, role: 'OWNER', joinedAt: new Date(shop.createdAt).toISOString() })])
  }
})

test('two servers that start at once assign one owner to each shop', async () => {
  await using app = await testApp()
  await using otherProcess = await openCommandInstance(app)
  const owner = await app.merchant()
  for (let round = 0; round < 5; round++) {
    await app.deps.db.write((tx) => tx.delete(staff))
    await Promise.all([app.deps, otherProcess.deps, app.deps, otherProcess.deps].map((deps) => assignMissingOwners(deps)))
    expect(await findProblems(app)).toEqual([])
    expect((await app.deps.db.read.select().from(staff)).map(({ userId }) => userId)).toEqual([owner.id])
  }
})

const backfill = '-- by hand: whoever opened a shop owns it\n'
test('the migration makes the merchant of an older shop its owner', async () => {
  await using app = await testApp()
  const merchants = [await app.merchant(), await app.merchant()]
  await app.deps.db.write((tx) => tx.delete(staff))
  const trees = { sqlite: sqliteMigrations, postgres: postgresMigrations }
  const statements = trees[engine].find(({ tag }) => tag.endsWith('_week'))?.statements ?? ''
  const backfillStatements = statements.slice(statements.indexOf(backfill)).split('--> statement-breakpoint')
  await app.deps.db.write(async (tx) => {
    for (const one of backfillStatements) await tx.rows(sql.raw(`${one.replace(backfill, '').trim().replace(/;$/, '')} RETURNING id`))
  })
  expect(await findProblems(app)).toEqual([])
  for (const { token, shop, id } of merchants) {
    const [first, ...others] = (await app.call('GET', '/shops/v2/staff', { token })).body.data
    expect(first).toEqual(
      expect.objectContaining({ shopId: shop.id, userId: id, role: 'OWNER', status: 'ACTIVE', joinedAt: first.createdAt }),
    )
    expect(first.id).toMatch(/^staff_[0-9a-hjkmnp-tv-z]{26}$/)
    expect(others).toEqual([])
  }
})
