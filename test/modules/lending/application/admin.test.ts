/** Tests the operators' queue of applications, and their decisions. */
import { describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { lendingApplications, lendingEvents } from '../../../../db/schema/lending.ts'
import { draftsMax, historyMax, tierOf } from '../../../../src/modules/lending/application/domain.ts'
import { ruleVersion } from '../../../../src/modules/lending/credit/domain.ts'
import { replay } from '../../../../src/modules/lending/credit/index.ts'
import { type Answer, type TestApp, testApp } from '../../../support/app.ts'
import { approveBusiness, business, fileBusiness } from '../../../support/kyb.ts'
import { applicationPath, createApplicationIn, createDraft, createSubmitted, decide, lendingApp } from '../../../support/lending.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

type Row = typeof lendingApplications.$inferSelect
const idsOf = ({ data }: Answer['body']): string[] => data.map(({ id }: { id: string }) => id)

/** Opens an app with an operator, a merchant and these applications. */
async function openQueue(changes: readonly Partial<Row>[]) {
  const app = await testApp({ LENDING_PLATFORM_ENABLED: 'true' })
  const operator = await app.superAdmin()
  const { id: merchantId } = await app.merchant()
  const rows = changes.map((change, nth): Row => {
    const { cohort = 'US_COMPANY', submittedAt = null } = change
    const row = { id: `loan_${String(nth).padStart(26, '0')}`, merchantId, cohort, tier: tierOf(cohort), status: 'UNDER_REVIEW' as const }
    const request = { requestedAmountUsd: null, requestedTermMonths: null, purposeCode: null, documentationCompleted: null }
    const partners = { selectedTier1Partner: null, selectedTier2Partner: null, partnerExternalRef: null }
    const times = { decidedAt: null, queuedAt: submittedAt ?? 0, createdBy: merchantId, createdAt: 1, updatedAt: 1, version: 1 }
    return { ...row, ...request, ...partners, reason: null, submittedAt, ...times, ...change }
  })
  await app.deps.db.write(async (tx) => {
    for (let at = 0; at < rows.length; at += 500) await tx.insert(lendingApplications).values(rows.slice(at, at + 500))
  })
  const queue = (query: string) => app.call('GET', `/admin/lending-application${query}`, { token: operator.token })
  return { app, rows, queue, [Symbol.asyncDispose]: () => app.close() }
}

describe('the queue', () => {
  test('the queue shows applications under review by default, the earliest submitted first, then by id', async () => {
    await using list = await openQueue([
      { submittedAt: 3_000 },
      { submittedAt: 1_000 },
      { submittedAt: 2_000 },
      { submittedAt: 1_000 },
      { submittedAt: 500, status: 'SUBMITTED' },
      { status: 'DRAFT' },
      { status: 'WITHDRAWN', submittedAt: 5 },
      { status: 'WITHDRAWN' },
    ])
    const { queue, rows } = list
    const ids = rows.map(({ id }) => id)
    const all = ok(await queue('')).body
    expect([idsOf(all), all.page, all.limit, all.total, all.pages, all.totalCapped]).toEqual([
      [1, 3, 2, 0].map((nth) => ids[nth] ?? ''),
      ...[1, 100, 4, 1, undefined],
    ])
    expect(all.data[0]).toMatchObject({ status: 'UNDER_REVIEW', submittedAt: '1970-01-01T00:00:01.000Z' })
    expect(all.data[0]).not.toHaveProperty('documentationCompleted')
    expect(all.data[0]).not.toHaveProperty('queuedAt')
    expect(idsOf(ok(await queue('?status=SUBMITTED')).body)).toEqual([ids[4] ?? ''])
    expect(idsOf(ok(await queue('?status=DRAFT')).body)).toEqual([ids[5] ?? ''])
    // Applications that were never submitted come first, on both engines.
    expect(idsOf(ok(await queue('?status=WITHDRAWN')).body)).toEqual([ids[7] ?? '', ids[6] ?? ''])
    expect(ok(await queue('?limit=3&page=2')).body).toMatchObject({ data: [{ id: ids[0] }], page: 2, limit: 3, total: 4, pages: 2 })
    expect(ok(await queue('?page=9')).body).toMatchObject({ data: [], total: 4 })
    for (const query of ['?status=OPEN', '?tier=TIER_3', '?cohort=MARS_LTD', '?partner=%20', '?limit=x', '?page=0', '?sort=id'])
      expect([query, (await queue(query)).status]).toEqual([query, 400])
  })

  test('the queue clamps its limit to 1..500, defaults to 100, and counts to 1,000', async () => {
    await using list = await openQueue(Array.from({ length: 1_001 }, (_, nth) => ({ submittedAt: nth })))
    const { queue, rows } = list
    const lengthOf = async (query: string) => {
      const { data, limit, total, totalCapped, pages } = ok(await queue(query)).body
      return [data.length, limit, total, totalCapped, pages]
    }
    expect(await lengthOf('')).toEqual([100, 100, 1_000, true, 10])
    expect(await lengthOf('?limit=0')).toEqual([1, 1, 1_000, true, 1_000])
    expect(await lengthOf('?limit=-5')).toEqual([1, 1, 1_000, true, 1_000])
    expect(await lengthOf('?limit=501')).toEqual([500, 500, 1_000, true, 2])
    expect(await lengthOf('?limit=500&page=3')).toEqual([0, 500, 1_000, true, 2])
    const last = ok(await queue('?limit=500&page=2')).body
    expect(idsOf(last)).toEqual(rows.slice(500, 1_000).map(({ id }) => id))
    await list.app.deps.db.write(async (tx) => void (await tx.update(lendingApplications).set({ status: 'APPROVED' }).where(isFirst())))
    expect(await lengthOf('')).toEqual([100, 100, 1_000, undefined, 10])
  })

  test('the queue filters by any combination of status, tier, cohort and partner of either tier', async () => {
    const statuses = ['UNDER_REVIEW', 'SUBMITTED'] as const
    const cohorts = ['US_COMPANY', 'MN_SOLE', 'UK_LTD'] as const
    const firsts = ['HARBOR_INVENTORY', 'CARAVAN_TRADE', null] as const
    const seconds = ['acme', 'HARBOR_INVENTORY', null] as const
    const changes = statuses.flatMap((status) =>
      cohorts.flatMap((cohort) =>
        firsts.flatMap((selectedTier1Partner) =>
          seconds.flatMap((selectedTier2Partner) =>
            [0, 1].map((nth) => ({ status, cohort, selectedTier1Partner, selectedTier2Partner, submittedAt: 7 - nth })),
          ),
        ),
      ),
    )
    await using list = await openQueue(changes)
    const { queue, rows } = list
    for (const status of [undefined, ...statuses])
      for (const tier of [undefined, 'TIER_1_REFERRAL', 'TIER_2_PARTNER'])
        for (const cohort of [undefined, ...cohorts, 'SG_PTE'])
          for (const partner of [undefined, 'HARBOR_INVENTORY', 'CARAVAN_TRADE', 'MERIDIAN_REVENUE', 'acme', 'nobody']) {
            const filters = Object.entries({ status, tier, cohort, partner }).filter(([, value]) => value !== undefined)
            const matching = rows
              .filter((row) => row.status === (status ?? 'UNDER_REVIEW') && row.tier === (tier ?? row.tier))
              .filter((row) => row.cohort === (cohort ?? row.cohort))
              .filter((row) => !partner || row.selectedTier1Partner === partner || row.selectedTier2Partner === partner)
              .sort((a, b) => a.queuedAt - b.queuedAt || (a.id < b.id ? -1 : 1))
            const query = `?limit=7&${new URLSearchParams(filters as [string, string][])}`
            const { data, total } = ok(await queue(query)).body
            expect([query, idsOf({ data }), total]).toEqual([query, matching.slice(0, 7).map(({ id }) => id), matching.length])
            if (!partner || matching.length <= 7) continue
            const next = ok(await queue(`${query}&page=2`)).body
            expect([query, idsOf(next)]).toEqual([query, matching.slice(7, 14).map(({ id }) => id)])
          }
  })
})

const isFirst = () => eq(lendingApplications.submittedAt, 0)

describe('the name of the business', () => {
  test('the queue and the record name the business of the current KYB record, in one read per page; null without a record', async () => {
    await using lending = await lendingApp()
    const { app, merchant, operator } = lending
    const { id } = await createSubmitted(app, merchant)
    const other = await app.merchant()
    await fileBusiness(app, other, { legalName: 'Long gone' }).then(({ id: record }) =>
      app.call('POST', `/admin/kyb/${record}/decision`, { token: operator.token, body: { decision: 'REJECTED' } }),
    )
    await approveBusiness(app, other, operator, { legalName: 'Other Felt LLC' })
    const others = await Promise.all([createSubmitted(app, other), createSubmitted(app, other)])
    const nameless = await app.merchant()
    const [row] = await app.deps.db.read.select().from(lendingApplications).where(eq(lendingApplications.id, id))
    const orphan = { ...(row as Row), id: 'loan_00000000000000000000000000', merchantId: nameless.id }
    await app.deps.db.write(async (tx) => void (await tx.insert(lendingApplications).values(orphan)))
    const names = (data: { id: string; business: { legalName: string } | null }[]) =>
      new Map(data.map((one) => [one.id, one.business?.legalName ?? null]))
    const expected = new Map<string, string | null>([
      [id, business.legalName],
      ...others.map((one): [string, string] => [one.id, 'Other Felt LLC']),
      [orphan.id, null],
    ])
    const liveOf = spyOn(app.deps.kybStore, 'liveOf')
    const queue = ok(await app.call('GET', '/admin/lending-application?status=SUBMITTED', { token: operator.token })).body.data
    expect(liveOf).toHaveBeenCalledTimes(1)
    expect(names(queue)).toEqual(expected)
    for (const [one, name] of expected) expect([one, (await read(app, operator, one)).business?.legalName ?? null]).toEqual([one, name])
    expect(ok(await decide(app, operator, id, 'APPROVED')).body.business).toMatchObject({ legalName: business.legalName })
    // The response to the merchant has no field `business`.
    expect(ok(await app.call('GET', applicationPath(id), { token: merchant.token })).body).not.toHaveProperty('business')
  })
})

const read = async (app: TestApp, { token }: { token: string }, id: string) =>
  ok(await app.call('GET', `/admin${applicationPath(id)}`, { token })).body

describe('the decision', () => {
  test('a decision stores reason and reference for the merchant, and an audit row with actor, time and change', async () => {
    await using lending = await lendingApp()
    const { app, merchant, operator } = lending
    const { id } = await createSubmitted(app, merchant)
    app.clock.advance(60_000)
    const review = { reason: 'Statements are read', partnerExternalRef: 'HI-1' }
    expect(ok(await decide(app, operator, id, 'UNDER_REVIEW', review)).body).toMatchObject({
      ...{ status: 'UNDER_REVIEW', decidedAt: null, ...review },
    })
    app.clock.advance(60_000)
    const decided = ok(await decide(app, operator, id, 'APPROVED')).body
    // A new decision replaces the reason, also by none. The reference stays.
    expect(decided).toMatchObject({ status: 'APPROVED', reason: null, partnerExternalRef: 'HI-1', decidedAt: '2026-01-06T12:02:00.000Z' })
    expect(await read(app, operator, id)).toEqual(decided)
    expect(decided.events.slice(-2)).toEqual([
      {
        ...{ type: 'DECIDED', at: '2026-01-06T12:01:00.000Z', fromStatus: 'SUBMITTED', toStatus: 'UNDER_REVIEW', subject: null },
        ...{ actor: operator.id, ...review },
      },
      {
        ...{ type: 'DECIDED', at: '2026-01-06T12:02:00.000Z', fromStatus: 'UNDER_REVIEW', toStatus: 'APPROVED', subject: null },
        ...{ actor: operator.id, reason: null, partnerExternalRef: null },
      },
    ])
    expect(decided.decisions.map(({ decision, actor }: Answer['body']) => [decision, actor])).toEqual([
      ['UNDER_REVIEW', operator.id],
      ['APPROVED', operator.id],
    ])
    const ownView = ok(await app.call('GET', applicationPath(id), { token: merchant.token })).body
    expect(ownView).toMatchObject({ status: 'APPROVED', partnerExternalRef: 'HI-1' })
    for (const name of ['events', 'decisions', 'documents', 'createdBy']) expect(ownView).not.toHaveProperty(name)
  })

  test('a repeated review keeps the state and records a new reason or reference beside the earlier one', async () => {
    await using lending = await lendingApp()
    const { app, merchant, operator } = lending
    const { id } = await createSubmitted(app, merchant)
    ok(await decide(app, operator, id, 'UNDER_REVIEW', { reason: 'First look' }))
    expect(ok(await decide(app, operator, id, 'UNDER_REVIEW', { partnerExternalRef: 'HI-2' })).body).toMatchObject({
      ...{ status: 'UNDER_REVIEW', reason: 'First look', partnerExternalRef: 'HI-2' },
    })
    const repeated = ok(await decide(app, operator, id, 'UNDER_REVIEW', { reason: 'Second look', partnerExternalRef: null })).body
    expect(repeated).toMatchObject({ status: 'UNDER_REVIEW', reason: 'Second look', partnerExternalRef: 'HI-2', decidedAt: null })
    expect(repeated.events.map(({ type, reason }: Answer['body']) => [type, reason]).slice(-3)).toEqual([
      ['DECIDED', 'First look'],
      ['DECIDED', null],
      ['DECIDED', 'Second look'],
    ])
  })

  test('a decision with an Idempotency-Key is made once and its response repeated', async () => {
    await using lending = await lendingApp()
    const { app, merchant, operator } = lending
    const { id } = await createSubmitted(app, merchant)
    const review = () =>
      app.call('POST', `/admin${applicationPath(id, '/decision')}`, {
        token: operator.token,
        body: { decision: 'UNDER_REVIEW', reason: 'First look' },
        headers: { 'idempotency-key': 'look-1' },
      })
    const first = ok(await review())
    const repeated = ok(await review())
    expect([repeated.text, repeated.headers.get('idempotent-replayed')]).toEqual([first.text, 'true'])
    expect(ok(await app.call('GET', `/admin${applicationPath(id)}`, { token: operator.token })).body.decisions).toHaveLength(1)
  })

  test('the history of an application is limited to the newest events and marked as capped', async () => {
    await using lending = await lendingApp()
    const { app, merchant, operator } = lending
    const { id } = await createDraft(app, merchant)
    const read = async () => ok(await app.call('GET', `/admin${applicationPath(id)}`, { token: operator.token })).body
    const [first] = (await app.deps.db.read.select().from(lendingEvents)) as [typeof lendingEvents.$inferSelect]
    const more = Array.from({ length: historyMax - 1 }, (_, nth) => ({ ...first, id: app.deps.newId('event'), position: nth + 2 }))
    await app.deps.db.write(async (tx) => {
      for (let at = 0; at < more.length; at += 500) await tx.insert(lendingEvents).values(more.slice(at, at + 500))
    })
    const complete = await read()
    expect([complete.events.length, complete.historyCapped]).toEqual([historyMax, undefined])
    const last = { ...first, id: app.deps.newId('event'), position: historyMax + 1, reason: 'The last' }
    await app.deps.db.write(async (tx) => void (await tx.insert(lendingEvents).values(last)))
    const capped = await read()
    expect([capped.events.length, capped.historyCapped, capped.events.at(-1).reason]).toEqual([historyMax, true, 'The last'])
  })

  test('an assessment is computed by the current rules, stored with its result, and does not decide', async () => {
    await using lending = await lendingApp()
    const { app, merchant, operator } = lending
    const { id } = await createSubmitted(app, merchant)
    const figures = { cohort: 'US_COMPANY', monthlyAvgRevenueUsd: 40_000.5, verifiedCollateralUsd: 10_000, operationalRisk: 'LOW' }
    ok(await decide(app, operator, id, 'UNDER_REVIEW'))
    const request = { token: operator.token, body: figures }
    const envelope = ok(await app.call('POST', '/admin/lending-application/credit-tier/preview', request)).body
    const flagged = { ...figures, hardComplianceFlags: ['SANCTIONS'] }
    const [none, refused] = [
      ok(await decide(app, operator, id, 'UNDER_REVIEW', { assessment: figures })).body,
      ok(await decide(app, operator, id, 'APPROVED', { assessment: flagged })).body,
    ]
    expect(none.decisions.map(({ envelope }: Answer['body']) => envelope)).toEqual([null, envelope])
    expect(refused.status).toBe('APPROVED')
    expect(refused.decisions[0]).toMatchObject({ assessment: null, envelope: null, ruleVersion: null })
    expect(refused.decisions[1]).toMatchObject({ assessment: { ...figures, hardComplianceFlags: null }, envelope })
    expect(refused.decisions[2]).toMatchObject({
      ...{ decision: 'APPROVED', assessment: flagged, envelope: { tier: 'T0', ceilingUsd: 0, reason: 'HARD_COMPLIANCE_FLAG' } },
      ruleVersion: refused.decisions[1].ruleVersion,
    })
    for await (const { problem } of replay(app.deps)) expect(problem).toBeUndefined()
  })

  test('an assessment of another cohort or an invalid one is 400 and decides nothing', async () => {
    await using lending = await lendingApp()
    const { app, merchant, operator } = lending
    const { id } = await createSubmitted(app, merchant)
    const figures = { cohort: 'US_COMPANY', monthlyAvgRevenueUsd: 1, verifiedCollateralUsd: 1, operationalRisk: 'LOW' }
    for (const [change, message] of [
      [{ cohort: 'UK_LTD' }, /^assessment\.cohort: must be the cohort of the application$/],
      [{ cohort: 'MARS_LTD' }, /^assessment\.cohort:/],
      [{ monthlyAvgRevenueUsd: -1 }, /^assessment\.monthlyAvgRevenueUsd:/],
      [{ verifiedCollateralUsd: 0.001 }, /verifiedCollateralUsd:/],
      [{ operationalRisk: 'NONE' }, /^assessment\.operationalRisk:/],
      [{ more: 1 }, /^unknown field: assessment\.more$/],
    ] as const) {
      const answer = await decide(app, operator, id, 'APPROVED', { assessment: { ...figures, ...change } })
      expect([change, answer.status]).toEqual([change, 400])
      expect(answer.body.message).toMatch(message)
    }
    // The JSON parser rounds this number to 1, but it is refused.
    const raw = JSON.stringify({ decision: 'APPROVED', assessment: figures }).replace('Usd":1,', 'Usd":1.0000000000000000001,')
    const headers = { 'content-type': 'application/json' }
    const inexact = await app.call('POST', `/admin${applicationPath(id)}/decision`, { token: operator.token, raw, headers })
    expect([inexact.status, inexact.body.message]).toEqual([400, expect.stringMatching(/^assessment\.monthlyAvgRevenueUsd:/)])
    expect(await read(app, operator, id)).toMatchObject({ status: 'SUBMITTED', decisions: [] })
    expect(await app.deps.creditStore.rulesOf(ruleVersion)).toBeUndefined()
    // The figures are validated before the application is read, also if it does not exist.
    const fractional = { assessment: { ...figures, monthlyAvgRevenueUsd: 1.001 } }
    for (const applicationId of [(await createDraft(app, merchant)).id, 'loan_00000000000000000000000000'])
      expect((await decide(app, operator, applicationId, 'APPROVED', fractional)).body.message).toMatch(
        /^assessment\.monthlyAvgRevenueUsd:/,
      )
  })

  test('an invalid decision is 400, one of an unknown application 404, one of another version 412, before the state is checked', async () => {
    await using lending = await lendingApp()
    const { app, merchant, operator } = lending
    const { id } = await createDraft(app, merchant)
    const body = (more: object) => app.call('POST', `/admin${applicationPath(id)}/decision`, { token: operator.token, body: more })
    for (const [sent, message] of [
      [{}, /^decision:/],
      [{ decision: 'WITHDRAWN' }, /^decision: must be one of APPROVED, REJECTED, UNDER_REVIEW/],
      [{ decision: 'DRAFT' }, /^decision:/],
      [{ decision: 'APPROVED', reason: 5 }, /^reason:/],
      [{ decision: 'APPROVED', reason: 'z'.repeat(2_001) }, /^reason:/],
      [{ decision: 'APPROVED', partnerExternalRef: ' ' }, /^partnerExternalRef:/],
      [{ decision: 'APPROVED', partnerExternalRef: 'z'.repeat(201) }, /^partnerExternalRef:/],
      [{ decision: 'APPROVED', status: 'APPROVED' }, /^unknown field: status$/],
    ] as const) {
      const answer = await body(sent)
      expect([JSON.stringify(sent).slice(0, 50), answer.status]).toEqual([JSON.stringify(sent).slice(0, 50), 400])
      expect(answer.body.message).toMatch(message)
    }
    const nowhere = 'loan_00000000000000000000000000'
    for (const headers of [{}, { 'if-match': '"v9"' }])
      expect(
        (
          await app.call('POST', `/admin${applicationPath(nowhere)}/decision`, {
            token: operator.token,
            body: { decision: 'APPROVED' },
            headers,
          })
        ).status,
      ).toBe(404)
    expect((await app.call('GET', `/admin${applicationPath(nowhere)}`, { token: operator.token })).status).toBe(404)
    const stale = { token: operator.token, body: { decision: 'APPROVED' }, headers: { 'if-match': '"v9"' } }
    expect((await app.call('POST', `/admin${applicationPath(id)}/decision`, stale)).status).toBe(412)
    const early = await decide(app, operator, id, 'APPROVED')
    expect([early.status, early.body.message]).toEqual([409, 'The application was not submitted yet'])
  })
})

test('operators read the business of an application in the queue, alone and on decision; null without a record', async () => {
  await using lending = await lendingApp()
  const { app, merchant, operator } = lending
  const kyb = ok(await app.call('GET', '/kyb', { token: merchant.token })).body
  const { id } = await createSubmitted(app, merchant)
  const business = { id: kyb.id, legalName: kyb.legalName }
  const queued = ok(await app.call('GET', '/admin/lending-application?status=SUBMITTED', { token: operator.token })).body.data
  const complete = ok(await app.call('GET', `/admin/lending-application/${id}`, { token: operator.token })).body
  const decided = ok(await decide(app, operator, id, 'REJECTED')).body
  expect([...queued, complete, decided].map((one) => one.business)).toEqual([business, business, business])
  await using list = await openQueue([{}])
  expect(ok(await list.queue('')).body.data).toMatchObject([{ business: null }])
})

test('the database refuses to change, remove or replace events and decisions of an application', async () => {
  await using lending = await lendingApp()
  const { app, merchant, operator } = lending
  const { id } = await createApplicationIn(app, merchant, operator, 'APPROVED')
  const readApplication = async () => ok(await app.call('GET', `/admin/lending-application/${id}`, { token: operator.token })).body
  const before = await readApplication()
  const statements = [
    sql`update lending_events set actor = 'x' returning id`,
    sql`delete from lending_events returning id`,
    sql`update lending_decisions set decision = 'REJECTED' returning id`,
    sql`delete from lending_decisions returning id`,
    ...(engine === 'postgres'
      ? [sql`truncate lending_events`, sql`truncate lending_decisions`]
      : [
          sql`insert or replace into lending_events (id, application_id, position, type, to_status, actor, at) select 'evt_x', application_id, position, type, to_status, 'x', at from lending_events`,
          sql`insert or replace into lending_decisions (id, application_id, decision, actor, at) select id, application_id, 'REJECTED', actor, at from lending_decisions`,
        ]),
  ]
  for (const statement of statements) await expect(app.deps.db.write((tx) => tx.rows(statement))).rejects.toThrow()
  expect(await readApplication()).toEqual(before)
})

test('a merchant has a limited number of drafts, also with concurrent requests and drafts by an operator; other applications do not count', async () => {
  await using lending = await lendingApp()
  const { app, merchant, operator } = lending
  const { id } = await createApplicationIn(app, merchant, operator, 'SUBMITTED')
  const createDraft = ({ token }: { token: string }, body: object = {}) => app.call('POST', '/lending-application', { token, body })
  const answers = await Promise.all(Array.from({ length: draftsMax + 5 }, () => createDraft(merchant)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(draftsMax)
  const refused = answers.filter(({ status }) => status === 409)
  expect([refused.length, refused[0]?.body.message]).toEqual([
    5,
    'The merchant has 50 drafts, which is the maximum. Submit or withdraw one first',
  ])
  expect((await createDraft(operator, { merchantId: merchant.id })).status).toBe(409)
  const [draft] = answers.filter(({ status }) => status === 201)
  ok(await app.call('POST', applicationPath(draft?.body.id, '/withdraw'), { token: merchant.token }))
  ok(await createDraft(operator, { merchantId: merchant.id }), 201)
  expect((await createDraft(merchant)).status).toBe(409)
  ok(await app.call('GET', applicationPath(id), { token: merchant.token }))
})
