import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { blogs } from '../../../../db/schema/catalog.ts'
import { auditLog } from '../../../../db/schema/people.ts'
import { testApp } from '../../../support/app.ts'
import { shopIn } from '../../../support/catalog.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const post1 = {
  title: 'Hello, wörld',
  bodyHtml: '<p>First words</p>',
  excerpt: 'In short',
  coverImage: 'https://i.example/c.jpg',
  author: 'Ann',
  tags: ['News', 'news', ' Tea '],
  status: 'PUBLISHED',
}

describe('POST /blogs', () => {
  test('POST stores every field of a blog, with a slug from its title, published now, and writes an audit entry', async () => {
    await using app = await testApp()
    const { shop, post, get } = await shopIn(app)
    const created = await post('/blogs', post1)
    expect(created.status).toBe(201)
    const { id, ...rest } = created.body
    expect(id).toMatch(/^blog_[0-9a-z]{26}$/)
    const now = '2026-01-06T12:00:00.000Z'
    expect(rest).toEqual({
      ...post1,
      shopId: shop.id,
      slug: 'hello-world',
      tags: ['News', 'Tea'],
      publishedAt: now,
      createdAt: now,
      updatedAt: now,
    })
    expect((await get(`/blogs/${id}`)).body).toEqual(created.body)
    const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.subject, id))
    expect(rows.map(({ action, shopId }) => [action, shopId])).toEqual([['blog.created', shop.id]])
  })

  test('a blog with only a title and a text becomes a draft without a date', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    expect((await post('/blogs', { title: 'Draft', bodyHtml: '' })).body).toMatchObject({
      status: 'DRAFT',
      publishedAt: null,
      excerpt: null,
      coverImage: null,
      author: null,
      tags: [],
      bodyHtml: '',
    })
  })

  test('a slug from a title gets a number if the instance has it already; a slug in the request is refused then', async () => {
    await using app = await testApp()
    const mine = await shopIn(app)
    const theirs = await shopIn(app)
    const slugs = []
    for (const { post } of [mine, theirs, mine]) slugs.push((await post('/blogs', { title: 'News!', bodyHtml: '' })).body.slug)
    expect(slugs).toEqual(['news', 'news-1', 'news-2'])
    expect((await mine.post('/blogs', { title: '!!!', bodyHtml: '' })).body.slug).toBe('blog')
    expect(await theirs.post('/blogs', { title: 'Other', slug: 'news', bodyHtml: '' })).toMatchObject({
      status: 409,
      body: { message: 'slug: another blog post has this slug' },
    })
    const { body: other } = await theirs.post('/blogs', { title: 'Other', slug: 'own_slug-2', bodyHtml: '' })
    expect(other.slug).toBe('own_slug-2')
    expect((await theirs.patch(`/blogs/${other.id}`, { slug: 'news', title: 'Lost' })).status).toBe(409)
    expect((await theirs.get(`/blogs/${other.id}`)).body).toEqual(other)
  })

  test('a blog is created although a hundred blogs of the instance have the same title', async () => {
    await using app = await testApp()
    const { shop, post } = await shopIn(app)
    const at = app.clock.now()
    const common = {
      shopId: shop.id,
      title: 'News',
      excerpt: null,
      bodyHtml: '',
      coverImage: null,
      author: null,
      tags: [],
      status: 'DRAFT',
      publishedAt: null,
      createdAt: at,
      updatedAt: at,
      words: ' ',
    } as const
    await app.deps.db.write(async (tx) => {
      for (let nth = 0; nth <= 100; nth++)
        await tx.insert(blogs).values({ ...common, tags: [], id: `blog_${nth}`, slug: nth === 0 ? 'news' : `news-${nth}` })
    })
    expect((await post('/blogs', { title: 'News', bodyHtml: '' })).body.slug).toMatch(/^news-[0-9a-z]{12}$/)
  })

  test('every invalid field of a blog is named, and the error does not repeat the value', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    const cases: [field: string, body: object][] = [
      ['title', { title: undefined }],
      ['title', { title: ' ' }],
      ['title', { title: 'zq9'.repeat(100) }],
      ['bodyHtml', { bodyHtml: undefined }],
      ['bodyHtml', { bodyHtml: 5 }],
      ['slug', { slug: 'ZQ9 Upper' }],
      ['slug', { slug: 'zq9/x' }],
      ['slug', { slug: '' }],
      ['coverImage', { coverImage: 'javascript:zq9' }],
      ['tags', { tags: 'zq9' }],
      ['tags.0', { tags: [''] }],
      ['status', { status: 'ARCHIVED' }],
      ['publishedAt', { publishedAt: 'zq9' }],
      ['publishedAt', { publishedAt: '9999-12-31T23:59:59Z' }],
    ]
    for (const [field, body] of cases) {
      const answer = await post('/blogs', { title: 'Fine', bodyHtml: '', ...body })
      expect([field, answer.status, answer.body.message]).toEqual([field, 400, expect.stringContaining(`${field}:`)])
      expect(answer.text.toLowerCase()).not.toContain('zq9')
    }
    expect(await app.deps.db.read.select().from(blogs)).toEqual([])
    expect(
      (await app.call('POST', '/blogs', { headers: { 'content-type': 'text/plain' }, key: (await shopIn(app)).secretKey, raw: 'x' }))
        .status,
    ).toBe(415)
  })

  test('the HTML of a blog is sanitized, and unknown fields are refused', async () => {
    await using app = await testApp()
    const { shop, post } = await shopIn(app)
    const bodyHtml =
      '<h1 style="x" onclick="steal()">Hi</h1><script>steal()</script><a href="javascript:steal()">a</a><svg onload=steal()></svg><img src="https://ok.example/a.png" onerror="steal()">'
    for (const rogue of ['words', 'id', 'shopId', 'rogue'])
      expect((await post('/blogs', { title: 'T', bodyHtml, [rogue]: 'zq9' })).body.message).toBe(`unknown field: ${rogue}`)
    const created = await post('/blogs', { title: 'T', bodyHtml })
    expect(created.body).toMatchObject({
      shopId: shop.id,
      bodyHtml: '<h1>Hi</h1><a rel="noopener noreferrer nofollow">a</a><img src="https://ok.example/a.png" />',
    })
    const [row] = await app.deps.db.read.select().from(blogs)
    expect(JSON.stringify([row, created.body])).not.toMatch(/steal|zq9/)
    expect(created.body).not.toHaveProperty('words')
  })

  test('a repeated idempotency key replays the response byte for byte; another body under the key is 422', async () => {
    await using app = await testApp()
    const { post, patch, get } = await shopIn(app)
    const key = { 'idempotency-key': 'k' }
    const first = await post('/blogs', post1, key)
    app.clock.advance(5_000)
    expect(await post('/blogs', post1, key)).toMatchObject({ status: 201, text: first.text })
    expect((await get('/blogs')).body.total).toBe(1)
    expect((await post('/blogs', { ...post1, title: 'Other' }, key)).status).toBe(422)
    const changed = await patch(`/blogs/${first.body.id}`, { title: 'New' }, key)
    app.clock.advance(5_000)
    expect(await patch(`/blogs/${first.body.id}`, { title: 'New' }, key)).toMatchObject({ status: 200, text: changed.text })
  })
})

describe('PATCH and DELETE /blogs', () => {
  test('PATCH keeps fields that are left out, null clears them, and publishing without a date sets it to now', async () => {
    await using app = await testApp()
    const { post, patch } = await shopIn(app)
    const { body: created } = await post('/blogs', { ...post1, status: 'DRAFT' })
    expect(created.publishedAt).toBeNull()
    app.clock.advance(1_000)
    const published = await patch(`/blogs/${created.id}`, { status: 'PUBLISHED', excerpt: null })
    expect(published.body).toEqual({
      ...created,
      status: 'PUBLISHED',
      excerpt: null,
      publishedAt: '2026-01-06T12:00:01.000Z',
      updatedAt: '2026-01-06T12:00:01.000Z',
    })
    app.clock.advance(1_000)
    expect((await patch(`/blogs/${created.id}`, { status: 'DRAFT' })).body.publishedAt).toBe('2026-01-06T12:00:01.000Z')
    expect((await patch(`/blogs/${created.id}`, { status: 'PUBLISHED' })).body.publishedAt).toBe('2026-01-06T12:00:01.000Z')
    expect((await patch(`/blogs/${created.id}`, { publishedAt: null })).body.publishedAt).toBe('2026-01-06T12:00:02.000Z')
    expect((await patch(`/blogs/${created.id}`, { publishedAt: '2026-03-01T00:00:00+02:00' })).body.publishedAt).toBe(
      '2026-02-28T22:00:00.000Z',
    )
  })

  test('DELETE removes a blog with status 204, and reads no longer find it', async () => {
    await using app = await testApp()
    const shop = await shopIn(app)
    const { body: created } = await shop.post('/blogs', post1)
    expect(await shop.delete(`/blogs/${created.id}`)).toMatchObject({ status: 204, text: '' })
    expect((await shop.delete(`/blogs/${created.id}`)).status).toBe(404)
    expect((await shop.get(`/blogs/${created.id}`)).status).toBe(404)
    expect((await shop.get('/blogs')).body.total).toBe(0)
    expect((await app.call('GET', `/blogs/public/${created.slug}`)).status).toBe(404)
    const rows = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.subject, created.id))
    expect(rows.map(({ action }) => action).sort()).toEqual(['blog.created', 'blog.removed'])
  })
})

describe('access to blogs', () => {
  test('blogs without credentials are 401, and a publishable key can only read', async () => {
    await using app = await testApp()
    const { publishableKey, token } = await shopIn(app)
    for (const [method, path, withKey] of [
      ['GET', '/blogs', 200],
      ['GET', '/blogs/x', 404],
      ['POST', '/blogs', 403],
      ['PATCH', '/blogs/x', 403],
      ['DELETE', '/blogs/x', 403],
    ] as const) {
      const body = method === 'POST' || method === 'PATCH' ? { body: { title: 1 } } : {}
      expect([method, path, (await app.call(method, path, body)).status]).toEqual([method, path, 401])
      expect([method, path, (await app.call(method, path, { ...body, key: 'pk_nonsense' })).status]).toEqual([method, path, 401])
      expect([method, path, (await app.call(method, path, { ...body, key: publishableKey })).status]).toEqual([method, path, withKey])
    }
    expect((await app.call('POST', '/blogs', { token, body: { title: 'By hand', bodyHtml: '' } })).status).toBe(201)
    expect((await app.call('GET', '/blogs', { token })).body).toMatchObject({ total: 1 })
  })

  test('a publishable key sees only blogs that are public; merchants and secret keys see drafts too', async () => {
    await using app = await testApp()
    const { post, publishableKey, secretKey, token } = await shopIn(app)
    const ids = new Map<string, string>()
    for (const [title, more] of [
      ['Draft', {}],
      ['Draft with date', { publishedAt: '2026-01-01T00:00:00Z' }],
      ['Old', { status: 'PUBLISHED', publishedAt: '2025-01-01T00:00:00Z' }],
      ['New', { status: 'PUBLISHED' }],
      ['To come', { status: 'PUBLISHED', publishedAt: '2026-01-06T12:00:05Z' }],
    ] as const) {
      app.clock.advance(1)
      ids.set(title, (await post('/blogs', { title, bodyHtml: 'same text', ...more })).body.id)
    }
    const titles = async (credential: object, query = '') => {
      const { body } = await app.call('GET', `/blogs${query}`, credential)
      expect(body.total).toBe(body.data.length)
      return body.data.map(({ title }: { title: string }) => title)
    }
    const all = ['To come', 'New', 'Old', 'Draft with date', 'Draft']
    expect(await titles({ key: secretKey })).toEqual(all)
    expect(await titles({ token })).toEqual(all)
    expect(await titles({ key: publishableKey })).toEqual(['New', 'Old'])
    expect(await titles({ key: publishableKey }, '?q=text')).toEqual(['New', 'Old'])
    for (const [title, id] of ids) {
      const visible = title === 'New' || title === 'Old'
      expect([title, (await app.call('GET', `/blogs/${id}`, { key: publishableKey })).status]).toEqual([title, visible ? 200 : 404])
      expect((await app.call('GET', `/blogs/${id}`, { key: secretKey })).body.title).toBe(title)
    }
    app.clock.advance(5_000)
    expect(await titles({ key: publishableKey })).toEqual(['To come', 'New', 'Old'])
    const publicList = await app.call('GET', '/blogs', { key: publishableKey })
    expect([publicList.headers.get('access-control-allow-origin'), publicList.headers.get('cache-control')]).toEqual(['*', 'no-store'])
  })

  test('a blog of another shop gets the same response as one that does not exist', async () => {
    await using app = await testApp()
    const owner = await shopIn(app)
    const thief = await shopIn(app)
    const { body: created } = await owner.post('/blogs', post1)
    for (const id of [created.id, 'blog_none']) {
      for (const answer of [
        await thief.get(`/blogs/${id}`),
        await thief.patch(`/blogs/${id}`, { title: 'Stolen' }),
        await thief.delete(`/blogs/${id}`),
        await app.call('GET', `/blogs/${id}`, { key: thief.publishableKey }),
      ]) {
        expect(answer).toMatchObject({
          status: 404,
          body: { statusCode: 404, message: 'No such blog', error: 'Not Found', code: 'not_found' },
        })
      }
    }
    expect((await thief.get('/blogs?q=hello')).body).toMatchObject({ data: [], total: 0 })
    expect((await owner.get(`/blogs/${created.id}`)).body).toEqual(created)
  })
})

describe('lists of blogs', () => {
  test('the limit of a list of blogs is clamped, a page past the end is empty, and invalid parameters are named', async () => {
    await using app = await testApp()
    const { post, get } = await shopIn(app)
    for (const title of ['A', 'B', 'C']) {
      app.clock.advance(1)
      await post('/blogs', { title, bodyHtml: '' })
    }
    expect((await get('/blogs?limit=2&page=2')).body).toMatchObject({ data: [{ title: 'A' }], page: 2, limit: 2, total: 3, pages: 2 })
    expect((await get('/blogs?page=7')).body).toEqual({ data: [], page: 7, limit: 20, total: 3, pages: 1 })
    expect((await get('/blogs?limit=1000')).body.limit).toBe(100)
    for (const [field, query] of [
      ['page', 'page=zq9'],
      ['limit', 'limit=zq9'],
      ['q', `q=${'zq9'.repeat(100)}`],
    ] as const) {
      const answer = await get(`/blogs?${query}`)
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(`${field}:`)])
      expect(answer.text).not.toContain('zq9')
    }
  })

  test('q finds blogs by whole words of title, excerpt, tags and text, without wildcards', async () => {
    await using app = await testApp()
    const { post, patch, get } = await shopIn(app)
    const { body: created } = await post('/blogs', {
      title: 'Über Tee',
      excerpt: 'kurz',
      tags: ['Grün'],
      author: 'Ann',
      bodyHtml: '<p>100% <em>東京</em> under_score</p>',
    })
    await post('/blogs', { title: 'Other', bodyHtml: '' })
    const found = async (q: string) =>
      (await get(`/blogs?q=${encodeURIComponent(q)}`)).body.data.map(({ title }: { title: string }) => title)
    for (const q of ['uber', 'ÜBER tee', 'kurz', 'grun', '100', '京', 'score under', 'tee!'])
      expect([q, await found(q)]).toEqual([q, ['Über Tee']])
    for (const q of ['te', 'tee other', 'ann', 'em', '%', '_', 't_e', 't%', '***', '"']) expect([q, await found(q)]).toEqual([q, []])
    expect((await found(' ')).sort()).toEqual(['Other', 'Über Tee'])
    await patch(`/blogs/${created.id}`, { title: 'Kaffee' })
    expect([await found('tee'), await found('kaffee 東')]).toEqual([[], ['Kaffee']])
  })
})

describe('GET /blogs/public/{slug}', () => {
  test('anyone reads a published blog, also under the API prefix, with a strong ETag and 304', async () => {
    await using app = await testApp()
    const { post } = await shopIn(app)
    const { body: created } = await post('/blogs', { ...post1, slug: 'чай-茶' })
    for (const prefix of ['', '/api/v3']) {
      const path = `${prefix}/blogs/public/${encodeURIComponent('чай-茶')}`
      const response = await app.call('GET', path, { key: 'nonsense', token: 'a.b.c' })
      expect(response).toMatchObject({ status: 200, body: created })
      expect(response.text).not.toContain('"words"')
      const etag = response.headers.get('etag') ?? ''
      expect([etag, response.headers.get('cache-control'), response.headers.get('access-control-allow-origin')]).toEqual([
        expect.stringMatching(/^"[^"]+"$/),
        'public, max-age=0, s-maxage=60',
        '*',
      ])
      for (const ifNoneMatch of [etag, `"x", W/${etag}`, '*'])
        expect(await app.call('GET', path, { headers: { 'if-none-match': ifNoneMatch } })).toMatchObject({ status: 304, text: '' })
      expect((await app.call('GET', path, { headers: { 'if-none-match': '"x"' } })).status).toBe(200)
    }
  })

  test('drafts, scheduled blogs and unknown slugs get the same 404; a scheduled blog appears at its date', async () => {
    await using app = await testApp()
    const { post, secretKey } = await shopIn(app)
    await post('/blogs', { title: 'Draft', bodyHtml: '' })
    await post('/blogs', { title: 'Soon', bodyHtml: '', status: 'PUBLISHED', publishedAt: '2026-01-06T12:00:02Z' })
    for (const slug of ['draft', 'soon', 'none']) {
      expect(await app.call('GET', `/blogs/public/${slug}`, { key: secretKey })).toMatchObject({
        status: 404,
        body: { statusCode: 404, message: 'No such blog', error: 'Not Found', code: 'not_found' },
      })
    }
    app.clock.advance(2_000)
    expect((await app.call('GET', '/blogs/public/soon')).status).toBe(200)
  })

  test('an origin that the shop does not list gets the same 404 for a draft as for an unknown slug', async () => {
    await using app = await testApp()
    const { token, post } = await shopIn(app)
    await app.call('PATCH', '/shops/v2', { token, body: { storefrontOrigins: ['https://mine.example'] } })
    await post('/blogs', { title: 'Hidden', bodyHtml: '' })
    const headers = { origin: 'https://other.example' }
    const [draft, unknown] = await Promise.all(['hidden', 'nobody'].map((slug) => app.call('GET', `/blogs/public/${slug}`, { headers })))
    expect([draft?.status, draft?.text]).toEqual([404, unknown?.text])
  })

  test('a changed blog shows on the next read, and an unpublished one is 404', async () => {
    await using app = await testApp()
    const { post, patch } = await shopIn(app)
    const { body: created } = await post('/blogs', post1)
    const before = await app.call('GET', '/blogs/public/hello-world')
    await patch(`/blogs/${created.id}`, { title: 'Changed' })
    const after = await app.call('GET', '/blogs/public/hello-world')
    expect([after.body.title, after.headers.get('etag') === before.headers.get('etag')]).toEqual(['Changed', false])
    await patch(`/blogs/${created.id}`, { slug: 'moved' })
    expect((await app.call('GET', '/blogs/public/hello-world')).status).toBe(404)
    expect((await app.call('GET', '/blogs/public/moved')).status).toBe(200)
    await patch(`/blogs/${created.id}`, { status: 'DRAFT' })
    expect((await app.call('GET', '/blogs/public/moved')).status).toBe(404)
  })

  test('a shop with listed origins refuses reads of blogs from other origins, also with a publishable key', async () => {
    await using app = await testApp()
    const { shop, post, publishableKey } = await shopIn(app)
    await post('/blogs', post1)
    await app.deps.db.write((tx) => app.deps.shopStore.update(tx, shop.id, { origins: ['https://mine.example'] }))
    for (const [path, credential] of [
      ['/blogs/public/hello-world', {}],
      ['/blogs', { key: publishableKey }],
    ] as const) {
      expect((await app.call('GET', path, credential)).status).toBe(200)
      expect((await app.call('GET', path, { ...credential, headers: { origin: 'https://mine.example' } })).status).toBe(200)
      const refused = await app.call('GET', path, { ...credential, headers: { origin: 'https://theirs.example' } })
      expect([refused.status, refused.headers.get('access-control-allow-origin'), refused.text.includes('First words')]).toEqual([
        403,
        '*',
        false,
      ])
    }
  })
})
