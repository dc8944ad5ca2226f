/**
 * The bare floor of trust: `Bun.serve` on the same file with the same bytes and headers.
 * Statistics are one read of the stored counts, recommendations one read by the index; nothing is cached.
 */
import { Database as Sqlite } from 'bun:sqlite'
import { join } from 'node:path'

const [dataDir = ''] = Bun.argv.slice(2)
const db = new Sqlite(join(dataDir, 'souk.db'), { readonly: true })
db.run('PRAGMA cache_size = -32000')
const counts = db.prepare<{ name: string; chain_id: number; value: number }, []>('SELECT name, chain_id, value FROM trust_counts')
type Provider = {
  id: string
  display_name: string
  archetype: string
  successful_ingestion_count: number
  last_successful_ingestion_at: number
}
const columns = 'id, display_name, archetype, successful_ingestion_count, last_successful_ingestion_at'
const order = 'ORDER BY successful_ingestion_count DESC, last_successful_ingestion_at DESC, id LIMIT ?'
const ofAll = db.prepare<Provider, [number]>(`SELECT ${columns} FROM service_providers WHERE status = 'ACTIVE' ${order}`)
const ofOne = db.prepare<Provider, [string, number]>(
  `SELECT ${columns} FROM service_providers WHERE status = 'ACTIVE' AND archetype = ? ${order}`,
)

const headers = {
  'content-type': 'application/json;charset=utf-8',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'etag, idempotent-replayed, retry-after, x-request-id',
  'x-content-type-options': 'nosniff',
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  routes: {
    '/v2/trust-fabric/stats': () => {
      const sums: Record<string, number> = {}
      for (const { name, value } of counts.all()) sums[name] = (sums[name] ?? 0) + value
      const of = (name: string) => sums[name] ?? 0
      const body = JSON.stringify({
        lenders: { total: of('lenders.total'), active: of('lenders.active') },
        serviceProviders: { total: of('serviceProviders.total'), active: of('serviceProviders.active') },
        methodologies: { totalLenders: of('methodologies.totalLenders'), activeVersions: of('methodologies.activeVersions') },
        attestations: {
          schemaA: of('attestations.A'),
          schemaB: of('attestations.B'),
          schemaC: of('attestations.C'),
          schemaD: of('attestations.D'),
        },
        asOf: new Date().toISOString(),
      })
      return new Response(body, { headers: { ...headers, 'cache-control': 'public, max-age=60', 'x-request-id': crypto.randomUUID() } })
    },
    '/v2/service-provider-routing/recommend': ({ url }) => {
      const query = new URL(url).searchParams
      const archetype = query.get('archetype') ?? 'all'
      const limit = Math.min(50, Math.max(1, Number(query.get('limit') ?? 10)))
      const providers = archetype === 'all' ? ofAll.all(limit) : ofOne.all(archetype, limit)
      const body = JSON.stringify({
        archetype,
        count: providers.length,
        recommendations: providers.map((provider, nth) => ({
          providerId: provider.id,
          displayName: provider.display_name,
          archetype: provider.archetype,
          successfulIngestionCount: provider.successful_ingestion_count,
          lastSuccessfulIngestionAt:
            provider.last_successful_ingestion_at === 0 ? null : new Date(provider.last_successful_ingestion_at).toISOString(),
          rank: nth + 1,
        })),
      })
      return new Response(body, {
        headers: {
          ...headers,
          etag: `"${Bun.hash.xxHash3(body).toString(36)}"`,
          'cache-control': 'public, max-age=0, s-maxage=60',
          'x-request-id': crypto.randomUUID(),
        },
      })
    },
  },
  fetch: () => new Response(null, { status: 404 }),
})
process.stdout.write(`http://127.0.0.1:${server.port}\n`)
