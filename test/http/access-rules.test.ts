/** Tests the consistency of the access rules. Access to each route is tested in access-manifest.test.ts. */
import { expect, test } from 'bun:test'
import type { KeyPrincipal } from '../../src/core/principal.ts'
import { type Access, accessRules } from '../../src/http/access-rules.ts'
import { createFastReads } from '../../src/http/fast-reads.ts'
import { createRouteTable } from '../../src/http/route-table.ts'

test('an access rule is either unguarded or names the credentials that open it', () => {
  for (const [name, { unguarded, tokens, key, integrationKey, mayAskFor }] of Object.entries(accessRules)) {
    const isOpened = tokens !== undefined || key !== undefined || integrationKey !== undefined
    expect([name, isOpened]).toEqual([name, !unguarded])
    if (integrationKey) expect([name, tokens, key]).toEqual([name, undefined, undefined])
    if (mayAskFor) expect([name, unguarded]).toEqual([name, true])
  }
})

test('every access rule open to customers limits their writes', () => {
  const rules = Object.entries(accessRules).filter(([, { tokens }]) => tokens?.includes('customer'))
  expect(rules.length).toBeGreaterThan(3)
  for (const [name, { limitsWrites }] of rules) expect([name, limitsWrites]).toEqual([name, true])
})

test('a cached read of an order accepts the same keys as its route', () => {
  const shop = { id: 'shop_1', merchantId: 'mer_1', currency: 'USD', mode: 'TEST', origins: [], timeZone: 'UTC' } as const
  const keys: Record<string, KeyPrincipal> = {
    secret: { kind: 'key', id: 'key_1', scopes: ['storefront', 'server'], shop },
    publishable: { kind: 'key', id: 'key_2', scopes: ['storefront'], shop },
  }
  function keysServedUnder(access: Access): string[] {
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
  expect(keysServedUnder('order')).toEqual(['secret'])
  expect(keysServedUnder('management')).toEqual(['secret'])
  expect(keysServedUnder('merchant')).toEqual([])
  expect(keysServedUnder('public')).toEqual([])
  // The cache serves no publishable key, because the route must check the origin of the page.
  expect(keysServedUnder('storefront')).toEqual(['secret'])
  expect(() => createFastReads({ routeTable: createRouteTable() } as Parameters<typeof createFastReads>[0])).toThrow('an order')
})
