/**
 * Measures trust: statistics over many attestations and recommendations over many service providers, against the floor.
 */
import { Database as Sqlite } from 'bun:sqlite'
import { join } from 'node:path'
import { parseConfig } from '../src/config.ts'
import { openInstance } from '../src/instance.ts'
import type { Requests } from './load.ts'
import { figure, measureInTurn, print, quick, report, start, work } from './runs.ts'
import { benchSettings } from './seed.ts'

const attestations = quick ? 100_000 : 1_000_000
const registryRows = 10_000
const providers = 100_000
const chains = 5
const archetypes = ['generic', 'warehouse', 'third_party_logistics', 'cross_border']
/** More paths than cached responses, so that most are computed. */
const paths = 20_000
const statsPath = '/v2/trust-fabric/stats'
const recommendPath = '/v2/service-provider-routing/recommend'

export async function measureTrust(): Promise<void> {
  print(`trust fabric, with ${figure(attestations)} attestations and ${figure(providers)} service providers (seeding takes a while)`)
  const dataDir = join(work, 'trust')
  await seedTrust(dataDir)
  // No server listens there; only configured chains are published.
  const chainSettings = Array.from({ length: chains }, (_, nth) => ({
    chainId: 1 + nth,
    rpc: ['http://127.0.0.1:9'],
    contract: `0x${'1'.repeat(40)}`,
  }))
  const souk = await start('souk.ts', dataDir, 'FULL', JSON.stringify({ CHAINS: JSON.stringify(chainSettings) }))
  const floor = await start('floor-trust.ts', dataDir)
  const stats: Requests = { paths: [statsPath] }
  report(
    `statistics of ${figure(attestations)} attestations, ${figure(registryRows)} wallets`,
    '≥ 0.60',
    await measureInTurn(souk, floor, { souk: stats, floor: stats }),
  )
  const few: Requests = { paths: ['', ...archetypes.map((one) => `?archetype=${one}`)].map((query) => recommendPath + query) }
  report(`recommendation of ${figure(providers)}, five questions`, '≥ 0.50', await measureInTurn(souk, floor, { souk: few, floor: few }))
  // All are clamped to 50 but differ as queries.
  const many: Requests = { paths: Array.from({ length: paths }, (_, nth) => `${recommendPath}?limit=${50 + nth}`) }
  report(`recommendation, not cached, 50 of ${figure(providers)}`, '≥ 0.50', await measureInTurn(souk, floor, { souk: many, floor: many }))
  await souk.stop()
  await floor.stop()
}

/**
 * Inserts the rows that souk would store by SQL, because the API would take an hour for a million. `souk check` finds
 * no wrong counts.
 */
async function seedTrust(dataDir: string): Promise<void> {
  const instance = await openInstance({ config: parseConfig(benchSettings(dataDir)), as: 'server', sqlite: { synchronous: 'OFF' } })
  await instance.close()
  const db = new Sqlite(join(dataDir, 'souk.db'))
  db.run('PRAGMA synchronous = OFF')
  const numbers = (count: number) => `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${count})`
  const address = (nth: string) => `'0x' || printf('%040x', ${nth})`
  db.transaction(() => {
    db.run(
      `${numbers(registryRows)} INSERT INTO attester_wallets SELECT 'wal_' || i, 'PLATFORM', NULL, ${address('i + 1')}, 0, NULL, 0, 0, 1 FROM n`,
    )
    db.run('INSERT INTO attester_addresses SELECT address, 0 FROM attester_wallets')
    db.run("INSERT INTO grants SELECT address, s.column1, 0, NULL FROM attester_wallets, (VALUES ('A'), ('C')) s")
    db.run(`${numbers(attestations)} INSERT INTO attestations (chain_id, uid, schema, attester, is_of_self, block_number, block_at, revoked_block, is_counted, is_demo)
      SELECT 1 + i % ${chains}, '0x' || printf('%064x', i), CASE i % 2 WHEN 0 THEN 'A' ELSE 'C' END, ${address(`1 + i % ${registryRows}`)}, 0, i, i, NULL, 1, 0 FROM n`)
    db.run("INSERT INTO trust_counts SELECT 'attestations.' || schema, chain_id, count(*) FROM attestations GROUP BY schema, chain_id")
    db.run(`${numbers(providers)} INSERT INTO service_providers (id, display_name, archetype, status, sealed_secret, successful_ingestion_count, last_successful_ingestion_at, created_at, updated_at, version)
      SELECT 'prov_' || printf('%026d', i), 'Depot ' || i, CASE i % 4 ${archetypes.map((one, nth) => `WHEN ${nth} THEN '${one}'`).join(' ')} END,
        CASE i % 10 WHEN 0 THEN 'SUSPENDED' ELSE 'ACTIVE' END, '', (i * 7919) % 1000, 1 + (i * 104729) % 1000000, 0, 0, 1 FROM n`)
    db.run("INSERT INTO trust_counts SELECT 'serviceProviders.total', 0, count(*) FROM service_providers")
    db.run("INSERT INTO trust_counts SELECT 'serviceProviders.active', 0, count(*) FROM service_providers WHERE status = 'ACTIVE'")
  })()
  db.close()
}
