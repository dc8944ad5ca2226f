/** Tests versions of lenders' methodologies, and their public routes. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { auditLog } from '../../../../db/schema/people.ts'
import { urlProblem } from '../../../../src/modules/trust/methodology/domain.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { lenderIn } from '../../../support/repayments.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { hashOf, methodology } from '../../../support/trust.ts'

setDefaultTimeout(longTestMs)

const now = '2026-01-06T12:00:00.000Z'
const register = (app: TestApp, token: string, body: object) => app.call('POST', '/admin/methodologies', { token, body })
const readCounts = async (app: TestApp) => (await app.call('GET', '/v2/trust-fabric/stats')).body.methodologies

test('a new version supersedes the active one and is read by its hash in any case', async () => {
  await using app = await testApp()
  const operator = await app.superAdmin()
  const { token } = operator
  const lenderId = await lenderIn(app, operator, 'Harbour Bank')
  expect((await app.call('GET', `/v2/lenders/${lenderId}`)).body).toEqual({
    id: lenderId,
    displayName: 'Harbour Bank',
    status: 'PENDING_KYB',
    activeMethodologies: [],
  })
  const contentHash = `0x${'aB'.repeat(32)}`
  const registered = ok(await register(app, token, { ...methodology(lenderId), contentHash }), 201)
  const { id, updatedAt, ...publicView } = registered.body
  expect(id).toMatch(/^meth_[0-9a-z]{26}$/)
  expect(updatedAt).toBe(now)
  expect(publicView).toEqual({ ...methodology(lenderId), contentHash: contentHash.toLowerCase(), status: 'ACTIVE', registeredAt: now })
  expect(registered.headers.get('etag')).toBe('"v1"')
  for (const hash of [contentHash, contentHash.toLowerCase(), `0x${'AB'.repeat(32)}`])
    expect((await app.call('GET', `/v2/methodologies/${lenderId}/${hash}`)).body).toEqual(publicView)
  expect((await app.call('GET', `/api/v3/v2/lenders/${lenderId}`)).body.activeMethodologies).toEqual([publicView])
  expect(await readCounts(app)).toEqual({ totalLenders: 1, activeVersions: 1 })

  const second = ok(await register(app, token, methodology(lenderId, 2)), 201).body
  const first = await app.call('GET', `/admin/methodologies/${id}`, { token })
  expect([first.body.status, first.headers.get('etag')]).toEqual(['SUPERSEDED', '"v2"'])
  expect((await app.call('GET', `/v2/lenders/${lenderId}`)).body.activeMethodologies).toMatchObject([{ version: '2026.2' }])
  expect((await app.call('GET', `/admin/methodologies?lenderId=${lenderId}&status=SUPERSEDED`, { token })).body).toMatchObject({
    total: 1,
    data: [{ id }],
  })
  expect(await readCounts(app)).toEqual({ totalLenders: 1, activeVersions: 1 })
  const revoke = (methodologyId: string, status = 'REVOKED') =>
    app.call('PATCH', `/admin/methodologies/${methodologyId}`, { token, body: { status } })
  for (const status of ['ACTIVE']) expect((await revoke(id, status)).status).toBe(409)
  expect(ok(await revoke(second.id, 'SUPERSEDED')).body.status).toBe('SUPERSEDED')
  expect(await readCounts(app)).toEqual({ totalLenders: 1, activeVersions: 0 })
  const rows = async () => (await app.deps.db.read.select().from(auditLog)).length
  const before = await rows()
  expect(ok(await revoke(second.id, 'SUPERSEDED')).body.status).toBe('SUPERSEDED')
  expect(await rows()).toBe(before)
  for (const methodologyId of [id, second.id]) expect(ok(await revoke(methodologyId)).body.status).toBe('REVOKED')
  expect(ok(await revoke(id)).body.status).toBe('REVOKED')
  for (const status of ['ACTIVE', 'SUPERSEDED']) expect((await revoke(id, status)).status).toBe(409)
  expect(await readCounts(app)).toEqual({ totalLenders: 1, activeVersions: 0 })
  expect((await app.call('GET', `/v2/lenders/${lenderId}`)).body.activeMethodologies).toEqual([])
  expect((await app.call('GET', `/v2/methodologies/${lenderId}/${contentHash}`)).body.status).toBe('REVOKED')
})

test('an archived lender registers no methodology', async () => {
  await using app = await testApp()
  const operator = await app.superAdmin()
  const { token } = operator
  const lenderId = await lenderIn(app, operator)
  ok(await app.call('PATCH', `/admin/lenders/${lenderId}`, { token, body: { status: 'ARCHIVED' } }))
  expect((await register(app, token, methodology(lenderId))).status).toBe(409)
  expect(await readCounts(app)).toEqual({ totalLenders: 0, activeVersions: 0 })
})

test('an invalid methodology is refused by field; an existing version or hash is 409', async () => {
  await using app = await testApp()
  const operator = await app.superAdmin()
  const { token } = operator
  const [lenderId, other] = [await lenderIn(app, operator), await lenderIn(app, operator)]
  const invalidFields: [object, RegExp][] = [
    [{ contentHash: hashOf(1).slice(2) }, /^contentHash:/],
    [{ contentHash: `${hashOf(1)}0` }, /^contentHash:/],
    [{ contentHash: `0x${'g'.repeat(64)}` }, /^contentHash: must be 0x and 64 hexadecimal digits/],
    [{ documentUrl: 'http://lender.example/a.pdf' }, /^documentUrl: must be a URL that begins with https/],
    [{ contentHash: `0x${'0'.repeat(64)}` }, /^contentHash: must be the hash of the document/],
    [{ documentUrl: 'https://user:planted@lender.example/a.pdf' }, /^documentUrl: must not contain a user name or password$/],
    [{ documentUrl: 'https://' }, /^documentUrl: must have a host after https/],
    [{ version: 'a\u202eb' }, /^version: must be one line of text that is not blank, without control/],
    [{ version: ' ' }, /^version:/],
    [{ version: 'a'.repeat(101) }, /^version:/],
    [{ lenderId: `lend_${'0'.repeat(26)}` }, /^lenderId: must be a lender of this instance$/],
    [{ status: 'ACTIVE' }, /^unknown field: status$/],
  ]
  for (const [fields, message] of invalidFields) {
    const answer = await register(app, token, { ...methodology(lenderId), ...fields })
    expect([JSON.stringify(fields), answer.status, answer.body.message]).toEqual([
      JSON.stringify(fields),
      400,
      expect.stringMatching(message),
    ])
    expect(answer.text).not.toContain('planted')
  }
  ok(await register(app, token, methodology(lenderId)), 201)
  for (const fields of [{ contentHash: hashOf(9) }, { version: 'another' }])
    expect((await register(app, token, { ...methodology(lenderId), ...fields })).status).toBe(409)
  ok(await register(app, token, methodology(other)), 201)
  expect(await readCounts(app)).toEqual({ totalLenders: 2, activeVersions: 2 })
  for (const path of [
    `/v2/lenders/lend_${'0'.repeat(26)}`,
    `/v2/methodologies/${lenderId}/${hashOf(5)}`,
    `/v2/methodologies/${lenderId}/x`,
    `/v2/methodologies/x/${hashOf(1)}`,
  ])
    expect([path, (await app.call('GET', path)).status]).toEqual([path, 404])
})

test('of many concurrent registrations one stays active, and all are counted', async () => {
  await using app = await testApp()
  const operator = await app.superAdmin()
  const { token } = operator
  const lenderId = await lenderIn(app, operator)
  const registered = await Promise.all(Array.from({ length: 8 }, (_, nth) => register(app, token, methodology(lenderId, nth))))
  expect(registered.map(({ status }) => status)).toEqual(Array(8).fill(201))
  const { data } = (await app.call('GET', '/admin/methodologies', { token })).body
  expect(data.map(({ status }: { status: string }) => status).sort()).toEqual(['ACTIVE', ...Array(7).fill('SUPERSEDED')])
  expect(await readCounts(app)).toEqual({ totalLenders: 1, activeVersions: 1 })
})

test('an invalid address of a document is refused by its invalid part', () => {
  const invalidFields: Record<string, string[]> = {
    'contain only URL characters': [
      'https://éx.example/é',
      'https://x .example',
      'https://x.example/%zz',
      'https://x.example/"',
      'https:/\\x.example',
    ],
    'user name or password': ['https://a@x.example', 'https://a:b@x.example:1/', 'https://@x.example'],
    'have a host': [
      'https://',
      'https:///a',
      'https://:8443',
      'https://?a',
      'https://[::1',
      'https://[x]',
      'https://%20',
      'https://1.2.3.4.5',
    ],
    'have no port': [
      'https://x.example:99999/',
      'https://x.example:0',
      'https://x.example:',
      'https://x.example:8a',
      'https://[::1]:x',
      'https://a:b:c',
    ],
  }
  for (const [problem, addresses] of Object.entries(invalidFields))
    for (const address of addresses) expect([address, urlProblem(address)]).toEqual([address, expect.stringContaining(problem)])
  for (const address of [
    'HTTPS://x.example',
    'https://x.example:8443/a?b=@#c:d',
    'https://[::1]:443/',
    'https://xn--x-9ga.example/%C3%A9',
    'https://127.0.0.1',
  ])
    expect([address, urlProblem(address)]).toEqual([address, undefined])
})
