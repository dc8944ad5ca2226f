import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { products } from '../../../../db/schema/catalog.ts'
import { auditLog } from '../../../../db/schema/people.ts'
import { type Answer, type Json, testApp } from '../../../support/app.ts'
import { shopIn, usd } from '../../../support/catalog.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const shirt = {
  title: 'Linen Shirt',
  descriptionHtml: '<p>Soft</p>',
  vendor: 'Bleue',
  type: 'Apparel',
  tags: ['Summer', 'summer ', 'Sale'],
  status: 'ACTIVE',
  options: [{ name: 'Size', values: ['S', 'M'] }],
  variants: [
    { optionValues: ['S'], sku: 'LS-S', price: usd(4200), compareAtPrice: usd(5000), cost: usd(1111), onHand: 7 },
    { optionValues: ['M'], sku: 'LS-M', price: usd(4300), onHand: 0 },
  ],
  images: [
    { url: 'https://img.example/a.jpg', alt: 'Front' },
    { url: 'https://img.example/b.jpg', width: 800, height: 600 },
  ],
  seo: { title: 'Buy linen' },
}

describe('POST /product-v2', () => {
  test('POST stores a complete product with ids and a handle from its title, published now', async () => {
    await using app = await testApp()
    const { shop, post, get } = await shopIn(app)
    const created = await post('/product-v2', shirt)
    expect(created.status).toBe(201)
    expect((await get(`/product-v2/${created.body.id}`)).body).toEqual(created.body)
    const [row] = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.subject, created.body.id))
    expect(row).toMatchObject({ action: 'product.created', shopId: shop.id })
    expect(created.body).toMatchObject({
      id: expect.stringMatching(/^prod_[0-9a-z]{26}$/),
      shopId: shop.id,
      handle: 'linen-shirt',
      tags: ['Summer', 'Sale'],
      status: 'ACTIVE',
      options: shirt.options,
      priceRange: { min: usd(4200), max: usd(4300) },
      available: true,
      seo: { title: 'Buy linen', description: null },
      publishedAt: '2026-01-06T12:00:00.000Z',
      createdAt: '2026-01-06T12:00:00.000Z',
      updatedAt: '2026-01-06T12:00:00.000Z',
    })
    expect(created.body.variants).toEqual([
      expect.objectContaining({
        id: expect.stringMatching(/^var_/),
        title: 'S',
        position: 1,
        price: usd(4200),
        compareAtPrice: usd(5000),
        cost: usd(1111),
        onHand: 7,
        trackInventory: true,
        available: true,
        taxable: true,
      }),
      expect.objectContaining({ title: 'M', position: 2, compareAtPrice: null, cost: null, onHand: 0, available: false }),
    ])
    expect(created.body.images.map(({ url, position, alt, width }: Json) => [url, position, alt, width])).toEqual([
      ['https://img.example/a.jpg', 1, 'Front', null],
      ['https://img.example/b.jpg', 2, null, 800],
    ])
  })

  test('a title is enough for a product; a handle from the title is numbered if taken, and a handle in the request is refused', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    const handles = []
    for (const title of ['Café №1', 'Cafe  no1!', 'café no1', '!!!']) handles.push((await post('/product-v2', { title })).body.handle)
    expect(handles).toEqual(['cafe-no1', 'cafe-no1-1', 'cafe-no1-2', 'product'])
    const bare = await post('/product-v2', { title: 'Bare' })
    expect(bare.body).toMatchObject({
      status: 'DRAFT',
      publishedAt: null,
      variants: [{ title: 'Default Title', optionValues: [], price: usd(0), trackInventory: false }],
    })
    expect(await post('/product-v2', { title: 'Other', handle: 'bare' })).toMatchObject({
      status: 409,
      body: { message: 'handle: another product has this handle' },
    })
    const second = await shopIn(app)
    expect((await second.post('/product-v2', { title: 'Bare', handle: 'bare' })).status).toBe(201)
  })

  test('a merchant has the same access to products as the secret key', async () => {
    await using app = await testApp()
    const { token } = await shopIn(app)
    expect((await app.call('POST', '/product-v2', { token, body: { title: 'Tea' } })).status).toBe(201)
    expect((await app.call('GET', '/product-v2', { token })).body).toMatchObject({
      total: 1,
      data: [{ title: 'Tea', variants: [{ cost: null, onHand: 0 }] }],
    })
  })

  test('every invalid field of a product is named, and the error does not repeat the value', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    const mark = 'zq9-leak'
    const v = (more: object) => ({ variants: [{ price: usd(1), ...more }] })
    const cases: [field: string, body: object][] = [
      ['title', {}],
      ['title', { title: '' }],
      ['title', { title: '   ' }],
      ['title', { title: 7 }],
      ['title', { title: mark.repeat(200) }],
      ['handle', { handle: 'Upper Case' }],
      ['handle', { handle: `a/${mark}` }],
      ['status', { status: mark }],
      ['status', { status: 'active' }],
      ['tags.0', { tags: [''] }],
      ['tags', { tags: mark }],
      ['options', { options: Array.from({ length: 4 }, (_, at) => ({ name: `o${at}`, values: ['x'] })) }],
      [
        'options',
        {
          options: [
            { name: mark, values: ['x'] },
            { name: mark.toUpperCase(), values: ['x'] },
          ],
        },
      ],
      ['options.0.values', { options: [{ name: 'Size', values: [mark, mark] }] }],
      ['variants.0.price', { variants: [{}] }],
      ['variants.0.price.amount', v({ price: { amount: 1.5, currency: 'USD' } })],
      ['variants.0.price.amount', v({ price: { amount: '5', currency: 'USD' } })],
      ['variants.0.price.amount', v({ price: usd(-1) })],
      ['variants.0.price.amount', v({ price: usd(100_000_000_000_001) })],
      ['variants.0.price.currency', v({ price: { amount: 1, currency: 'usd' } })],
      ['variants.0.price.currency', v({ price: { amount: 1, currency: 'ZZZ' } })],
      ['variants.0.compareAtPrice.currency', v({ compareAtPrice: { amount: 1, currency: 'EUR' } })],
      ['variants.0.cost.currency', v({ cost: { amount: 1, currency: 'EUR' } })],
      ['variants.1.price.currency', { variants: [{ price: usd(1) }, { price: { amount: 1, currency: 'EUR' } }] }],
      ['variants.0.price.currency', v({ price: { amount: 1, currency: 'EUR' } })],
      ['variants.0.optionValues', v({ optionValues: [mark] })],
      ['variants.0.optionValues.0', { options: [{ name: 'Size', values: ['S'] }], ...v({ optionValues: [mark] }) }],
      ['variants.1.optionValues', { variants: [{ price: usd(1) }, { price: usd(2) }] }],
      ['variants.0.onHand', v({ onHand: -1_000_001 })],
      ['variants.0.weightGrams', v({ weightGrams: -1 })],
      ['variants.0.imageId', v({ imageId: mark })],
      ['variants', { variants: Array.from({ length: 251 }, () => ({ price: usd(1) })) }],
      ['images.0.url', { images: [{ url: `javascript:${mark}` }] }],
      ['images.0.url', { images: [{ url: mark }] }],
      ['images.0.url', { images: [{ url: 'https://' }] }],
      ['images.0.url', { images: [{ url: 'https:///x.png' }] }],
      ['images.0.url', { images: [{ url: 'HTTPS://?x' }] }],
      ['publishedAt', { publishedAt: 'tomorrow' }],
      ['publishedAt', { publishedAt: '2026-01-01T25:00:00Z' }],
      ['publishedAt', { publishedAt: '2021-02-30T00:00:00Z' }],
      ['publishedAt', { publishedAt: '2021-04-31T00:00:00Z' }],
      ['publishedAt', { publishedAt: '2026-01-01T24:00:00Z' }],
      ['publishedAt', { publishedAt: '2026-01-01' }],
      ['publishedAt', { publishedAt: '1/1/2020' }],
      ['publishedAt', { publishedAt: '2026-01-01T00:00:00' }],
      ['publishedAt', { publishedAt: '9999-12-31T23:59:59Z' }],
      ['publishedAt', { publishedAt: '1900-01-01T00:00:00Z' }],
      ['seo.title', { seo: { title: 5 } }],
    ]
    for (const [field, body] of cases) {
      const answer = await post('/product-v2', { ...(field === 'title' ? {} : { title: 'Fine' }), ...body })
      expect([field, answer.status, answer.body.message]).toEqual([field, 400, expect.stringContaining(`${field}:`)])
      expect(answer.text.toLowerCase()).not.toContain(mark)
    }
    expect((await app.deps.db.read.select().from(products)).length).toBe(0)
  })

  test('prices keep their minor units in currencies with no, two and three decimals', async () => {
    await using app = await testApp()
    for (const currency of ['JPY', 'EUR', 'KWD']) {
      const shop = await shopIn(app, { currency })
      const bare = await shop.post('/product-v2', { title: 'Bare' })
      expect(bare.body.variants[0].price).toEqual({ amount: 0, currency })
      const created = await shop.post('/product-v2', {
        title: 'Priced',
        status: 'ACTIVE',
        variants: [{ price: { amount: 12_345, currency } }],
      })
      const response = await app.call('GET', `/product-v2/public/${created.body.id}`)
      expect(response.body.priceRange).toEqual({ min: { amount: 12_345, currency }, max: { amount: 12_345, currency } })
    }
  })

  test('unknown fields are refused, and nothing is stored', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    for (const [field, body] of Object.entries({
      ...Object.fromEntries(['id', 'shopId', 'createdAt', 'currency', 'rogue'].map((name) => [name, { [name]: 'zq9' }])),
      'variants.0.id': { variants: [{ price: usd(1), id: 'var_mine' }] },
      'variants.1.rogue': { variants: [{ price: usd(1) }, { price: usd(1), rogue: 'zq9' }] },
      'variants.0.price.amout': { variants: [{ price: { ...usd(1), amout: 1 } }] },
      'images.0.id': { images: [{ url: 'https://i.example/a', id: 'img_mine' }] },
    })) {
      const answer = await post('/product-v2', { title: 'Tea', ...body })
      expect([answer.status, answer.body.message]).toEqual([400, `unknown field: ${field}`])
    }
    expect(await app.deps.db.read.select().from(products)).toEqual([])
  })

  test('accepts a publication date on a leap day, with an offset, in lower case, or with up to nine decimals', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    for (const [publishedAt, as] of [
      ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
      ['2026-01-01T01:30:00+05:30', '2025-12-31T20:00:00.000Z'],
      ['2026-01-01t00:00:00z', '2026-01-01T00:00:00.000Z'],
      ['2026-01-01T00:00:00.123456789Z', '2026-01-01T00:00:00.123Z'],
      ['2026-01-01T00:00:00.5-01:00', '2026-01-01T01:00:00.500Z'],
    ]) {
      const answers = [
        await post('/product-v2', { title: 'Dated', publishedAt }),
        await post('/collection-v2', { title: 'Dated', publishedAt }),
        await post('/blogs', { title: 'Dated', bodyHtml: '', publishedAt }),
      ]
      expect(answers.map(({ status, body }) => [publishedAt, status, body.publishedAt])).toEqual(Array(3).fill([publishedAt, 201, as]))
    }
  })

  test('an impossible publication date is 400 for products, collections and blogs, also in changes', async () => {
    await using app = await testApp()
    const { post, patch, get } = await shopIn(app)
    for (const [path, more] of [
      ['/product-v2', {}],
      ['/collection-v2', {}],
      ['/blogs', { bodyHtml: '' }],
    ] as const) {
      const { body: created } = await post(path, { title: 'Dated', ...more })
      for (const publishedAt of [
        '2021-02-30T00:00:00Z',
        '2021-04-31T00:00:00Z',
        '2021-01-01T24:00:00Z',
        '2021-01-01',
        '1/1/2020',
        '2021-01-01T00:00:00',
      ]) {
        for (const answer of [
          await post(path, { title: 'Lost', ...more, publishedAt }),
          await patch(`${path}/${created.id}`, { title: 'Lost', publishedAt }),
        ])
          expect([path, publishedAt, answer.status, answer.body.message]).toEqual([
            path,
            publishedAt,
            400,
            expect.stringContaining('publishedAt:'),
          ])
      }
      expect((await get(path)).body).toMatchObject({ total: 1, data: [{ title: 'Dated' }] })
    }
  })

  test('an image accepts any well-formed web address, whatever the case of its scheme', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    for (const url of ['HTTPS://X.example/y', 'http://x.example', 'https://x.example:8443/a?b#c', 'https://[2001:db8::1]/y']) {
      const created = await post('/product-v2', { title: 'Pictured', images: [{ url }] })
      expect([url, created.status, created.body.images?.[0]?.url]).toEqual([url, 201, url])
    }
  })

  test('half a surrogate pair is 400 in any field and nothing is stored; a whole pair is accepted', async () => {
    await using app = await testApp()
    const { secretKey, get } = await shopIn(app)
    const send = (raw: string) => app.call('POST', '/product-v2', { key: secretKey, raw, headers: { 'content-type': 'application/json' } })
    for (const raw of [
      '{"title":"\\ud800"}',
      '{"title":"Tea \\udc00"}',
      '{"title":"Tea","tags":["\\udbff"]}',
      '{"title":"Tea","seo":{"title":"x\\ud83d"}}',
      '{"title":"Tea","unknown":[{"deep":"\\ude00\\ud83d"}]}',
    ]) {
      const answer = await send(raw)
      expect([raw, answer.status, answer.body.message]).toEqual([raw, 400, 'The body contains an unpaired surrogate'])
    }
    expect((await get('/product-v2')).body.total).toBe(0)
    expect((await send('{"title":"Tea \\ud83d\\ude00"}')).body.title).toBe('Tea 😀')
  })

  test('the HTML of a product is sanitized of scripts and disguised content', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    const descriptionHtml = [
      '<p onclick="steal()" style="position:fixed" class="x">Keep <b>this</b></p>',
      '<script>steal()</script><style>*{display:none}</style>',
      '<a href="javascript:steal()">one</a><a href="JaVa\tScRiPt:steal()">two</a><a href="https://ok.example" onmouseover="steal()">ok</a>',
      '<img src="x" onerror="steal()"><img src="data:text/html;base64,steal"><img src="https://ok.example/a.png" alt="a">',
      '<svg onload="steal()"><script>steal()</script></svg><iframe src="https://steal.example"></iframe>',
      '<math><mtext><style><img src=x onerror=steal()></style></mtext></math><form action="https://steal.example"><input></form>',
      '<object data="steal.swf"></object><meta http-equiv="refresh" content="0;url=https://steal.example"><base href="//steal.example">',
    ].join('')
    const created = await post('/product-v2', { title: 'Tea', status: 'ACTIVE', descriptionHtml, variants: [{ price: usd(0) }] })
    const response = await app.call('GET', `/product-v2/public/${created.body.id}`)
    expect(response.body.descriptionHtml).toBe(created.body.descriptionHtml)
    expect(response.body.descriptionHtml).toContain('<p>Keep <b>this</b></p>')
    expect(response.body.descriptionHtml).toContain('<a href="https://ok.example" rel="noopener noreferrer nofollow">ok</a>')
    expect(response.body.descriptionHtml).toContain('<img src="https://ok.example/a.png" alt="a" />')
    expect(response.body.descriptionHtml).not.toMatch(/steal|script|style|svg|iframe|onerror|onclick|data:|<form|<meta|<base|class=/i)
  })
})

describe('PATCH /product-v2', () => {
  test('PATCH keeps omitted fields and variants; named images keep their ids, and the others are replaced', async () => {
    await using app = await testApp()
    const { post, patch } = await shopIn(app)
    const { body: created } = await post('/product-v2', shirt)
    const [small, medium] = created.variants
    const [front, back] = created.images
    app.clock.advance(1000)
    const changed = await patch(`/product-v2/${created.id}`, {
      options: [{ name: 'Size', values: ['S', 'M', 'L'] }],
      images: [{ id: back.id, url: back.url }, { url: 'https://img.example/c.jpg' }],
      variants: [
        { price: usd(4400), optionValues: ['L'] },
        { id: small.id, price: usd(4200), title: 'Small', imageId: back.id },
      ],
    })
    expect(changed.status).toBe(200)
    expect(changed.body).toMatchObject({
      title: 'Linen Shirt',
      tags: ['Summer', 'Sale'],
      publishedAt: created.publishedAt,
      createdAt: created.createdAt,
      updatedAt: '2026-01-06T12:00:01.000Z',
    })
    const [smallAfter, mediumAfter, large] = changed.body.variants
    expect(smallAfter).toEqual({ ...small, title: 'Small', imageId: back.id })
    expect(mediumAfter).toEqual(medium)
    expect([large.position, [small.id, medium.id].includes(large.id)]).toEqual([3, false])
    expect(changed.body.images.map(({ id }: Json) => id)).toEqual([back.id, expect.not.stringContaining(front.id)])
    const reordered = await patch(`/product-v2/${created.id}`, {
      images: [],
      variants: [{ id: large.id, price: usd(2) }, { id: smallAfter.id, price: usd(1) }, { id: medium.id }],
    })
    expect(reordered.body.variants.map(({ id, title, imageId, compareAtPrice }: Json) => [id, title, imageId, compareAtPrice])).toEqual([
      [large.id, 'L', null, null],
      [small.id, 'Small', null, usd(5000)],
      [medium.id, 'M', null, null],
    ])
  })

  test('refuses an id that is not of this product or that is repeated', async () => {
    await using app = await testApp()
    const { post, patch } = await shopIn(app)
    const { body: mine } = await post('/product-v2', shirt)
    const { body: other } = await post('/product-v2', shirt)
    const [variant] = mine.variants
    for (const [field, body] of [
      ['variants.0.id', { variants: [{ id: other.variants[0].id, price: usd(1), optionValues: ['S'] }] }],
      [
        'variants.1.id',
        {
          variants: [
            { id: variant.id, price: usd(1) },
            { id: variant.id, price: usd(1) },
          ],
        },
      ],
      ['images.0.id', { images: [{ id: other.images[0].id, url: 'https://i.example/a' }] }],
      [
        'images.1.id',
        {
          images: [
            { id: mine.images[0].id, url: 'https://i.example/a' },
            { id: mine.images[0].id, url: 'https://i.example/b' },
          ],
        },
      ],
      ['variants', { variants: [] }],
    ] as const) {
      expect(await patch(`/product-v2/${mine.id}`, body)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining(`${field}:`) },
      })
    }
  })

  test('a known variant keeps its price when it is omitted; a new variant needs one', async () => {
    await using app = await testApp()
    const { post, patch, get } = await shopIn(app)
    const { body: before } = await post('/product-v2', shirt)
    const [s, m] = before.variants
    const changed = await patch(`/product-v2/${before.id}`, {
      variants: [
        { id: s.id, sku: 'S-2' },
        { id: m.id, price: usd(9) },
      ],
    })
    expect(changed.status).toBe(200)
    expect(changed.body.variants).toMatchObject([
      { id: s.id, price: usd(4200), compareAtPrice: usd(5000), cost: usd(1111), sku: 'S-2', onHand: 7 },
      { id: m.id, price: usd(9) },
    ])
    const refused = await patch(`/product-v2/${before.id}`, { title: 'Lost', variants: [{ id: s.id }, { optionValues: ['M'] }] })
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('variants.1.price:')])
    expect((await get(`/product-v2/${before.id}`)).body).toEqual(changed.body)
  })

  test("refuses a price in another currency than the shop's, at creation and in a change", async () => {
    await using app = await testApp()
    const { post, patch, get } = await shopIn(app)
    const { body: before } = await post('/product-v2', shirt)
    const [s, m] = before.variants
    const eur = { amount: 100, currency: 'EUR' }
    for (const [field, variants] of [
      ['variants.0.price', [{ id: s.id, price: eur }, { id: m.id }]],
      ['variants.1.price', [{ id: s.id }, { id: m.id, price: eur }]],
      ['variants.0.price', [s, m].map(({ id }) => ({ id, price: eur }))],
      ['variants.0.compareAtPrice', [{ id: s.id, compareAtPrice: eur }]],
      ['variants.0.cost', [{ id: s.id, cost: eur }]],
    ] as const) {
      const answer = await patch(`/product-v2/${before.id}`, { title: 'Lost', variants })
      expect([answer.status, answer.body.message]).toEqual([400, `${field}.currency: must be the shop's currency`])
    }
    expect((await get(`/product-v2/${before.id}`)).body).toEqual(before)
    const created = await post('/product-v2', { title: 'Lost', variants: [{ price: eur }] })
    expect([created.status, created.body.message]).toEqual([400, "variants.0.price.currency: must be the shop's currency"])
  })

  test("a product in another currency moves to the shop's when every variant gets a price, and keeps no old amount", async () => {
    await using app = await testApp()
    const { post, patch } = await shopIn(app)
    const { body: created } = await post('/product-v2', shirt)
    await app.deps.db.write((tx) => tx.update(products).set({ currency: 'KWD' }).where(eq(products.id, created.id)))
    const [s, m] = created.variants
    const path = `/product-v2/${created.id}`
    expect((await patch(path, { title: 'Still in dinars', variants: [{ id: s.id, sku: 'X' }] })).status).toBe(200)
    for (const [field, variants] of [
      ['variants', [{ id: s.id, price: usd(5) }]],
      ['variants.1.price', [{ id: s.id, price: usd(5) }, { id: m.id }]],
      ['variants.0.price', [{ id: s.id, cost: usd(5) }]],
    ] as const) {
      const answer = await patch(path, { variants })
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(`${field}: `)])
    }
    const changed = await patch(path, { variants: [s, m].map(({ id }) => ({ id, price: usd(5) })) })
    expect(changed.body.variants.map(({ price, compareAtPrice, cost }: Json) => [price, compareAtPrice, cost])).toEqual([
      [usd(5), null, null],
      [usd(5), null, null],
    ])
    expect(changed.text).not.toContain('KWD')
  })

  test('a change to a taken handle is refused and changes nothing', async () => {
    await using app = await testApp()
    const { post, patch, get } = await shopIn(app)
    await post('/product-v2', { title: 'First' })
    const { body: second } = await post('/product-v2', { title: 'Second' })
    expect((await patch(`/product-v2/${second.id}`, { handle: 'first', title: 'Changed' })).status).toBe(409)
    expect((await get(`/product-v2/${second.id}`)).body).toEqual(second)
  })
})

describe('access to products', () => {
  const routes = [
    ['POST', '/product-v2'],
    ['GET', '/product-v2'],
    ['GET', '/product-v2/ID'],
    ['PATCH', '/product-v2/ID'],
    ['DELETE', '/product-v2/ID'],
    ['POST', '/product-v2/ID/duplicate'],
    ['POST', '/product-v2/ID/variants/ID/stock'],
    ['DELETE', '/product-v2/ID/variants/ID'],
    ['POST', '/product-v2/import'],
    ['POST', '/collection-v2'],
    ['GET', '/collection-v2'],
    ['GET', '/collection-v2/ID'],
    ['PATCH', '/collection-v2/ID'],
    ['DELETE', '/collection-v2/ID'],
    ['PUT', '/collection-v2/ID/products'],
  ] as const

  test('product routes are 401 without credentials and 403 with a publishable key, before any lookup', async () => {
    await using app = await testApp()
    const { publishableKey } = await shopIn(app)
    for (const [method, path] of routes) {
      const body = method === 'GET' || method === 'DELETE' ? {} : { body: { title: 1 } }
      expect([method, path, (await app.call(method, path, body)).status]).toEqual([method, path, 401])
      expect([method, path, (await app.call(method, path, { ...body, key: `${publishableKey}x` })).status]).toEqual([method, path, 401])
      expect([method, path, (await app.call(method, path, { ...body, key: publishableKey })).status]).toEqual([method, path, 403])
    }
  })

  test('a product of another shop gets the same response as one that does not exist', async () => {
    await using app = await testApp()
    const owner = await shopIn(app)
    const thief = await shopIn(app)
    const { body: created } = await owner.post('/product-v2', shirt)
    const unknown = `${created.id.slice(0, -1)}${created.id.endsWith('0') ? '1' : '0'}`
    for (const [method, body] of [['GET'], ['PATCH', { title: 'Stolen' }], ['DELETE']] as const) {
      const answers: Answer[] = []
      for (const id of [created.id, unknown, 'x'])
        answers.push(await app.call(method, `/product-v2/${id}`, { key: thief.secretKey, ...(body ? { body } : {}) }))
      for (const answer of answers)
        expect(answer).toMatchObject({
          status: 404,
          body: { statusCode: 404, message: 'No such product', error: 'Not Found', code: 'not_found' },
        })
    }
    expect((await thief.get('/product-v2')).body).toMatchObject({ data: [], total: 0 })
    expect((await owner.get(`/product-v2/${created.id}`)).body).toEqual(created)
  })
})

describe('idempotency keys of products', () => {
  test('a repeated idempotency key creates a product once and replays the response byte for byte', async () => {
    await using app = await testApp()
    const { post, patch, get } = await shopIn(app)
    const key = { 'idempotency-key': 'k-1' }
    const first = await post('/product-v2', shirt, key)
    app.clock.advance(60_000)
    const repeated = await post('/product-v2', shirt, key)
    expect([repeated.status, repeated.text, repeated.headers.get('idempotent-replayed')]).toEqual([201, first.text, 'true'])
    expect((await get('/product-v2')).body.total).toBe(1)
    const path = `/product-v2/${first.body.id}`
    const changed = await patch(path, { title: 'Other' }, key)
    await patch(path, { title: 'Later' })
    expect(await patch(path, { title: 'Other' }, key)).toMatchObject({ status: 200, text: changed.text })
    expect((await get(path)).body.title).toBe('Later')
  })

  test('another body under the same idempotency key is 422, and a stored refusal is replayed', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    expect((await post('/product-v2', { title: 'A' }, { 'idempotency-key': 'k' })).status).toBe(201)
    expect((await post('/product-v2', { title: 'B' }, { 'idempotency-key': 'k' })).status).toBe(422)
    const refused = await post('/product-v2', { title: 'C', handle: 'a' }, { 'idempotency-key': 'c' })
    expect(refused.status).toBe(409)
    expect(await post('/product-v2', { title: 'C', handle: 'a' }, { 'idempotency-key': 'c' })).toMatchObject({
      status: 409,
      text: refused.text,
    })
  })
})

describe('public reads of products', () => {
  test('public reads show no cost, stock or drafts, with any credentials and under the API prefix', async () => {
    await using app = await testApp()
    const { post, patch, secretKey } = await shopIn(app)
    const { body: created } = await post('/product-v2', shirt)
    for (const path of [`/product-v2/public/${created.id}`, `/api/v3/product-v2/public/${created.id}`]) {
      const response = await app.call('GET', path, { key: 'nonsense', token: 'a.b.c' })
      expect(response.status).toBe(200)
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
      expect(response.text).not.toMatch(/cost|onHand|reserved|lowStock|\b1111\b/)
      const { variants, ...rest } = created
      const publicOf = ({ hasPrice: _, cost: __, onHand: ___, reserved: ____, lowStockAt: _____, ...variant }: Json) => variant
      expect(response.body).toEqual({ ...rest, variants: variants.map(publicOf) })
    }
    await patch(`/product-v2/${created.id}`, { status: 'DRAFT' })
    expect((await app.call('GET', `/product-v2/public/${created.id}`, { key: secretKey })).status).toBe(404)
    expect((await app.call('GET', '/product-v2/public/prod_none')).body).toEqual({
      statusCode: 404,
      message: 'No such product',
      error: 'Not Found',
      code: 'not_found',
    })
  })

  test('a limit of any size is clamped, a negative one too', async () => {
    await using app = await testApp()
    const { list, add } = await shopIn(app)
    await add({ title: 'Tea' })
    expect((await app.call('GET', `${list}?limit=99999999999`)).body).toMatchObject({ limit: 100, total: 1 })
    expect((await app.call('GET', `${list}?limit=-3`)).body).toMatchObject({ limit: 1, total: 1 })
  })

  test('public lists are paged and clamped, a page past the end is empty, and invalid parameters are named', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    for (const title of ['A', 'B', 'C']) await shop.add({ title })
    expect((await app.call('GET', `${shop.list}?limit=2&page=2&sort=title`)).body).toMatchObject({
      data: [{ title: 'C' }],
      page: 2,
      limit: 2,
      total: 3,
      pages: 2,
    })
    expect((await app.call('GET', `${shop.list}?page=9`)).body).toEqual({ data: [], page: 9, limit: 20, total: 3, pages: 1 })
    expect((await app.call('GET', `${shop.list}?limit=0`)).body.limit).toBe(1)
    expect((await app.call('GET', `${shop.list}?limit=500`)).body.limit).toBe(100)
    for (const [field, query] of [
      ['page', 'page=0'],
      ['page', 'page=zq9'],
      ['limit', 'limit=1e2'],
      ['sort', 'sort=zq9'],
      ['q', `q=${'zq9'.repeat(100)}`],
    ] as const) {
      const answer = await app.call('GET', `${shop.list}?${query}`)
      expect([query, answer.status, answer.body.message]).toEqual([query, 400, expect.stringContaining(`${field}:`)])
      expect(answer.text).not.toContain('zq9')
    }
    expect((await app.call('GET', '/product-v2/public/shop/nobody')).status).toBe(404)
  })

  test('a list narrows by tag, collection, or both, in any order of sorting', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const ids: string[] = []
    for (const [title, price, tags] of [
      ['A', 3, ['x']],
      ['B', 1, ['X', 'y']],
      ['C', 2, []],
    ] as const) {
      app.clock.advance(1)
      ids.push((await shop.add({ title, tags: [...tags], variants: [{ price: usd(price) }] })).id)
    }
    const { body } = await shop.post('/collection-v2', { title: 'Set' })
    await shop.put(`/collection-v2/${body.id}/products`, { productIds: [ids[2], ids[0], ids[1]] })
    expect(await shop.titles('?tag=X')).toEqual(['B', 'A'])
    expect(await shop.titles('?tag=x&sort=-price')).toEqual(['A', 'B'])
    expect(await shop.titles('?collection=set')).toEqual(['C', 'A', 'B'])
    expect(await shop.titles(`?collection=${body.id}&sort=price`)).toEqual(['B', 'C', 'A'])
    expect(await shop.titles('?collection=set&tag=x')).toEqual(['A', 'B'])
    expect((await app.call('GET', `${shop.list}?collection=set&limit=1&page=2`)).body).toMatchObject({
      data: [{ title: 'A' }],
      total: 3,
      pages: 3,
    })
  })

  test('a shop with listed origins refuses reads of products from other origins', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const { id } = await shop.add({ title: 'Tea' })
    await app.deps.db.write((tx) => app.deps.shopStore.update(tx, shop.shop.id, { origins: ['https://mine.example'] }))
    for (const path of [shop.list, `/product-v2/public/${id}`, `/collection-v2/published/${shop.shop.name}`]) {
      expect((await app.call('GET', path)).status).toBe(200)
      expect((await app.call('GET', path, { headers: { origin: 'https://mine.example' } })).status).toBe(200)
      const refused = await app.call('GET', path, { headers: { origin: 'https://theirs.example' } })
      expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([403, '*'])
      expect(refused.text).not.toContain('Tea')
    }
  })
})

test('a product has at most 250 images, and a collection at most 5,000 products', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const images = (count: number) => Array.from({ length: count }, (_, nth) => ({ url: `https://cdn.example/${nth}.jpg` }))
  const product = (count: number) => shop.post('/product-v2', { title: 'Album', images: images(count), variants: [{ price: usd(100) }] })
  const tooMany = await product(251)
  expect([tooMany.status, tooMany.body.field]).toEqual([400, 'images'])
  const created = await product(250)
  expect([created.status, created.body.images.length]).toEqual([201, 250])
  const { id } = (await shop.post('/collection-v2', { title: 'All' })).body
  const put = (count: number) =>
    shop.put(`/collection-v2/${id}/products`, { productIds: Array.from({ length: count }, () => app.deps.newId('product')) })
  const refused = await put(5_001)
  expect([refused.status, refused.body.message]).toEqual([400, 'productIds: must have at most 5000 entries'])
  // The products do not exist, but their number is within the limit.
  expect((await put(5_000)).body.message).not.toContain('5000')
})
