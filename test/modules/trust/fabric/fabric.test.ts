/** Tests the public statistics and proof of the trust fabric: sums without names, and how to verify them. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { attestations, chainSyncs } from '../../../../db/schema/trust.ts'
import { schemaUids } from '../../../../src/lib/eas.ts'
import { registryHash } from '../../../../src/modules/trust/fabric/domain.ts'
import { addCounts, allGrants, countingRule } from '../../../../src/modules/trust/fabric/index.ts'
import { startTime, testApp } from '../../../support/app.ts'
import { serverAndRoute } from '../../../support/cached-and-routed.ts'
import { testDatabase } from '../../../support/database.ts'
import { ok } from '../../../support/selling.ts'
import { longTestMs } from '../../../support/timeouts.ts'
import { signatureHeaders, signingProviderIn, walletOf } from '../../../support/trust.ts'

setDefaultTimeout(longTestMs)

const now = '2026-01-06T12:00:00.000Z'
const stats = '/v2/trust-fabric/stats'
const proof = '/v2/trust-fabric/proof'
/** Configures chains that are never read in these tests. */
const chainsWith = (...ids: number[]) =>
  JSON.stringify(ids.map((chainId) => ({ chainId, rpc: ['http://127.0.0.1:9'], contract: walletOf(5), startBlock: 1 })))

test('statistics are public sums as of the last commit, cached for a minute', async () => {
  await using app = await testApp({ CHAINS: chainsWith(1, 10) })
  const { token } = await app.superAdmin()
  const none = await app.call('GET', stats)
  expect([none.status, none.headers.get('cache-control'), none.headers.get('access-control-allow-origin')]).toEqual([
    200,
    'public, max-age=60',
    '*',
  ])
  expect(none.body).toEqual({
    lenders: { total: 0, active: 0 },
    serviceProviders: { total: 0, active: 0 },
    methodologies: { totalLenders: 0, activeVersions: 0 },
    attestations: { schemaA: 0, schemaB: 0, schemaC: 0, schemaD: 0 },
    asOf: now,
  })
  const { id } = ok(await app.call('POST', '/admin/lenders', { token, body: { displayName: 'A' } }), 201).body
  const readLenders = async () => (await app.call('GET', `/api/v3${stats}?utm_source=x&utm_source=y`)).body.lenders
  expect(await readLenders()).toEqual({ total: 1, active: 0 })
  for (const [status, active] of [
    ['ACTIVE', 1],
    ['SUSPENDED', 0],
    ['ARCHIVED', 0],
  ] as const) {
    ok(await app.call('PATCH', `/admin/lenders/${id}`, { token, body: { status } }))
    expect(await readLenders()).toEqual({ total: 1, active })
  }
  await app.deps.db.write(async (tx) => {
    await addCounts(tx, app.deps, 1, { 'attestations.A': 2, 'attestations.D': 1 })
    await addCounts(tx, app.deps, 10, { 'attestations.A': 3, 'attestations.B': 0 })
  })
  app.clock.advance(5_000)
  const { body } = await app.call('GET', stats)
  expect([body.attestations, body.asOf]).toEqual([{ schemaA: 5, schemaB: 0, schemaC: 0, schemaD: 1 }, '2026-01-06T12:00:05.000Z'])
  expect((await app.call('GET', `${stats}?chain=1`)).status).toBe(200)
})

test('statistics are the same by the fast path and by the route, as of the last commit', async () => {
  await using app = await testApp()
  const { token } = await app.superAdmin()
  await using bothPaths = serverAndRoute(app)
  for (let nth = 0; nth < 3; nth++) {
    for (const path of [stats, `/api/v3${stats}`, `${stats}?`, `${stats}?a=1`]) {
      const [one, { ...other }] = [await bothPaths.viaServer(path), await bothPaths.viaRoute(path)]
      expect([one.status, one.body, one.headers]).toEqual([other.status, other.body, other.headers])
      if (one.status === 200) expect(JSON.parse(one.body).lenders.total).toBe(nth)
    }
    ok(await app.call('POST', '/admin/lenders', { token, body: { displayName: 'A' } }), 201)
  }
})

test('an unconfigured chain is not published, and its counts are published again once it is configured again', async () => {
  const database = await testDatabase()
  for (const [configured, schemaA, chainIds] of [
    ['1,10', 12, [1, 10]],
    ['10', 11, [10]],
    ['', 8, []],
    ['10,1', 12, [1, 10]],
  ] as const) {
    const app = await testApp({ CHAINS: chainsWith(...configured.split(',').filter(Boolean).map(Number)) }, { database })
    if (configured === '1,10')
      await app.deps.db.write(async (tx) => {
        await tx.insert(chainSyncs).values([1, 10].map((chainId) => ({ chainId, contract: walletOf(5), startBlock: 1, countedTo: 9 })))
        for (const [chainId, count] of [
          [0, 8],
          [1, 1],
          [10, 3],
        ] as const)
          await addCounts(tx, app.deps, chainId, { 'attestations.A': count })
      })
    await using bothPaths = serverAndRoute(app)
    expect(JSON.parse((await bothPaths.viaServer(stats)).body).attestations.schemaA).toBe(schemaA)
    expect((await app.call('GET', stats)).body.attestations.schemaA).toBe(schemaA)
    expect((await app.call('GET', proof)).body.chains.map(({ chainId }: { chainId: number }) => chainId)).toEqual(chainIds)
    const metrics = (await app.call('GET', '/metrics')).body
    for (const chainId of [1, 10])
      expect(metrics.includes(`souk_chain_counted_to{chain="${chainId}"} 9`)).toBe(chainIds.some((one) => one === chainId))
    await app.close()
  }
  await database.drop()
})

test('the proof contains for each chain the counted block, and the hash of the grants', async () => {
  await using app = await testApp({ CHAINS: chainsWith(1, 10) })
  const { token } = await app.superAdmin()
  const chain = { contract: walletOf(0xabcdef), startBlock: 5 }
  await app.deps.db.write((tx) =>
    tx.insert(chainSyncs).values([
      { ...chain, chainId: 10, countedTo: 4 },
      { ...chain, chainId: 1, countedTo: 77, countedToHash: `0x${'1'.repeat(64)}`, countedToAt: startTime },
    ]),
  )
  const empty = ok(await app.call('GET', proof))
  expect(empty.headers.get('cache-control')).toBe('public, max-age=60')
  expect(empty.body).toEqual({
    asOf: now,
    registryHash: registryHash([]),
    chains: [
      {
        chainId: 1,
        contract: expect.stringMatching(/^0x0{34}abcdf0$/i),
        schemas: schemaUids,
        countedTo: { number: 77, hash: `0x${'1'.repeat(64)}` },
      },
      { chainId: 10, contract: expect.stringMatching(/^0x0{34}abcdf0$/i), schemas: schemaUids, countedTo: null },
    ],
    rule: countingRule,
  })
  for (let nth = 0; nth < 3; nth++) {
    ok(await app.call('POST', '/admin/platform-wallets', { token, body: { address: walletOf(nth) } }), 201)
    const { grants } = await allGrants(app.deps)
    expect(grants).toHaveLength(2 * (nth + 1))
    const { registryHash: publishedHash } = (await app.call('GET', `/api/v3${proof}`)).body
    expect(publishedHash).toBe(registryHash(grants))
    expect(publishedHash).not.toBe(empty.body.registryHash)
  }
})

test('statistics and proof contain no name, id, wallet, hash, address or version', async () => {
  await using app = await testApp({ CHAINS: chainsWith(1) })
  const { token } = await app.superAdmin()
  const post = async (path: string, body: object) => ok(await app.call('POST', path, { token, body }), 201).body
  const [lenderWallet, providerWallet, platformWallet] = [walletOf(0xfeed01), walletOf(0xfeed02), walletOf(0xfeed03)]
  const lender = await post('/admin/lenders', { displayName: 'Planted Bank', wallets: [{ address: lenderWallet }] })
  const { id, webhookSecret } = await signingProviderIn(app, token, {
    displayName: 'Planted Depot',
    wallets: [{ address: providerWallet }],
  })
  const contentHash = `0x${'beef'.repeat(16)}`
  const { id: methodologyId } = await post('/admin/methodologies', {
    lenderId: lender.id,
    version: 'planted-v7',
    contentHash,
    documentUrl: 'https://planted.example/paper.pdf',
  })
  const wallet = await post('/admin/platform-wallets', { address: platformWallet })
  ok(await app.call('PATCH', `/admin/lenders/${lender.id}`, { token, body: { status: 'ACTIVE' } }))
  const message = '{"subject":"planted-merchant"}'
  const headers = { 'content-type': 'application/json', ...signatureHeaders(webhookSecret, 'planted-message', app.clock.now(), message) }
  ok(await app.call('POST', `/webhooks/ingestion/${id}`, { raw: message, headers }), 202)
  const uid = `0x${'cafe'.repeat(16)}`
  await app.deps.db.write(async (tx) => {
    await tx.insert(attestations).values({
      ...{ chainId: 1, uid, schema: 'A', attester: platformWallet, isOfSelf: false, blockNumber: 424242 },
      ...{ blockAt: app.clock.now(), revokedBlock: null, isCounted: true, isDemo: false },
    })
    await tx.insert(chainSyncs).values({
      chainId: 1,
      contract: walletOf(5),
      startBlock: 1,
      countedTo: 9,
      provider: 'planted-node.example',
      lastError: 'planted error',
    })
  })
  const secrets = [
    lender.id,
    id,
    methodologyId,
    wallet.id,
    lenderWallet,
    providerWallet,
    platformWallet,
    contentHash,
    uid,
    '424242',
    'planted',
    'feed0',
  ]
  for (const path of [stats, proof]) {
    const { text } = ok(await app.call('GET', path))
    for (const one of secrets) expect([path, one, text.toLowerCase().includes(one.toLowerCase())]).toEqual([path, one, false])
  }
})
