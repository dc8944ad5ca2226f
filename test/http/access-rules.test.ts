/** Tests the consistency of the access rules. Access to each route is tested in access-manifest.test.ts. */
import { expect, test } from 'bun:test'
import type { KeyPrincipal } from '../../src/core/principal.ts'
import { type Access, accessRules } from '../../src/http/access-rules.ts'
import { createFastReads } from '../../src/http/fast-reads.ts'
import { createRouteTable } from '../../src/http/route-table.ts'

test('an access rule is either unguarded or names the credentials that open it', () => {
  for (const [word, { unguarded, tokens, key, integrationKey, mayAskFor }] of Object.entries(accessRules)) {
    const isOpened = tokens !== undefined || key !== undefined || integrationKey !== undefined
    expect([word, isOpened]).toEqual([word, !unguarded])
    if (integrationKey) expect([word, tokens, key]).toEqual([word, undefined, undefined])
    if (mayAskFor) expect([word, unguarded]).toEqual([word, true])
  }
})

test('every access rule open to customers limits their writes', () => {
  const rules = Object.entries(accessRules).filter(([, { tokens }]) => tokens?.includes('customer'))
  expect(rules.length).toBeGreaterThan(3)
  for (const [word, { limitsWrites }] of rules) expect([word, limitsWrites]).toEqual([word, true])
})

test('a cached read of an order accepts the same keys as its route', () => {
  const shop = { id: 'shop_1', merchantId: 'mer_1', currency: 'USD', mode: 'TEST', origins: [], timeZone: 'UTC' } as const
  const keys: Record<string, KeyPrincipal> = {
    secret: { kind: 'key', id: 'key_1', scopes: ['storefront', 'server'], shop },
    publishable: { kind: 'key', id: 'key_2', scopes: ['storefront'], shop },
  }
  function answeredUnder(access: Access): string[] {
    const routeTable = createRouteTable()
    routeTable.fill([{ method: 'GET', path: '/v2/orders/:orderId', hooks: { detail: { 'x-access': access, 'x-fast-read': 'order' } } }])
    const nothing = () => undefined
    const reads = createFastReads({
      records: { findCached: nothing, textOf: nothing },
      orders: { keyNow: (presented) => keys[presented], documentNow: () => ({ text: '{}', etag: '"v1"' }) },
      answers: { get: nothing, respond: () => Promise.reject(new Error('not asked')) },
      statsNow: nothing,
      resolver: { answers: { get: nothing }, limit: { take: nothing, isLocal: () => false }, limitKey: () => '' },
      profiles: { get: nothing },
      now: () => 0,
      routeTable,
    })
    const read = (key: string) =>
      reads.order(new Request('http://localhost/v2/orders/o', { headers: { 'x-service-api-key': key } }), 'o', 'id', undefined)
    return [...Object.keys(keys), 'unknown'].filter((key) => read(key) !== undefined)
  }
  expect(answeredUnder('order')).toEqual(['secret'])
  expect(answeredUnder('management')).toEqual(['secret'])
  expect(answeredUnder('merchant')).toEqual([])
  expect(answeredUnder('public')).toEqual([])
  // A publishable key is used by pages, whose origin the route looks at.
  expect(answeredUnder('storefront')).toEqual(['secret'])
  expect(() => createFastReads({ routeTable: createRouteTable() } as Parameters<typeof createFastReads>[0])).toThrow('an order')
})
