/** Tests that the schemas that other tests use refuse invalid responses. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { envelopeOf, refusalOf } from '../../../src/lib/ucp/call.ts'
import { notFoundMessage } from '../../../src/lib/ucp/messages.ts'
import { capabilityNames, releaseRules, releases } from '../../../src/lib/ucp/releases.ts'
import { longTestMs } from '../../support/timeouts.ts'
import { answerBreaches, assertUcpAnswer, hasUcpSchemas, ucpOperations, ucpSkipNote } from '../../support/ucp-schemas.ts'

setDefaultTimeout(longTestMs)

const allCapabilities = new Set(capabilityNames)

describe.each(releases)('schemas of %s', (release) => {
  const platform = { release, capabilities: allCapabilities }
  const total = { type: 'total', amount: 1000 }
  const line = {
    id: 'line_1',
    item: { id: 'v1', title: 'Mug', price: 1000 },
    quantity: 1,
    totals: [{ type: 'subtotal', amount: 1000 }, total],
  }
  const destination = { id: 'd1', address_country: 'US', ...(releaseRules[release].typesDestinations ? { type: 'shipping_address' } : {}) }
  const checkout = {
    ucp: { ...envelopeOf(platform, 'checkout'), payment_handlers: {} },
    id: 'chk_1',
    status: 'incomplete',
    currency: 'USD',
    line_items: [line],
    totals: [{ type: 'subtotal', amount: 1000 }, total],
    links: [],
    discounts: { codes: ['TEN'], applied: [{ title: 'Ten', code: 'TEN', amount: 100 }] },
    fulfillment: {
      methods: [{ id: 'm1', type: 'shipping', line_item_ids: ['line_1'], destinations: [destination], groups: [] }],
    },
  }
  const cart = { ucp: envelopeOf(platform, 'cart'), id: 'ucart_1', currency: 'USD', line_items: [line], totals: checkout.totals }

  test.skipIf(!hasUcpSchemas)(`accepts responses with and without a resource${ucpSkipNote}`, () => {
    expect(answerBreaches(release, 'create_checkout', checkout)).toEqual([])
    expect(answerBreaches(release, 'get_cart', cart)).toEqual([])
    expect(answerBreaches(release, 'get_order', refusalOf(release, notFoundMessage))).toEqual([])
    expect(answerBreaches(release, 'search_catalog', { ucp: envelopeOf(platform, 'search'), products: [] })).toEqual([])
  })

  test.skipIf(!hasUcpSchemas).each<[string, string, object]>([
    ['without a status', 'create_checkout', { ...checkout, status: undefined }],
    ['in an unknown status', 'create_checkout', { ...checkout, status: 'open' }],
    ['of another release', 'create_checkout', { ...checkout, ucp: { ...checkout.ucp, version: '2020-01-01' } }],
    ['without handlers', 'create_checkout', { ...checkout, ucp: envelopeOf(platform, 'checkout') }],
    ['with an amount as text', 'get_cart', { ...cart, totals: [{ type: 'total', amount: '1000' }] }],
    ['with an applied discount without a title', 'get_checkout', { ...checkout, discounts: { applied: [{ amount: 1 }] } }],
    ['with a method without a type', 'get_checkout', { ...checkout, fulfillment: { methods: [{ id: 'm1' }] } }],
    ['with a field of an inactive capability', 'get_cart', { ...cart, fulfillment: { methods: [] } }],
    ['that names a capability of another kind', 'get_cart', { ...cart, ucp: envelopeOf(platform, 'checkout') }],
    ['without products', 'search_catalog', { ucp: envelopeOf(platform, 'search') }],
    ['without messages', 'get_cart', { ucp: { version: release, status: 'error' } }],
    ['without a resource, but with an id', 'get_cart', { ...refusalOf(release, notFoundMessage), id: 'ucart_1' }],
    ['of an unknown operation', 'sell', cart],
    ['without fields', 'get_cart', {}],
  ])(`refuses a response %s${ucpSkipNote}`, (_, operation, answer) => {
    const sent = JSON.parse(JSON.stringify(answer))
    expect(answerBreaches(release, operation, sent)).not.toEqual([])
    expect(() => assertUcpAnswer(release, operation, sent)).toThrow(operation)
  })

  test.skipIf(!hasUcpSchemas)(`has a schema for every operation of the protocol${ucpSkipNote}`, () => {
    expect(ucpOperations(release)).toHaveLength(13)
    for (const { tool } of ucpOperations(release)) expect(answerBreaches(release, tool, refusalOf(release, notFoundMessage))).toEqual([])
  })
})
