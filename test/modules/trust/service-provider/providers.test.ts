/** Tests registering service providers, and public recommendations of them. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { engine } from '../../../../db/columns.ts'
import { serviceProviders } from '../../../../db/schema/trust.ts'
import { archetypes, providerStatuses, providerTransitions } from '../../../../src/modules/trust/service-provider/domain.ts'
import { startTime, type TestApp, testApp } from '../../../support/app.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { provider, providerIn, walletOf } from '../../../support/trust.ts'

setDefaultTimeout(longTestMs)

const now = '2026-01-06T12:00:00.000Z'

test('a service provider begins under review, and only that response shows its secret', async () => {
  await using app = await testApp()
  const operator = await app.superAdmin()
  const { token } = operator
  const wallets = [{ address: walletOf(7) }]
  const created = await app.call('POST', '/admin/service-providers', { token, body: { ...provider, wallets } })
  const { id, webhookSecret, ...rest } = created.body
  expect([created.status, created.headers.get('cache-control')]).toEqual([201, 'no-store'])
  expect(id).toMatch(/^prov_[0-9a-z]{26}$/)
  expect(webhookSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(rest).toEqual({
    ...provider,
    status: 'PENDING_REVIEW',
    wallets: [{ address: walletOf(7), from: now, to: null }],
    statusHistory: [{ status: 'PENDING_REVIEW', at: now, actor: operator.id }],
    successfulIngestionCount: 0,
    lastSuccessfulIngestionAt: null,
    createdAt: now,
    updatedAt: now,
  })
  const read = await app.call('GET', `/api/v3/admin/service-providers/${id}`, { token })
  expect([read.body, read.headers.get('etag')]).toEqual([{ id, ...rest }, created.headers.get('etag')])
  ok(await app.call('PATCH', `/admin/service-providers/${id}`, { token, body: { status: 'ACTIVE', archetype: 'generic' } }))
  expect((await app.call('GET', '/admin/service-providers?status=ACTIVE', { token })).body).toMatchObject({
    total: 1,
    data: [{ id, archetype: 'generic', status: 'ACTIVE' }],
  })
})

test('a provider changes status only by its table', async () => {
  await using app = await testApp()
  const { token } = await app.superAdmin()
  const stepsTo: Record<string, string[]> = {
    PENDING_REVIEW: [],
    ACTIVE: ['ACTIVE'],
    SUSPENDED: ['ACTIVE', 'SUSPENDED'],
    ARCHIVED: ['ACTIVE', 'SUSPENDED', 'ARCHIVED'],
  }
  for (const from of providerStatuses)
    for (const to of providerStatuses) {
      const id = await providerIn(app, token, {}, 'PENDING_REVIEW')
      const patch = (status: string) => app.call('PATCH', `/admin/service-providers/${id}`, { token, body: { status } })
      for (const step of stepsTo[from] ?? []) ok(await patch(step))
      const allowed = (providerTransitions[from] as readonly string[]).includes(to)
      expect([from, to, (await patch(to)).status]).toEqual([from, to, allowed || from === to ? 200 : 409])
    }
  const { body } = await app.call('GET', '/v2/trust-fabric/stats')
  const { total } = (await app.call('GET', '/admin/service-providers?status=ACTIVE', { token })).body
  expect(body.serviceProviders).toEqual({ total: providerStatuses.length ** 2, active: total })
})

/** Inserts providers as rows, because message counts would need that many messages. */
async function insertProviders({ deps }: TestApp, rows: readonly Partial<typeof serviceProviders.$inferInsert>[]): Promise<void> {
  await deps.db.write(async (tx) => {
    for (const row of rows)
      await tx.insert(serviceProviders).values({
        id: deps.newId('serviceProvider'),
        displayName: 'Depot',
        archetype: 'generic',
        status: 'ACTIVE',
        sealedSecret: '',
        successfulIngestionCount: 0,
        lastSuccessfulIngestionAt: 0,
        createdAt: 0,
        updatedAt: 0,
        version: 1,
        ...row,
      })
  })
}
const readRecommendations = async (app: TestApp, query = '') =>
  ok(await app.call('GET', `/v2/service-provider-routing/recommend${query}`)).body

test('recommendations are active providers by messages, then by the last one with nulls last, then by id', async () => {
  await using app = await testApp()
  const ids = ['prov_a', 'prov_b', 'prov_c', 'prov_d', 'prov_e', 'prov_f', 'prov_g'] as const
  const [a, b, c, d, e, f, g] = ids
  await insertProviders(app, [
    { id: g, successfulIngestionCount: 5, lastSuccessfulIngestionAt: startTime },
    { id: f, successfulIngestionCount: 5, lastSuccessfulIngestionAt: startTime },
    { id: e, successfulIngestionCount: 5, lastSuccessfulIngestionAt: startTime + 1, archetype: 'warehouse' },
    { id: d, successfulIngestionCount: 9, lastSuccessfulIngestionAt: 1, displayName: 'First' },
    { id: c },
    { id: b, successfulIngestionCount: 0, lastSuccessfulIngestionAt: 3 },
    { id: a, successfulIngestionCount: 99, status: 'SUSPENDED' },
  ])
  const all = await readRecommendations(app)
  expect([all.archetype, all.count, all.recommendations.map(({ providerId }: { providerId: string }) => providerId)]).toEqual([
    'all',
    6,
    [d, e, f, g, b, c],
  ])
  expect(all.recommendations.map(({ rank }: { rank: number }) => rank)).toEqual([1, 2, 3, 4, 5, 6])
  expect(all.recommendations[0]).toEqual({
    providerId: d,
    displayName: 'First',
    archetype: 'generic',
    successfulIngestionCount: 9,
    lastSuccessfulIngestionAt: '1970-01-01T00:00:00.001Z',
    rank: 1,
  })
  expect(all.recommendations[5].lastSuccessfulIngestionAt).toBeNull()
  expect(await readRecommendations(app, '?archetype=warehouse')).toMatchObject({
    archetype: 'warehouse',
    count: 1,
    recommendations: [{ providerId: e, rank: 1 }],
  })
  expect(await readRecommendations(app, '?archetype=cross_border')).toEqual({ archetype: 'cross_border', count: 0, recommendations: [] })
  expect(await readRecommendations(app, '?archetype=all')).toEqual(all)
})

test('the limit is ten by default and clamped to 1..50; an unknown archetype is refused by name', async () => {
  await using app = await testApp()
  await insertProviders(
    app,
    Array.from({ length: 60 }, (_, nth) => ({ successfulIngestionCount: nth, archetype: archetypes[nth % 2] as 'generic' })),
  )
  for (const [query, count] of [
    ['', 10],
    ['?limit=3', 3],
    ['?limit=0', 1],
    ['?limit=-7', 1],
    ['?limit=50', 50],
    ['?limit=51', 50],
    [`?limit=${'9'.repeat(90)}`, 50],
    ['?limit=40&archetype=generic', 30],
    ['?limit=&archetype=', 10],
    ['?limit=3&archetypes=generic&utm_source=x&utm_source=y', 3],
  ] as const)
    expect([query, (await readRecommendations(app, query)).count]).toEqual([query, count])
  for (const query of ['?limit=ten', '?limit=1.5', '?archetype=brand', '?limit=1&limit=2'])
    expect([query, (await app.call('GET', `/v2/service-provider-routing/recommend${query}`)).status]).toEqual([query, 400])
})

test('recommendations are read in the order of an index, without sorting', async () => {
  await using app = await testApp()
  if (engine !== 'sqlite') return
  const planOf = async (where: string) =>
    (
      await app.deps.db.read.rows<{ detail: string }>(
        sql.raw(
          `explain query plan select * from service_providers where status = 'ACTIVE' ${where} order by successful_ingestion_count desc, last_successful_ingestion_at desc, id limit 10`,
        ),
      )
    ).map(({ detail }) => detail)
  expect(await planOf('')).toEqual(['SEARCH service_providers USING INDEX service_providers_ranked (status=?)'])
  expect(await planOf("and archetype = 'warehouse'")).toEqual([
    'SEARCH service_providers USING INDEX service_providers_ranked_in (status=? AND archetype=?)',
  ])
})

test('a message moves its sender up at once despite cached responses', async () => {
  await using app = await testApp()
  await insertProviders(app, [{ id: 'prov_a' }, { id: 'prov_b' }])
  expect((await readRecommendations(app)).recommendations[0].providerId).toBe('prov_a')
  await app.deps.db.write((tx) => tx.update(serviceProviders).set({ successfulIngestionCount: 1 }).where(eq(serviceProviders.id, 'prov_b')))
  expect((await readRecommendations(app)).recommendations[0].providerId).toBe('prov_b')
})

test('a public name contains no control character, line break or direction mark', async () => {
  await using app = await testApp()
  const { token } = await app.superAdmin()
  const post = (path: string, displayName: string) =>
    app.call('POST', path, { token, body: { displayName, ...(path.endsWith('providers') ? { archetype: 'generic' } : {}) } })
  for (const path of ['/admin/lenders', '/admin/service-providers']) {
    const { id } = ok(await post(path, 'Bücher & Сыр, 本店 (שלום\u200f)'), 201).body
    for (const bad of ['a\u0007b', 'a\nb', 'a\u0085', '\u202ea', 'a\u2066b', 'a\u2028b', ' ', '\u3000']) {
      const answers = [await post(path, bad), await app.call('PATCH', `${path}/${id}`, { token, body: { displayName: bad } })]
      for (const { status, body } of answers)
        expect([bad, status, body.message]).toEqual([
          bad,
          400,
          expect.stringContaining('displayName: must be one line of text that is not blank, without control'),
        ])
    }
  }
})
