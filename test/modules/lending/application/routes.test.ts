/** Tests the merchants' routes of loan applications. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { lendingDocuments } from '../../../../db/schema/lending.ts'
import { cohortDocuments, coreDocuments } from '../../../../src/modules/lending/application/checklist.ts'
import { type Answer, type TestApp, testApp } from '../../../support/app.ts'
import { approveBusiness, fileBusiness } from '../../../support/kyb.ts'
import {
  applicationPath,
  createCompleteDraft,
  createDraft,
  createSubmitted,
  decide,
  lendingApp,
  uploadedDocuments,
} from '../../../support/lending.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const nowhere = 'loan_00000000000000000000000000'
const now = '2026-01-06T12:00:00.000Z'
const refusalOf = ({ status, body }: Answer) => [status, body.message]

describe('the switch', () => {
  test('with lending disabled its routes are 404 for every caller, under both prefixes', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const routes = [
      ...['POST /lending-application', 'GET /lending-application', `GET ${applicationPath(nowhere)}`, `PATCH ${applicationPath(nowhere)}`],
      ...[
        `POST ${applicationPath(nowhere, '/submit')}`,
        `POST ${applicationPath(nowhere, '/withdraw')}`,
        `GET ${applicationPath(nowhere, '/checklist')}`,
      ],
      ...['GET /admin/lending-application', `GET /admin/lending-application/${nowhere}`],
      `POST /admin/lending-application/${nowhere}/decision`,
      ...['PUT', 'GET', 'DELETE'].map((method) => `${method} ${applicationPath(nowhere, '/documents/owner_id')}`),
      `GET /admin${applicationPath(nowhere, '/documents/owner_id')}`,
    ]
    for (const route of routes)
      for (const prefix of ['', '/api/v3']) {
        const [method = '', routePath = ''] = route.split(' ')
        for (const sent of [{}, { token }, { token, ...(method === 'GET' ? {} : { raw: '{' }) }]) {
          const answer = await app.call(method, prefix + routePath, sent)
          expect([route, ...refusalOf(answer)]).toEqual([route, 404, 'Unknown path'])
        }
      }
  })

  test('with lending enabled the routes also exist under API_V3_PREFIX', async () => {
    await using lending = await lendingApp()
    const { app, merchant, operator } = lending
    const { id } = ok(await app.call('POST', '/api/v3/lending-application', { token: merchant.token, body: {} }), 201).body
    for (const [caller, route] of [
      [merchant, applicationPath(id)],
      [merchant, applicationPath(id, '/checklist')],
      [merchant, '/lending-application'],
      [operator, `/admin${applicationPath(id)}`],
      [operator, '/admin/lending-application?status=DRAFT'],
    ] as const) {
      const [one, twin] = [
        await app.call('GET', route, { token: caller.token }),
        await app.call('GET', `/api/v3${route}`, { token: caller.token }),
      ]
      expect([route, twin.status, twin.text]).toEqual([route, 200, one.text])
    }
  })
})

describe('a draft', () => {
  test('a draft has the cohort of the KYB record and its tier, and is read as it was created', async () => {
    await using lending = await lendingApp({ cohort: 'SG_PTE' })
    const { app, merchant } = lending
    const created = await app.call('POST', '/lending-application', { token: merchant.token })
    const { id, ...rest } = created.body
    expect(created.status).toBe(201)
    expect(id).toMatch(/^loan_[0-9a-z]{26}$/)
    expect(rest).toEqual({
      merchantId: merchant.id,
      cohort: 'SG_PTE',
      tier: 'TIER_2_PARTNER',
      status: 'DRAFT',
      requestedAmountUsd: null,
      requestedTermMonths: null,
      purposeCode: null,
      selectedTier1Partner: null,
      selectedTier2Partner: null,
      documentationCompleted: null,
      reason: null,
      partnerExternalRef: null,
      submittedAt: null,
      decidedAt: null,
      createdAt: now,
      updatedAt: now,
    })
    const read = await app.call('GET', applicationPath(id), { token: merchant.token })
    expect([read.status, read.text, read.headers.get('etag')]).toEqual([200, created.text, created.headers.get('etag')])
    expect(read.headers.get('cache-control')).toBe('no-store')
  })

  test('a draft needs an approved KYB record: without one every gated route is 403 before its body is read, with advice', async () => {
    await using app = await testApp({ LENDING_PLATFORM_ENABLED: 'true' })
    const operator = await app.superAdmin()
    const merchant = await app.merchant()
    const gated = [
      'POST /lending-application',
      `PATCH ${applicationPath(nowhere)}`,
      `POST ${applicationPath(nowhere, '/submit')}`,
      `POST ${applicationPath(nowhere, '/withdraw')}`,
    ]
    const message = 'This requires an approved KYB record: submit one with POST /kyb'
    const expectGated = async () => {
      for (const route of gated) {
        const [method = '', routePath = ''] = route.split(' ')
        expect([route, ...refusalOf(await app.call(method, routePath, { token: merchant.token, raw: '{' }))]).toEqual([route, 403, message])
      }
      expect((await app.call('GET', '/lending-application', { token: merchant.token })).body.total).toBe(0)
    }
    await expectGated()
    const { id } = await fileBusiness(app, merchant)
    await expectGated()
    ok(await app.call('POST', `/admin/kyb/${id}/decision`, { token: operator.token, body: { decision: 'REJECTED' } }))
    await expectGated()
    await approveBusiness(app, merchant, operator)
    await createDraft(app, merchant)
  })

  test('a merchant drafts only in the cohort of the KYB record and only for itself', async () => {
    await using lending = await lendingApp()
    const { app, merchant } = lending
    const other = await app.merchant()
    const draft = (body: object) => app.call('POST', '/lending-application', { token: merchant.token, body })
    expect((await createDraft(app, merchant, { cohort: 'US_COMPANY', merchantId: merchant.id })).cohort).toBe('US_COMPANY')
    for (const [body, status, message] of [
      [{ cohort: 'UK_LTD' }, 400, /^cohort: must be the cohort of the approved KYB record/],
      [{ cohort: 'MARS_LTD' }, 400, /^cohort: must be one of UAE_MAINLAND, /],
      [{ cohort: null }, 400, /^cohort:/],
      [{ merchantId: other.id }, 403, /^merchantId: must be your own merchant id$/],
      [{ merchantId: 'x'.repeat(65) }, 400, /^merchantId:/],
      [{ tier: 'TIER_2_PARTNER' }, 400, /^unknown field: tier$/],
      [{ status: 'APPROVED' }, 400, /^unknown field: status$/],
    ] as const) {
      const answer = await draft(body)
      expect([JSON.stringify(body).slice(0, 40), answer.status]).toEqual([JSON.stringify(body).slice(0, 40), status])
      expect(answer.body.message).toMatch(message)
    }
    expect((await app.call('GET', '/lending-application', { token: merchant.token })).body.total).toBe(1)
  })

  test('an operator drafts for a merchant in any cohort, but not without a merchant or a KYB record', async () => {
    await using lending = await lendingApp()
    const { app, merchant, operator } = lending
    const other = await app.merchant()
    const draft = (body: object) => app.call('POST', '/lending-application', { token: operator.token, body })
    const created = ok(await draft({ merchantId: merchant.id, cohort: 'UK_LTD' }), 201).body
    expect(created).toMatchObject({ merchantId: merchant.id, cohort: 'UK_LTD', tier: 'TIER_2_PARTNER', status: 'DRAFT' })
    expect(ok(await draft({ merchantId: merchant.id }), 201).body).toMatchObject({ cohort: 'US_COMPANY', tier: 'TIER_1_REFERRAL' })
    expect((await app.call('GET', applicationPath(created.id), { token: merchant.token })).status).toBe(200)
    expect((await app.call('GET', applicationPath(created.id), { token: operator.token })).status).toBe(403)
    const adminView = ok(await app.call('GET', `/admin${applicationPath(created.id)}`, { token: operator.token })).body
    expect([adminView.createdBy, adminView.events[0].actor]).toEqual([operator.id, operator.id])
    expect(refusalOf(await draft({ cohort: 'UK_LTD' }))).toEqual([400, 'merchantId: required for operators'])
    for (const merchantId of ['mer_00000000000000000000000000', operator.id])
      expect(refusalOf(await draft({ merchantId }))).toEqual([404, 'No such merchant'])
    expect(refusalOf(await draft({ merchantId: other.id }))).toEqual([403, 'The merchant has no approved KYB record'])
  })

  test('a draft with an Idempotency-Key is created once', async () => {
    await using lending = await lendingApp()
    const { app, merchant } = lending
    const draft = () =>
      app.call('POST', '/lending-application', { token: merchant.token, body: {}, headers: { 'idempotency-key': 'once' } })
    const [first, again] = [ok(await draft(), 201), ok(await draft(), 201)]
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true'])
    expect((await app.call('GET', '/lending-application', { token: merchant.token })).body.total).toBe(1)
  })
})

describe('a change of a draft', () => {
  const update = (app: TestApp, { token }: { token: string }, id: string, body: object, headers: Record<string, string> = {}) =>
    app.call('PATCH', applicationPath(id), { token, body, headers })

  test('a change sets the named fields, null clears them, and an unchanged value raises no version', async () => {
    await using lending = await lendingApp()
    const { app, merchant, operator } = lending
    const { id } = await createDraft(app, merchant)
    app.clock.advance(60_000)
    const change = {
      requestedAmountUsd: 25_000.5,
      requestedTermMonths: 12,
      purposeCode: 'INVENTORY',
      selectedTier1Partner: 'HARBOR_INVENTORY',
      selectedTier2Partner: 'acme-capital',
      documentationCompleted: { items: [{ key: 'owner_id', status: 'PENDING', by: { who: 'me' } }], note: 'soon', __proto: [1] },
    }
    const first = ok(await update(app, merchant, id, change))
    expect(first.body).toMatchObject({ ...change, status: 'DRAFT', createdAt: now, updatedAt: '2026-01-06T12:01:00.000Z' })
    expect(first.body.documentationCompleted).toEqual(change.documentationCompleted)
    app.clock.advance(60_000)
    for (const same of [change, {}, { purposeCode: 'INVENTORY' }]) {
      const answer = ok(await update(app, merchant, id, same))
      expect([answer.text, answer.headers.get('etag')]).toEqual([first.text, first.headers.get('etag')])
    }
    const auditOf = async () =>
      ok(await app.call('GET', `/admin/audit?subject=${id}&action=lending.changed`, { token: operator.token })).body.data
    expect(await auditOf()).toMatchObject([{ before: { requestedAmountUsd: null }, after: { requestedAmountUsd: 25_000.5 } }])
    const nothing = Object.fromEntries(Object.keys(change).map((name) => [name, null]))
    expect(ok(await update(app, merchant, id, nothing)).body).toMatchObject(nothing)
    const { events } = ok(await app.call('GET', `/admin${applicationPath(id)}`, { token: operator.token })).body
    expect(events.map(({ type, subject }: Answer['body']) => [type, subject])).toEqual([
      ['CREATED', null],
      ['UPDATED', Object.keys(change).sort(byField).join(', ')],
      ['UPDATED', Object.keys(change).sort(byField).join(', ')],
    ])
  })

  test('a change outside the bounds is refused by field without repeating the value', async () => {
    await using lending = await lendingApp()
    const { app, merchant } = lending
    const { id } = await createDraft(app, merchant)
    const before = await app.call('GET', applicationPath(id), { token: merchant.token })
    for (const [change, message] of [
      [{ requestedAmountUsd: 999.99 }, /^requestedAmountUsd:/],
      [{ requestedAmountUsd: 10_000_000.01 }, /^requestedAmountUsd:/],
      [{ requestedAmountUsd: 1_000.001 }, /^requestedAmountUsd: must have at most two decimals$/],
      [{ requestedAmountUsd: -1_000 }, /^requestedAmountUsd:/],
      [{ requestedAmountUsd: 1e308 }, /^requestedAmountUsd:/],
      [{ requestedAmountUsd: '5000' }, /^requestedAmountUsd:/],
      [{ requestedAmountUsd: { amount: 5_000, currency: 'USD' } }, /^requestedAmountUsd:|^unknown field/],
      [{ requestedTermMonths: 0 }, /^requestedTermMonths:/],
      [{ requestedTermMonths: 61 }, /^requestedTermMonths:/],
      [{ requestedTermMonths: 1.5 }, /^requestedTermMonths:/],
      [{ requestedTermMonths: '12' }, /^requestedTermMonths:/],
      [{ purposeCode: 'YACHT' }, /^purposeCode: must be one of INVENTORY, /],
      [{ purposeCode: '' }, /^purposeCode:/],
      [{ selectedTier1Partner: 'YACHT' }, /^selectedTier1Partner: must be one of HARBOR_INVENTORY, /],
      [{ selectedTier2Partner: ' ' }, /^selectedTier2Partner: must be text that is not blank$/],
      [{ selectedTier2Partner: 'z'.repeat(201) }, /^selectedTier2Partner:/],
      [{ selectedTier2Partner: 5 }, /^selectedTier2Partner:/],
      [{ documentationCompleted: [] }, /^documentationCompleted: must be an object$/],
      [{ documentationCompleted: 'UPLOADED' }, /^documentationCompleted:/],
      [{ documentationCompleted: { items: {} } }, /^documentationCompleted\.items: must be a list$/],
      [{ documentationCompleted: { items: [{ key: 'YACHT' }] } }, /^documentationCompleted\.items\.0\.status: must be a string$/],
      [{ documentationCompleted: { text: 'z'.repeat(65_536) } }, /^documentationCompleted: must not be larger than 64 KB$/],
      [
        { documentationCompleted: { a: { b: { c: { d: { e: {} } } } } } },
        /^documentationCompleted: must not be nested deeper than 5 levels$/,
      ],
      ...['status', 'tier', 'cohort', 'merchantId', 'createdBy', 'submittedAt', 'id', 'version', 'partnerExternalRef'].map(
        (name) => [{ [name]: 'YACHT' }, new RegExp(`^unknown field: ${name}$`)] as const,
      ),
    ] as const) {
      const answer = await update(app, merchant, id, change)
      expect([JSON.stringify(change).slice(0, 60), answer.status]).toEqual([JSON.stringify(change).slice(0, 60), 400])
      expect(answer.body.message).toMatch(message)
      expect(answer.text).not.toMatch(/YACHT|zzz/)
    }
    const twice = '{"documentationCompleted":{"items":[],"items":[{"key":"owner_id","status":"UPLOADED"}]}}'
    const headers = { 'content-type': 'application/json' }
    expect(refusalOf(await app.call('PATCH', applicationPath(id), { token: merchant.token, raw: twice, headers }))).toEqual([
      400,
      'documentationCompleted.items: given twice',
    ])
    // Each value is within its bounds only after rounding by the JSON parser.
    for (const [raw, field] of [
      ['{"requestedAmountUsd":10000000.0000000001}', 'requestedAmountUsd'],
      ['{"requestedAmountUsd":1000.00000000000000000001}', 'requestedAmountUsd'],
      ['{"requestedTermMonths":1.0000000000000000001}', 'requestedTermMonths'],
      ['{"documentationCompleted":{"pages":12345678901234567890}}', 'documentationCompleted.pages'],
      ['{"documentationCompleted":{"pages":1e400}}', 'documentationCompleted.pages'],
    ] as const)
      expect([raw, ...refusalOf(await app.call('PATCH', applicationPath(id), { token: merchant.token, raw, headers }))]).toEqual([
        raw,
        400,
        `${field}: has too many digits to be exact`,
      ])
    expect((await app.call('GET', applicationPath(id), { token: merchant.token })).text).toBe(before.text)
    for (const [requestedAmountUsd, requestedTermMonths] of [
      [1_000, 1],
      [1_000.01, 60],
      [10_000_000, 2],
      [9_999_999.99, 59],
    ])
      expect(ok(await update(app, merchant, id, { requestedAmountUsd, requestedTermMonths })).body).toMatchObject({
        requestedAmountUsd,
        requestedTermMonths,
      })
  })

  test('a change of an old version is 412, and of a submitted application 409', async () => {
    await using lending = await lendingApp()
    const { app, merchant } = lending
    const draft = await createCompleteDraft(app, merchant)
    const read = await app.call('GET', applicationPath(draft.id), { token: merchant.token })
    const tag = { 'if-match': read.headers.get('etag') ?? '' }
    ok(await update(app, merchant, draft.id, { requestedTermMonths: 6 }, tag))
    expect((await update(app, merchant, draft.id, { requestedTermMonths: 7 }, tag)).status).toBe(412)
    ok(await app.call('POST', applicationPath(draft.id, '/submit'), { token: merchant.token }))
    expect((await update(app, merchant, draft.id, { requestedTermMonths: 7 }, tag)).status).toBe(412)
    expect(refusalOf(await update(app, merchant, draft.id, { requestedTermMonths: 7 }))).toEqual([409, 'Only a draft can be changed'])
    // An update without a change is refused, too.
    expect((await update(app, merchant, draft.id, {})).status).toBe(409)
  })

  test('an uploaded document stays UPLOADED whatever the merchant sends', async () => {
    await using lending = await lendingApp()
    const { app, merchant } = lending
    const { id } = await createDraft(app, merchant)
    await app.deps.db.write(async (tx) => {
      await tx.insert(lendingDocuments).values({
        ...{
          id: 'ldoc_1',
          applicationId: id,
          key: 'owner_id',
          store: 'FILES',
          storageName: 'a',
          mimeType: 'image/png',
          size: 1,
          hash: 'h',
        },
        ...{ originalName: null, sealedKey: 'k', uploadedBy: merchant.id, uploadedAt: 1 },
      })
    })
    for (const sent of [null, {}, { items: [{ key: 'owner_id', status: 'LATER' }] }]) {
      const { documentationCompleted } = ok(await update(app, merchant, id, { documentationCompleted: sent })).body
      expect(documentationCompleted).toEqual({ items: [{ key: 'owner_id', status: 'UPLOADED' }] })
    }
    const free = { items: [{ key: 'ein_letter', status: 'LATER' }], note: 'kept' }
    expect(ok(await update(app, merchant, id, { documentationCompleted: free })).body.documentationCompleted).toEqual({
      items: [...free.items, { key: 'owner_id', status: 'UPLOADED' }],
      note: 'kept',
    })
  })
})

describe('submitting', () => {
  test('a submission with missing documents is 422 with their keys and keeps the draft; with all of them it enters the queue', async () => {
    await using lending = await lendingApp()
    const { app, merchant } = lending
    const { id } = await createDraft(app, merchant)
    const submit = () => app.call('POST', applicationPath(id, '/submit'), { token: merchant.token })
    const requiredKeys: string[] = [...coreDocuments, ...cohortDocuments.US_COMPANY].map(({ key }) => key)
    const before = await app.call('GET', applicationPath(id), { token: merchant.token })
    expect(refusalOf(await submit())).toEqual([422, `Documents are missing: ${requiredKeys.join(', ')}`])
    expect((await app.call('GET', applicationPath(id), { token: merchant.token })).text).toBe(before.text)
    const update = (body: object) => app.call('PATCH', applicationPath(id), { token: merchant.token, body })
    ok(await update({ documentationCompleted: { items: requiredKeys.slice(1).map((key) => ({ key, status: 'UPLOADED' })) } }))
    expect(refusalOf(await submit())).toEqual([422, 'Documents are missing: bank_statements_12m'])
    // Another partner requires more documents.
    const all = uploadedDocuments({ cohort: 'US_COMPANY', selectedTier1Partner: null })
    ok(await update({ documentationCompleted: all, selectedTier1Partner: 'MERIDIAN_REVENUE' }))
    expect(refusalOf(await submit())).toEqual([422, 'Documents are missing: processor_statements_6m, direct_debit_mandate'])
    ok(await update({ selectedTier1Partner: null }))
    app.clock.advance(60_000)
    // Amount, term and purpose are missing.
    expect(ok(await submit()).body).toMatchObject({
      status: 'SUBMITTED',
      submittedAt: '2026-01-06T12:01:00.000Z',
      requestedAmountUsd: null,
    })
    expect(refusalOf(await submit())).toEqual([409, 'The application was already submitted or withdrawn'])
  })

  test('the checklist of an application follows its cohort and its partner', async () => {
    await using lending = await lendingApp({ cohort: 'MN_SOLE' })
    const { app, merchant } = lending
    const { id } = await createDraft(app, merchant)
    const read = async () => ok(await app.call('GET', applicationPath(id, '/checklist'), { token: merchant.token })).body
    const first = await read()
    expect([first.cohort, first.partner]).toEqual(['MN_SOLE', ''])
    expect(first.items.find(({ key }: { key: string }) => key === 'processor_statements_6m')).toMatchObject({ required: false })
    expect(first.items[0]).toEqual({
      key: 'bank_statements_12m',
      label: 'Bank statements, 12 months',
      description: expect.any(String),
      required: true,
      acceptedMimeTypes: ['application/pdf', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'text/csv'],
      maxSizeMb: 25,
    })
    ok(await app.call('PATCH', applicationPath(id), { token: merchant.token, body: { selectedTier1Partner: 'MERIDIAN_REVENUE' } }))
    const second = await read()
    expect([second.partner, second.items.length - first.items.length]).toEqual(['MERIDIAN_REVENUE', 1])
    expect(second.items.find(({ key }: { key: string }) => key === 'processor_statements_6m')).toMatchObject({ required: true })
  })
})

describe('ownership', () => {
  test("another merchant's application is 404 on every route, like a missing one", async () => {
    await using lending = await lendingApp()
    const { app, merchant, operator } = lending
    const other = await app.merchant()
    await approveBusiness(app, other, operator)
    const { id } = await createCompleteDraft(app, merchant)
    const before = await app.call('GET', applicationPath(id), { token: merchant.token })
    for (const target of [id, nowhere, 'x'])
      for (const [method, rest, body] of [
        ['GET', '', undefined],
        ['GET', '/checklist', undefined],
        ['PATCH', '', { requestedTermMonths: 3 }],
        ['POST', '/submit', undefined],
        ['POST', '/withdraw', { reason: 'none' }],
      ] as const) {
        const answer = await app.call(method, applicationPath(target, rest), { token: other.token, ...(body && { body }) })
        expect([method, rest, ...refusalOf(answer)]).toEqual([method, rest, 404, 'No such lending application'])
        if (method === 'GET') continue
        const stale = await app.call(method, applicationPath(target, rest), {
          token: other.token,
          ...(body && { body }),
          headers: { 'if-match': '"v9"' },
        })
        expect([method, rest, stale.status]).toEqual([method, rest, 404])
      }
    expect((await app.call('GET', applicationPath(id), { token: merchant.token })).text).toBe(before.text)
    const listed = await app.call('GET', '/lending-application', { token: other.token })
    expect(listed.body).toMatchObject({ data: [], total: 0 })
  })

  test('a merchant lists only its own applications, newest first, by page; those of another are 403', async () => {
    await using lending = await lendingApp()
    const { app, merchant } = lending
    const ids = []
    for (let nth = 0; nth < 3; nth++) ids.unshift((await createDraft(app, merchant)).id)
    const list = (query: string) => app.call('GET', `/lending-application${query}`, { token: merchant.token })
    const all = ok(await list(`?merchantId=${merchant.id}`)).body
    expect([all.data.map(({ id }: { id: string }) => id), all.page, all.limit, all.total, all.pages]).toEqual([ids, 1, 20, 3, 1])
    expect(all.data[0]).toEqual(ok(await app.call('GET', applicationPath(ids[0]), { token: merchant.token })).body)
    expect(ok(await list('?limit=1&page=2')).body).toMatchObject({ data: [{ id: ids[1] }], limit: 1, total: 3, pages: 3 })
    expect(ok(await list('?page=9')).body).toMatchObject({ data: [], total: 3 })
    expect((await list('?merchantId=mer_other')).status).toBe(403)
    expect(ok(await list('?merchantId=')).body.total).toBe(3)
    for (const query of ['?status=DRAFT', '?page=0', `?merchantId=${'x'.repeat(65)}`])
      expect([query.slice(0, 20), (await list(query)).status]).toEqual([query.slice(0, 20), 400])
  })
})

test('a withdrawal is final, keeps its reason and informs the operators', async () => {
  await using lending = await lendingApp()
  const { app, merchant, operator } = lending
  const { id } = await createSubmitted(app, merchant)
  const withdraw = (body?: object) => app.call('POST', applicationPath(id, '/withdraw'), { token: merchant.token, ...(body && { body }) })
  for (const body of [{ reason: 5 }, { reason: 'z'.repeat(2_001) }, { because: 'none' }])
    expect([JSON.stringify(body).slice(0, 30), (await withdraw(body)).status]).toEqual([JSON.stringify(body).slice(0, 30), 400])
  const stale = { token: merchant.token, headers: { 'if-match': '"v1"' } }
  for (const rest of ['/submit', '/withdraw'])
    expect([rest, (await app.call('POST', applicationPath(id, rest), stale)).status]).toEqual([rest, 412])
  expect(ok(await withdraw({ reason: 'Another lender' })).body).toMatchObject({
    status: 'WITHDRAWN',
    reason: 'Another lender',
    decidedAt: null,
  })
  expect(refusalOf(await withdraw())).toEqual([409, 'The application was already decided or withdrawn'])
  expect(refusalOf(await decide(app, operator, id, 'APPROVED'))).toEqual([409, 'The application was already decided or withdrawn'])
  const { events } = ok(await app.call('GET', `/admin${applicationPath(id)}`, { token: operator.token })).body
  expect(events.at(-1)).toEqual({
    type: 'WITHDRAWN',
    at: now,
    fromStatus: 'SUBMITTED',
    toStatus: 'WITHDRAWN',
    subject: null,
    actor: merchant.id,
    reason: 'Another lender',
    partnerExternalRef: null,
  })
})

/** Sorts the fields of a change in the order in which it stores them: the converted fields last. */
const last = ['requestedAmountUsd', 'documentationCompleted']
const byField = (a: string, b: string): number => last.indexOf(a) - last.indexOf(b)
