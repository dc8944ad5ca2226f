/** Tests which role may change an application in which state, and concurrent changes. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { and, eq } from 'drizzle-orm'
import { lendingApplications, lendingDecisions, lendingEvents } from '../../../../db/schema/lending.ts'
import { auditLog } from '../../../../db/schema/people.ts'
import { lendingStatuses } from '../../../../src/modules/lending/application/domain.ts'
import { type Answer, type TestApp, testApp } from '../../../support/app.ts'
import { approveBusiness } from '../../../support/kyb.ts'
import { applicationPath, createApplicationIn, createCompleteDraft, createSubmitted, decide, lendingApp } from '../../../support/lending.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const triggers = ['update', 'submit', 'withdraw', 'APPROVED', 'REJECTED', 'UNDER_REVIEW'] as const
type Trigger = (typeof triggers)[number]

/** The state after each allowed change. Every other change is 409 and keeps the state. */
const expected: Partial<Record<string, string>> = {
  'DRAFT update': 'DRAFT',
  'DRAFT submit': 'SUBMITTED',
  'DRAFT withdraw': 'WITHDRAWN',
  'SUBMITTED withdraw': 'WITHDRAWN',
  'SUBMITTED APPROVED': 'APPROVED',
  'SUBMITTED REJECTED': 'REJECTED',
  'SUBMITTED UNDER_REVIEW': 'UNDER_REVIEW',
  'UNDER_REVIEW withdraw': 'WITHDRAWN',
  'UNDER_REVIEW APPROVED': 'APPROVED',
  'UNDER_REVIEW REJECTED': 'REJECTED',
  'UNDER_REVIEW UNDER_REVIEW': 'UNDER_REVIEW',
}

function sendTrigger(app: TestApp, trigger: Trigger, { token }: { token: string }, id: string): Promise<Answer> {
  if (trigger === 'update') return app.call('PATCH', applicationPath(id), { token, body: { requestedTermMonths: 24 } })
  if (trigger === 'submit' || trigger === 'withdraw') return app.call('POST', applicationPath(id, `/${trigger}`), { token })
  return decide(app, { token }, id, trigger)
}
const statusOf = async (app: TestApp, id: string) =>
  (await app.deps.db.read.select().from(lendingApplications).where(eq(lendingApplications.id, id)))[0]?.status

test('in each state each role may make exactly the changes of the table: other callers get no information, and a forbidden change is 409', async () => {
  await using lending = await lendingApp({ cohort: 'MN_SOLE' })
  const { app, merchant, operator } = lending
  const other = await app.merchant()
  await approveBusiness(app, other, operator)
  for (const state of lendingStatuses)
    for (const trigger of triggers) {
      const { id } = await createApplicationIn(app, merchant, operator, state)
      const isDecision = trigger === trigger.toUpperCase()
      const strangers: [token: string, status: number][] = isDecision
        ? [
            [merchant.token, 403],
            [other.token, 403],
          ]
        : [
            [operator.token, 403],
            [other.token, 404],
          ]
      for (const [token, status] of strangers) {
        const answer = await sendTrigger(app, trigger, { token }, id)
        expect([state, trigger, answer.status]).toEqual([state, trigger, status])
      }
      expect([state, trigger, await statusOf(app, id)]).toEqual([state, trigger, state])
      const answer = await sendTrigger(app, trigger, isDecision ? operator : merchant, id)
      const after = expected[`${state} ${trigger}`]
      const found: unknown[] = [state, trigger, answer.status, await statusOf(app, id)]
      expect(found).toEqual([state, trigger, after ? 200 : 409, after ?? state])
    }
})

describe('concurrent requests', () => {
  /** Opens another process on the same database. */
  const openSecondProcess = (app: TestApp) => testApp({ LENDING_PLATFORM_ENABLED: 'true' }, { database: app.database, as: 'command' })
  const callMany = <T>(apps: readonly TestApp[], times: number, ask: (app: TestApp, nth: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: times }, (_, nth) => ask(apps[nth % apps.length] as TestApp, nth)))
  const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status).sort()
  async function trailOf({ deps: { db } }: TestApp, id: string) {
    const events = await db.read.select().from(lendingEvents).where(eq(lendingEvents.applicationId, id))
    const rows = await db.read.select().from(auditLog).where(eq(auditLog.subject, id))
    return {
      events: events.sort((a, b) => a.position - b.position).map(({ type, toStatus }) => `${type} ${toStatus}`),
      audited: rows.sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ action }) => action),
    }
  }

  test('of many concurrent submissions through two processes one succeeds, with one audit row', async () => {
    await using lending = await lendingApp()
    const { app, merchant } = lending
    await using second = await openSecondProcess(app)
    const { id } = await createCompleteDraft(app, merchant)
    const answers = await callMany([app, second], 10, (one) => sendTrigger(one, 'submit', merchant, id))
    expect(statuses(answers)).toEqual([200, ...Array(9).fill(409)])
    expect(await trailOf(app, id)).toEqual({
      events: ['CREATED DRAFT', 'UPDATED DRAFT', 'SUBMITTED SUBMITTED'],
      audited: ['lending.drafted', 'lending.changed', 'lending.submitted'],
    })
  })

  test('of many concurrent decisions through two processes one succeeds with its own reason, and the others are 409', async () => {
    await using lending = await lendingApp()
    const { app, merchant, operator } = lending
    await using second = await openSecondProcess(app)
    const { id } = await createSubmitted(app, merchant)
    const answers = await callMany([app, second], 10, (one, nth) =>
      decide(one, operator, id, nth % 4 < 2 ? 'APPROVED' : 'REJECTED', { reason: `Decision ${nth}` }),
    )
    expect(statuses(answers)).toEqual([200, ...Array(9).fill(409)])
    const winner = answers.findIndex(({ status }) => status === 200)
    const read = ok(await app.call('GET', `/admin${applicationPath(id)}`, { token: operator.token })).body
    expect(read).toEqual(answers[winner]?.body)
    expect([read.status, read.reason]).toEqual([winner % 4 < 2 ? 'APPROVED' : 'REJECTED', `Decision ${winner}`])
    expect(await app.deps.db.read.select().from(lendingDecisions)).toHaveLength(1)
    expect((await trailOf(app, id)).audited).toHaveLength(4)
  })

  test('of a concurrent withdrawal and decisions through two processes one succeeds', async () => {
    await using lending = await lendingApp()
    const { app, merchant, operator } = lending
    await using second = await openSecondProcess(app)
    for (let round = 0; round < 3; round++) {
      const { id } = await createSubmitted(app, merchant)
      const answers = await callMany([app, second], 6, (one, nth) =>
        nth % 3 === 0 ? sendTrigger(one, 'withdraw', merchant, id) : sendTrigger(one, 'APPROVED', operator, id),
      )
      expect(statuses(answers)).toEqual([200, ...Array(5).fill(409)])
      const winner = answers.find(({ status }) => status === 200)
      expect(await statusOf(app, id)).toBe(winner?.body.status)
      const ends = and(eq(lendingEvents.applicationId, id), eq(lendingEvents.position, 4))
      expect(await app.deps.db.read.select().from(lendingEvents).where(ends)).toHaveLength(1)
    }
  })

  test('concurrent changes of one draft are all stored in turn, and a change precedes a submission or fails', async () => {
    await using lending = await lendingApp()
    const { app, merchant, operator } = lending
    await using second = await openSecondProcess(app)
    const { id } = await createCompleteDraft(app, merchant)
    const change = (one: TestApp, requestedTermMonths: number) =>
      one.call('PATCH', applicationPath(id), { token: merchant.token, body: { requestedTermMonths } })
    expect(statuses(await callMany([app, second], 8, (one, nth) => change(one, nth + 1)))).toEqual(Array(8).fill(200))
    const answers = await callMany([app, second], 6, (one, nth) =>
      nth === 2 ? sendTrigger(one, 'submit', merchant, id) : change(one, nth + 20),
    )
    const changed = answers.filter(({ status, body }) => status === 200 && body.status === 'DRAFT').length
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(5 - changed)
    const { events, status } = ok(await app.call('GET', `/admin${applicationPath(id)}`, { token: operator.token })).body
    expect([status, events.length, events.at(-1).type]).toEqual(['SUBMITTED', 2 + 8 + changed + 1, 'SUBMITTED'])
  })
})
