import { describe, expect, test } from 'bun:test'
import { createRouteTable, type RouteTable } from '../../src/http/route-table.ts'
import { testApp } from '../support/app.ts'

const declareRoute = (method: string, path: string, access: string) => ({ method, path, hooks: { detail: { 'x-access': access } } })
const accessAt = (table: RouteTable, method: string, path: string): string | undefined => table.match(method, path)?.access

describe('a route table', () => {
  test('fixed path segments take precedence over parameters, in any order of declaration', () => {
    const routes = [
      declareRoute('PATCH', '/card/:id', 'management'),
      declareRoute('PATCH', '/card/apply', 'shopper'),
      declareRoute('GET', '/card/:id', 'public'),
      declareRoute('GET', '/:any/apply', 'cart'),
      declareRoute('GET', '/card/:id/items', 'order'),
      declareRoute('GET', '/', 'public'),
    ]
    for (const order of [routes, routes.toReversed()]) {
      const table = createRouteTable()
      table.fill(order)
      expect(accessAt(table, 'PATCH', '/card/apply')).toBe('shopper')
      expect(accessAt(table, 'PATCH', '/card/applied')).toBe('management')
      expect(accessAt(table, 'GET', '/card/apply')).toBe('public')
      expect(accessAt(table, 'GET', '/other/apply')).toBe('cart')
      expect(accessAt(table, 'GET', '/card/1/items')).toBe('order')
      expect(accessAt(table, 'GET', '/')).toBe('public')
      for (const path of ['/card', '/card/', '/card//items', '/card/1/', '/other/1', '', 'card/1'])
        expect([path, accessAt(table, 'GET', path)]).toEqual([path, undefined])
      expect(accessAt(table, 'POST', '/card/1')).toBeUndefined()
      expect(table.get('GET', '/card/:id')?.access).toBe('public')
      expect(table.get('GET', '/card/1')).toBeUndefined()
    }
  })

  test('a wildcard route takes the paths below it that no other route takes', () => {
    const routes = [
      declareRoute('GET', '/page/*', 'page'),
      declareRoute('GET', '/page', 'page'),
      declareRoute('GET', '/page/files/:name', 'public'),
    ]
    for (const order of [routes, routes.toReversed()]) {
      const table = createRouteTable()
      table.fill(order)
      const matchedPath = (path: string) => table.match('GET', path)?.path
      for (const path of ['/page/', '/page/a', '/page/a/b/c', '/page/files', '/page/files/a/b'])
        expect([path, matchedPath(path)]).toEqual([path, '/page/*'])
      expect([matchedPath('/page'), matchedPath('/page/files/a')]).toEqual(['/page', '/page/files/:name'])
      expect([matchedPath('/pages'), matchedPath('/'), accessAt(table, 'POST', '/page/a')]).toEqual([undefined, undefined, undefined])
      table.fill([])
      expect(matchedPath('/page/a')).toBeUndefined()
    }
  })

  test('filling a route table replaces its routes', () => {
    const table = createRouteTable()
    expect(table.match('GET', '/a')).toBeUndefined()
    table.fill([declareRoute('GET', '/a', 'public')])
    table.fill([declareRoute('GET', '/b', 'public')])
    expect([table.get('GET', '/a'), accessAt(table, 'GET', '/a'), accessAt(table, 'GET', '/b')]).toEqual([undefined, undefined, 'public'])
  })
})

test('two apps in one process have separate route tables', async () => {
  await using one = await testApp({ API_V3_PREFIX: '/one' })
  await using two = await testApp({ API_V3_PREFIX: '/two' })
  const path = '/merchant/login'
  expect([one.routeTable.get('POST', `/one${path}`)?.access, two.routeTable.get('POST', `/two${path}`)?.access]).toEqual(['login', 'login'])
  expect([one.routeTable.get('POST', `/two${path}`), two.routeTable.get('POST', `/one${path}`)]).toEqual([undefined, undefined])
  // The fast path refuses this request by the route table, before the app looks for a route.
  const tooLarge = { body: {}, headers: { 'content-length': '99999999' } }
  for (const [app, ownPrefix, otherPrefix] of [
    [one, '/one', '/two'],
    [two, '/two', '/one'],
  ] as const) {
    const openAt = async (prefix: string) => {
      const answer = await app.call('POST', prefix + path, tooLarge)
      return [answer.status, answer.headers.get('access-control-allow-origin')]
    }
    expect([await openAt(ownPrefix), await openAt(otherPrefix)]).toEqual([
      [413, '*'],
      [413, null],
    ])
  }
})
