import { expect, test } from 'bun:test'
import { idempotencyKeys } from '../../../../db/schema/people.ts'
import { removeExpiredKeys } from '../../../../src/modules/operations/idempotency/service.ts'
import { testApp } from '../../../support/app.ts'

test('many expired keys are removed in several small writes, and valid ones stay', async () => {
  await using app = await testApp()
  const { db, clock } = app.deps
  const row = (key: string, expiresAt: number) => ({
    scope: 's',
    key,
    fingerprint: 'f',
    attempt: 'a',
    leaseUntil: 0,
    expiresAt,
    sealedAnswer: null,
  })
  const expired = Array.from({ length: 1_200 }, (_, nth) => row(String(nth), clock.now()))
  await db.write(async (tx) => void (await tx.insert(idempotencyKeys).values([...expired, row('good', clock.now() + 1)])))
  const { writes } = db.stats
  await removeExpiredKeys(app.deps)
  expect((await db.read.select({ key: idempotencyKeys.key }).from(idempotencyKeys)).map(({ key }) => key)).toEqual(['good'])
  expect(db.stats.writes - writes).toBe(3)
})
