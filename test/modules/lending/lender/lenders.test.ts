/** Tests registering, changing and archiving lenders. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { lenderStatusHistory, lenders } from '../../../../db/schema/lending.ts'
import { lenderStatuses, lenderTransitions } from '../../../../src/modules/lending/lender/domain.ts'
import { testApp } from '../../../support/app.ts'
import { lenderIn } from '../../../support/repayments.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const now = '2026-01-06T12:00:00.000Z'

test('a lender begins as PENDING_KYB and is read and listed with its history', async () => {
  await using app = await testApp()
  const operator = await app.superAdmin()
  const { token } = operator
  const created = await app.call('POST', '/admin/lenders', { token, body: { displayName: 'Harbour Bank' } })
  const { id, ...rest } = created.body
  expect(created.status).toBe(201)
  expect(id).toMatch(/^lend_[0-9a-z]{26}$/)
  expect(rest).toEqual({
    displayName: 'Harbour Bank',
    status: 'PENDING_KYB',
    wallets: [],
    statusHistory: [{ status: 'PENDING_KYB', at: now, actor: operator.id }],
    createdAt: now,
    updatedAt: now,
  })
  const read = await app.call('GET', `/admin/lenders/${id}`, { token })
  expect([read.status, read.text, read.headers.get('etag')]).toEqual([200, created.text, created.headers.get('etag')])
  const second = await lenderIn(app, operator, 'Meridian')
  expect((await app.call('GET', '/admin/lenders', { token })).body).toMatchObject({ total: 2, data: [{ id: second }, { id }] })
  ok(await app.call('PATCH', `/admin/lenders/${second}`, { token, body: { status: 'ACTIVE' } }))
  expect((await app.call('GET', '/admin/lenders?status=ACTIVE', { token })).body).toMatchObject({ total: 1, data: [{ id: second }] })
  expect((await app.call('GET', '/api/v3/admin/lenders?status=ACTIVE&limit=1', { token })).body).toMatchObject({ total: 1, limit: 1 })
})

test('a lender changes status only by its table, and each change adds a row of history', async () => {
  await using app = await testApp()
  const operator = await app.superAdmin()
  const patch = (id: string, status: string) => app.call('PATCH', `/admin/lenders/${id}`, { token: operator.token, body: { status } })
  const stepsTo: Record<string, string[]> = {
    PENDING_KYB: [],
    ACTIVE: ['ACTIVE'],
    SUSPENDED: ['ACTIVE', 'SUSPENDED'],
    ARCHIVED: ['ARCHIVED'],
  }
  for (const from of lenderStatuses) {
    for (const to of lenderStatuses) {
      const id = await lenderIn(app, operator)
      for (const step of stepsTo[from] ?? []) ok(await patch(id, step))
      const allowed = (lenderTransitions[from] as readonly string[]).includes(to)
      const { status, body } = await patch(id, to)
      expect([from, to, status]).toEqual([from, to, allowed || from === to ? 200 : 409])
      const after = (await app.call('GET', `/admin/lenders/${id}`, { token: operator.token })).body
      expect(after.status).toBe(allowed ? to : from)
      expect(after.statusHistory.map((entry: { status: string }) => entry.status)).toEqual([
        'PENDING_KYB',
        ...(stepsTo[from] ?? []),
        ...(allowed ? [to] : []),
      ])
      if (status === 409) expect(body.message).toBe(`status: a lender that is ${from} cannot change to this status`)
    }
  }
})

test('a name changes without a change of status, and unknown fields are refused by name', async () => {
  await using app = await testApp()
  const operator = await app.superAdmin()
  const { token } = operator
  const id = await lenderIn(app, operator)
  const renamed = ok(await app.call('PATCH', `/admin/lenders/${id}`, { token, body: { displayName: 'Harbour Credit' } })).body
  expect([renamed.displayName, renamed.status, renamed.statusHistory.length]).toEqual(['Harbour Credit', 'PENDING_KYB', 1])
  const invalidCalls: [method: string, path: string, body: object, message: RegExp][] = [
    ['POST', '/admin/lenders', {}, /^displayName:/],
    [
      'POST',
      '/admin/lenders',
      { displayName: '  ' },
      /^displayName: must be one line of text that is not blank, without control characters$/,
    ],
    ['POST', '/admin/lenders', { displayName: 'x'.repeat(201) }, /^displayName:/],
    ['POST', '/admin/lenders', { displayName: 'A', owner: [] }, /^unknown field: owner$/],
    ['POST', '/admin/lenders', { displayName: 'A', status: 'ACTIVE' }, /^unknown field: status$/],
    ['PATCH', `/admin/lenders/${id}`, { status: 'CLOSED' }, /^status: must be one of PENDING_KYB, /],
    ['PATCH', `/admin/lenders/${id}`, { id: 'lend_x' }, /^unknown field: id$/],
  ]
  for (const [method, path, body, message] of invalidCalls) {
    const answer = await app.call(method, path, { token, body })
    expect([JSON.stringify(body).slice(0, 60), answer.status, answer.body.message]).toEqual([
      JSON.stringify(body).slice(0, 60),
      400,
      expect.stringMatching(message),
    ])
  }
  const nowhere = await app.call('PATCH', '/admin/lenders/lend_00000000000000000000000000', { token, body: { status: 'ACTIVE' } })
  expect([nowhere.status, nowhere.body.message]).toEqual([404, 'No such lender'])
})

test('of concurrent status changes one wins each step, and the history has no gap', async () => {
  await using app = await testApp()
  const operator = await app.superAdmin()
  const { token } = operator
  const id = await lenderIn(app, operator)
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, nth) =>
      app.call('PATCH', `/admin/lenders/${id}`, { token, body: { status: nth % 2 ? 'ACTIVE' : 'ARCHIVED' } }),
    ),
  )
  expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
  const rows = await app.deps.db.read.select().from(lenderStatusHistory).orderBy(lenderStatusHistory.position)
  expect(rows.map(({ position }) => position)).toEqual(rows.map((_, nth) => nth + 1))
  const [row] = await app.deps.db.read.select().from(lenders)
  expect(rows.at(-1)?.status).toBe(row?.status as never)
  for (const [nth, { status }] of rows.entries())
    if (nth > 0) expect(lenderTransitions[rows[nth - 1]?.status ?? 'ARCHIVED'] as readonly string[]).toContain(status)
})
