/** Tests the routes of wallets of lenders, service providers and the platform. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { getAddress } from 'viem'
import { auditLog } from '../../../../db/schema/people.ts'
import { grants } from '../../../../db/schema/trust.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import { lenderIn } from '../../../support/repayments.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { providerIn, walletOf } from '../../../support/trust.ts'

setDefaultTimeout(longTestMs)

const now = '2026-01-06T12:00:00.000Z'
const withChecksum = getAddress('0xabcdefabcdefabcdefabcdefabcdefabcdefabcd')
const lowerCase = withChecksum.toLowerCase()
const upperCase = `0x${lowerCase.slice(2).toUpperCase()}`
const zero = `0x${'0'.repeat(40)}`
const grantsIn = async ({ deps }: TestApp) =>
  (await deps.db.read.select().from(grants)).map(({ address, schema }) => `${schema} ${address}`).sort()

test('wallets are returned with checksum, accepted in any case, begin now by default, and are removed by omission', async () => {
  await using app = await testApp()
  const operator = await app.superAdmin()
  const { token } = operator
  const lender = await app.call('POST', '/admin/lenders', { token, body: { displayName: 'A', wallets: [{ address: lowerCase }] } })
  expect([lender.status, lender.body.wallets]).toEqual([201, [{ address: withChecksum, from: now, to: null }]])
  const path = `/admin/lenders/${lender.body.id}`
  const patch = (body: object) => app.call('PATCH', path, { token, body })
  const wallets = [
    { address: withChecksum, from: '2026-02-01T00:00:00Z', to: '2026-03-01T01:00:00+01:00' },
    { address: upperCase, from: '2026-03-01T00:00:00Z', to: null },
    { address: walletOf(1), from: '2020-01-01T00:00:00.000Z' },
  ]
  const expectedWallets = [
    { address: getAddress(walletOf(1)), from: '2020-01-01T00:00:00.000Z', to: null },
    { address: withChecksum, from: '2026-02-01T00:00:00.000Z', to: '2026-03-01T00:00:00.000Z' },
    { address: withChecksum, from: '2026-03-01T00:00:00.000Z', to: null },
  ]
  const changed = ok(await patch({ wallets }))
  expect(changed.body.wallets).toEqual(expectedWallets)
  expect((await app.call('GET', path, { token })).body.wallets).toEqual(expectedWallets)
  expect((await app.call('GET', '/admin/lenders', { token })).body.data[0].wallets).toEqual(expectedWallets)
  // Repeating a value changes nothing, and omitted ones stay.
  for (const same of [{ wallets }, { displayName: 'A' }, {}]) {
    const repeated = ok(await patch(same))
    expect([repeated.body, repeated.headers.get('etag')]).toEqual([changed.body, changed.headers.get('etag')])
  }
  expect(await grantsIn(app)).toEqual([])
  ok(await patch({ status: 'ACTIVE' }))
  expect(await grantsIn(app)).toEqual([`B ${walletOf(1)}`, `B ${lowerCase}`, `C ${walletOf(1)}`, `C ${lowerCase}`])
  expect(ok(await patch({ wallets: [] })).body.wallets).toEqual([])
  expect(await grantsIn(app)).toEqual([])
  const rows = (await app.deps.db.read.select().from(auditLog).orderBy(auditLog.id)).filter(({ action }) => action.startsWith('wallet.'))
  expect(rows.map(({ action, subject }) => [action, subject])).toEqual([
    ['wallet.added', lender.body.id],
    ['wallet.removed', lender.body.id],
    ...Array(3).fill(['wallet.added', lender.body.id]),
    ...Array(3).fill(['wallet.removed', lender.body.id]),
  ])
  expect(rows[0]?.after).toEqual({ address: withChecksum, from: now })
})

test('an invalid wallet is refused by field for lenders, service providers and the platform', async () => {
  await using app = await testApp()
  const operator = await app.superAdmin()
  const { token } = operator
  const targets = [
    ['PATCH', `/admin/lenders/${await lenderIn(app, operator)}`, true],
    ['PATCH', `/admin/service-providers/${await providerIn(app, token)}`, true],
    ['POST', '/admin/platform-wallets', false],
  ] as const
  const invalidWallets: [object, RegExp][] = [
    [{ address: withChecksum.replace('b', 'B').replace('A', 'a') }, /address: must have the checksum/],
    [{ address: zero }, /address: must not be the zero address/],
    [{ address: lowerCase.slice(0, -1) }, /address: must be 0x and 40 hexadecimal digits/],
    [{ address: `${lowerCase}0` }, /address:/],
    [{ address: `${lowerCase.slice(0, -1)}g` }, /address: must be 0x and 40 hexadecimal digits/],
    [{ address: lowerCase.slice(2) }, /address:/],
    [{ from: now }, /address:/],
    [{ address: lowerCase, from: '2026-02-30T00:00:00Z' }, /from: must be a valid time/],
    [{ address: lowerCase, from: '1969-12-31T23:59:59Z' }, /from: must not be before 1970/],
    [{ address: lowerCase, from: '2026-01-01' }, /from: must be a time with its zone/],
    [{ address: lowerCase, from: 1 }, /from:/],
    [{ address: lowerCase, from: now, to: now }, /to: must be after/],
    [{ address: lowerCase, to: '2026-01-06T11:59:59.999Z' }, /to: must be after/],
    [{ address: lowerCase, owner: 'x' }, /unknown field: (wallets\.0\.)?owner/],
  ]
  for (const [method, path, isListed] of targets)
    for (const [wallet, message] of invalidWallets) {
      const answer = await app.call(method, path, { token, body: isListed ? { wallets: [wallet] } : wallet })
      expect([path, JSON.stringify(wallet), answer.status, answer.body.message]).toEqual([
        path,
        JSON.stringify(wallet),
        400,
        expect.stringMatching(message),
      ])
      expect(answer.text).not.toContain('abcdef')
    }
  const [, path] = targets[0]
  const list = (wallets: unknown) => app.call('PATCH', path, { token, body: { wallets } })
  const overlapping = await list([
    { address: lowerCase, from: now },
    { address: walletOf(1) },
    { address: withChecksum, from: '2020-01-01T00:00:00Z', to: '2026-01-06T12:00:00.001Z' },
  ])
  expect([overlapping.status, overlapping.body.message]).toEqual([
    400,
    'wallets.2: overlaps with another period of the same address in the list',
  ])
  expect((await list(Array.from({ length: 101 }, (_, nth) => ({ address: walletOf(nth) })))).status).toBe(400)
  expect(ok(await list(Array.from({ length: 100 }, (_, nth) => ({ address: walletOf(nth) })))).body.wallets).toHaveLength(100)
  expect((await list({})).status).toBe(400)
})

test('a wallet whose address belongs to another party at that time is 409 and changes nothing, and is allowed before and after', async () => {
  await using app = await testApp()
  const operator = await app.superAdmin()
  const { token } = operator
  const lender = `/admin/lenders/${await lenderIn(app, operator)}`
  const other = `/admin/service-providers/${await providerIn(app, token)}`
  const put = (path: string, from: string, to: string | null) =>
    app.call('PATCH', path, { token, body: { displayName: 'B', wallets: [{ address: lowerCase, from, to }] } })
  const createPlatform = (from: string, to: string | null) =>
    app.call('POST', '/admin/platform-wallets', { token, body: { address: lowerCase, from, to } })
  const [january, february, march] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z']
  ok(await put(lender, january, march))
  const before = await app.call('GET', other, { token })
  for (const [field, refused] of [
    ['wallets.0.address', await put(other, february, null)],
    ['address', await createPlatform('2020-01-01T00:00:00Z', february)],
    ['address', await createPlatform(february, march)],
  ] as const)
    expect(refused.body).toMatchObject({ statusCode: 409, field, message: `${field}: another wallet has this address in that period` })
  const after = await app.call('GET', other, { token })
  expect([after.text, after.headers.get('etag')]).toEqual([before.text, before.headers.get('etag')])
  ok(await put(other, march, null))
  const early = ok(await createPlatform('2020-01-01T00:00:00Z', january), 201).body
  expect((await app.call('PATCH', `/admin/platform-wallets/${early.id}`, { token, body: { to: null } })).status).toBe(409)
  ok(await app.call('PATCH', lender, { token, body: { wallets: [] } }))
  ok(await app.call('PATCH', `/admin/platform-wallets/${early.id}`, { token, body: { to: march } }))
})

test("the platform's wallets are registered, listed, read and changed; omitted fields stay", async () => {
  await using app = await testApp()
  const { token } = await app.superAdmin()
  const created = await app.call('POST', '/admin/platform-wallets', { token, body: { address: lowerCase } })
  const { id, ...rest } = created.body
  expect(created.status).toBe(201)
  expect(id).toMatch(/^wal_[0-9a-z]{26}$/)
  expect(rest).toEqual({ address: withChecksum, from: now, to: null, createdAt: now, updatedAt: now })
  const path = `/admin/platform-wallets/${id}`
  expect((await app.call('GET', `/api/v3${path}`, { token })).text).toBe(created.text)
  expect(await grantsIn(app)).toEqual([`A ${lowerCase}`, `C ${lowerCase}`])
  const patch = (body: object) => app.call('PATCH', path, { token, body })
  expect(ok(await patch({ to: '2026-02-01T00:00:00Z' })).body).toMatchObject({
    address: withChecksum,
    from: now,
    to: '2026-02-01T00:00:00.000Z',
  })
  expect(ok(await patch({ address: walletOf(1), from: '2025-01-01T00:00:00Z' })).body).toMatchObject({
    from: '2025-01-01T00:00:00.000Z',
    to: '2026-02-01T00:00:00.000Z',
  })
  expect((await patch({ from: '2026-02-01T00:00:00Z' })).status).toBe(400)
  expect(ok(await patch({ to: null })).body.to).toBeNull()
  expect(await grantsIn(app)).toEqual([`A ${walletOf(1)}`, `C ${walletOf(1)}`])
  expect((await app.call('GET', '/admin/platform-wallets', { token })).body).toMatchObject({ total: 1, data: [{ id }] })
  expect((await app.call('GET', `/admin/platform-wallets/wal_${'0'.repeat(26)}`, { token })).status).toBe(404)
})
