/**
 * Tests the routes of documents of lending applications: uploads, removals and downloads, their permissions, and their
 * effect on the application.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { lendingApplications, lendingDocuments, lendingEvents } from '../../../../db/schema/lending.ts'
import { auditLog } from '../../../../db/schema/people.ts'
import { startS3 } from '../../../clients/documents/s3-server.ts'
import { type TestApp, testApp } from '../../../support/app.ts'
import {
  borrower,
  csv,
  documentationOf,
  documentPath,
  insertDraft,
  jpeg,
  lendingOn,
  pdf,
  png,
  xlsx,
  xlsxType,
} from '../../../support/lending-documents.ts'
import { rawConnection, serveTestApp } from '../../../support/server.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const mb = 1024 * 1024
const type = 'application/pdf'
const filesOf = ({ database }: TestApp) => {
  const directory = join(database.dataDir, 'documents')
  return existsSync(directory) ? readdirSync(directory) : []
}
const rowsOf = ({ deps }: TestApp) => deps.db.read.select().from(lendingDocuments)
const setStatus = (app: TestApp, id: string, status: (typeof lendingApplications.$inferSelect)['status']) =>
  app.deps.db.write(async (tx) => void (await tx.update(lendingApplications).set({ status }).where(eq(lendingApplications.id, id))))

type Put = { type?: string; name?: string; headers?: Record<string, string> }
const put = (app: TestApp, token: string, id: string, key: string, raw: Uint8Array, { type: declared = type, name, headers }: Put = {}) =>
  app.call('PUT', documentPath(id, key), {
    token,
    raw,
    headers: { 'content-type': declared, ...(name ? { 'content-disposition': `attachment; filename="${name}"` } : {}), ...headers },
  })
async function download(app: TestApp, token: string, path: string) {
  const response = await app.edge.fetch(new Request(`http://localhost${path}`, { headers: { authorization: `Bearer ${token}` } }))
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

test('an uploaded document is listed by its key, only to its owner, in its current state', async () => {
  await using app = await testApp(lendingOn)
  const { merchant, operator, id } = await borrower(app)
  const list = (token: string, of = id) => app.call('GET', `/lending-application/${of}/documents`, { token })
  expect((await list(merchant.token)).body).toEqual({ data: [], page: 1, limit: 100, total: 0, pages: 0 })
  const lease = (await put(app, merchant.token, id, 'proof_of_address', png, { type: 'image/png', name: 'first.png' })).body
  const passport = (await put(app, merchant.token, id, 'owner_id', jpeg, { type: 'image/jpeg' })).body
  expect((await list(merchant.token)).body).toEqual({ data: [passport, lease], page: 1, limit: 100, total: 2, pages: 1 })
  const paged = await app.call('GET', `/lending-application/${id}/documents?limit=1&page=2`, { token: merchant.token })
  expect(paged.body).toEqual({ data: [lease], page: 2, limit: 1, total: 2, pages: 2 })
  const csv = await app.call('GET', `/lending-application/${id}/documents?limit=1`, {
    token: merchant.token,
    headers: { accept: 'text/csv' },
  })
  expect(csv.text.split('\r\n').map((line) => line.split(',')[2])).toEqual(['key', 'owner_id', 'proof_of_address', undefined])
  const another = (await put(app, merchant.token, id, 'proof_of_address', pdf(), { name: 'second.pdf' })).body
  expect((await list(merchant.token)).body.data.map(({ originalName }: { originalName: string | null }) => originalName)).toEqual([
    null,
    'second.pdf',
  ])
  expect((await list(merchant.token)).body.data[1]).toEqual(another)
  await app.call('DELETE', documentPath(id, 'owner_id'), { token: merchant.token })
  expect((await list(merchant.token)).body.data).toEqual([another])
  expect((await list((await borrower(app)).merchant.token)).status).toBe(404)
  expect((await list(merchant.token, 'loan_none')).status).toBe(404)
  expect((await list(operator.token)).status).toBe(403)
})

const stores = {
  'the data directory': async () => ({ settings: {}, [Symbol.asyncDispose]: async () => undefined }),
  'an S3-compatible store': async () => startS3(),
}
for (const [storeName, open] of Object.entries(stores)) {
  test(`an uploaded document is marked and returned unchanged as an attachment, only to its owner and operators; stored in ${storeName}`, async () => {
    await using store = await open()
    await using app = await testApp({ ...lendingOn, ...store.settings })
    const { merchant, operator, id } = await borrower(app)
    const files: [key: string, type: string, bytes: Buffer, name: string | undefined, shownName: string][] = [
      ['owner_id', 'image/jpeg', jpeg, 'passport.jpg', 'passport.jpg'],
      ['proof_of_address', 'image/png', png, undefined, 'proof_of_address.png'],
      ['ein_letter', type, pdf(6 * mb), '../letter.pdf', 'letter.pdf'],
      ['bank_statements_12m', xlsxType, xlsx, 'statements', 'statements.xlsx'],
      ['debt_schedule', 'text/csv', csv, 'debts.csv', 'debts.csv'],
    ]
    for (const [key, declared, bytes, name, shownName] of files) {
      const uploaded = await put(app, merchant.token, id, key, bytes, { type: declared, ...(name ? { name } : {}) })
      expect([key, uploaded.status]).toEqual([key, 200])
      expect(uploaded.body).toMatchObject({
        applicationId: id,
        key,
        mimeType: declared,
        size: bytes.length,
        originalName: name ? shownName.replace('statements.xlsx', 'statements') : null,
      })
      expect(Object.keys(uploaded.body)).toEqual(['id', 'applicationId', 'key', 'mimeType', 'size', 'originalName', 'uploadedAt'])
      for (const [token, path] of [
        [merchant.token, documentPath(id, key)],
        [merchant.token, `/api/v3${documentPath(id, key)}`],
        [operator.token, `/admin${documentPath(id, key)}`],
      ] as const) {
        const { status, headers, bytes: received } = await download(app, token, path)
        expect([key, status, received.equals(bytes)]).toEqual([key, 200, true])
        expect(headers.get('content-type')).toBe(declared)
        expect(headers.get('content-disposition')).toStartWith(`attachment; filename="${shownName}"`)
        expect(headers.get('content-length')).toBe(String(bytes.length))
        expect(headers.get('cache-control')).toBe('no-store')
        expect(headers.get('x-content-type-options')).toBe('nosniff')
      }
    }
    expect(await documentationOf(app, id)).toEqual({ items: files.map(([key]) => ({ key, status: 'UPLOADED' })) })
    expect((await rowsOf(app)).length).toBe(5)
    const other = await app.merchant()
    for (const [method, token, path, status] of [
      ['GET', other.token, documentPath(id, 'owner_id'), 404],
      ['GET', operator.token, documentPath(id, 'owner_id'), 403],
      ['GET', merchant.token, `/admin${documentPath(id, 'owner_id')}`, 403],
      ['GET', undefined, documentPath(id, 'owner_id'), 401],
      ['GET', merchant.token, documentPath(id, 'lease_agreement'), 404],
      ['GET', merchant.token, documentPath(id, 'nonsense'), 404],
      ['GET', operator.token, `/admin${documentPath('loan_x', 'owner_id')}`, 404],
    ] as const)
      expect([path, (await app.call(method, path, token ? { token } : {})).status]).toEqual([path, status])
  })
}

test('the disk contains only sealed bytes under a random name, and the row its sealed key', async () => {
  await using app = await testApp(lendingOn)
  const { merchant, id } = await borrower(app)
  await put(app, merchant.token, id, 'ein_letter', pdf(200_000), { name: 'planted.pdf' })
  const [row] = await rowsOf(app)
  expect(filesOf(app)).toEqual([row?.storageName ?? ''])
  expect(row?.storageName).toMatch(/^[0-9a-f]{40}$/)
  const bytes = readFileSync(join(app.database.dataDir, 'documents', row?.storageName ?? ''))
  for (const text of ['%PDF', 'text text', 'planted', merchant.id, id, 'ein_letter'])
    expect([text, bytes.includes(text)]).toEqual([text, false])
  expect(row?.sealedKey).toStartWith(app.deps.keyring.encryption()[0]?.version ?? '?')
  expect(row?.hash).toMatch(/^[0-9a-f]{64}$/)
  const trail = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'lending_document.uploaded'))
  expect(trail.map(({ actor, subject, before, after }) => ({ actor, subject, before, after }))).toEqual([
    {
      actor: merchant.id,
      subject: id,
      before: null,
      after: { key: 'ein_letter', store: 'FILES', mimeType: type, size: 200_000, originalName: '[redacted]' },
    },
  ])
})

test('a new file replaces the earlier one in the row, on disk and in the list', async () => {
  await using app = await testApp(lendingOn)
  const { merchant, id } = await borrower(app)
  const first = await put(app, merchant.token, id, 'owner_id', png, { type: 'image/png' })
  const second = await put(app, merchant.token, id, 'owner_id', jpeg, { type: 'image/jpeg' })
  expect(second.body.id).not.toBe(first.body.id)
  const rows = await rowsOf(app)
  expect(rows.map((row) => row.id)).toEqual([second.body.id])
  expect(filesOf(app)).toEqual(rows.map(({ storageName }) => storageName))
  expect((await download(app, merchant.token, documentPath(id, 'owner_id'))).bytes.equals(jpeg)).toBe(true)
  expect(await documentationOf(app, id)).toEqual({ items: [{ key: 'owner_id', status: 'UPLOADED' }] })
})

test('other documents stay unchanged, and an acknowledged document is marked by its file', async () => {
  await using app = await testApp(lendingOn)
  const { merchant } = await borrower(app)
  const documentationCompleted = {
    by: 'me',
    items: [
      { key: 'owner_id', status: 'LATER', why: 'at the bank' },
      { key: 'ein_letter', status: 'UPLOADED' },
    ],
  }
  const id = await insertDraft(app, merchant, { documentationCompleted })
  await put(app, merchant.token, id, 'owner_id', png, { type: 'image/png' })
  expect(await documentationOf(app, id)).toEqual({
    by: 'me',
    items: [
      { key: 'owner_id', status: 'UPLOADED', why: 'at the bank' },
      { key: 'ein_letter', status: 'UPLOADED' },
    ],
  })
})

test('a draft loses row, file and mark of a removed document together, with an audit row', async () => {
  await using app = await testApp(lendingOn)
  const { merchant, id } = await borrower(app)
  await put(app, merchant.token, id, 'owner_id', png, { type: 'image/png' })
  expect((await app.call('DELETE', documentPath(id, 'owner_id'), { token: merchant.token })).status).toBe(204)
  expect(await rowsOf(app)).toEqual([])
  expect(filesOf(app)).toEqual([])
  expect(await documentationOf(app, id)).toEqual({ items: [{ key: 'owner_id', status: 'REMOVED' }] })
  expect((await app.call('DELETE', documentPath(id, 'owner_id'), { token: merchant.token })).status).toBe(404)
  expect((await app.call('GET', documentPath(id, 'owner_id'), { token: merchant.token })).status).toBe(404)
  const events = await app.deps.db.read
    .select()
    .from(lendingEvents)
    .where(eq(lendingEvents.applicationId, id))
    .orderBy(lendingEvents.position)
  expect(
    events.map(({ position, type: label, actor, subject, fromStatus, toStatus }) => [
      position,
      label,
      actor,
      subject,
      fromStatus,
      toStatus,
    ]),
  ).toEqual([
    [2, 'DOCUMENT_UPLOADED', merchant.id, 'owner_id', 'DRAFT', 'DRAFT'],
    [3, 'DOCUMENT_REMOVED', merchant.id, 'owner_id', 'DRAFT', 'DRAFT'],
  ])
})

test('after submission documents may be added until a decision, but not replaced or removed', async () => {
  await using app = await testApp(lendingOn)
  const { merchant, id } = await borrower(app)
  await put(app, merchant.token, id, 'owner_id', png, { type: 'image/png' })
  for (const [nth, status] of (['SUBMITTED', 'UNDER_REVIEW', 'APPROVED', 'REJECTED', 'WITHDRAWN'] as const).entries()) {
    await setStatus(app, id, status)
    const key = ['lease_agreement', 'business_plan'][nth] ?? 'special_licence'
    expect([status, (await put(app, merchant.token, id, key, png, { type: 'image/png' })).status]).toEqual([status, nth < 2 ? 200 : 409])
    expect([status, (await put(app, merchant.token, id, 'owner_id', jpeg, { type: 'image/jpeg' })).status]).toEqual([status, 409])
    expect([status, (await app.call('DELETE', documentPath(id, 'owner_id'), { token: merchant.token })).status]).toEqual([status, 409])
    expect([status, (await download(app, merchant.token, documentPath(id, 'owner_id'))).bytes.equals(png)]).toEqual([status, true])
  }
  expect(filesOf(app).length).toBe(3)
})

test('an upload is refused by sender, application, key, type, size and state, and stores nothing', async () => {
  await using app = await testApp(lendingOn)
  const { merchant, operator, id } = await borrower(app)
  const unknown = await app.merchant()
  const otherApplication = await insertDraft(app, unknown)
  const ofSize = (bytes: number, create = pdf) => create(bytes)
  const cases: [label: string, status: number, token: string | undefined, id: string, key: string, bytes: Uint8Array, type: string][] = [
    ['no token', 401, undefined, id, 'owner_id', png, 'image/png'],
    ['an operator', 403, operator.token, id, 'owner_id', png, 'image/png'],
    ['without KYB', 403, unknown.token, otherApplication, 'owner_id', png, 'image/png'],
    ['an application of another merchant', 404, merchant.token, otherApplication, 'owner_id', png, 'image/png'],
    ['an unknown application', 404, merchant.token, 'loan_00000000000000000000000000', 'owner_id', png, 'image/png'],
    ['a key of another cohort', 404, merchant.token, id, 'trade_licence', png, 'image/png'],
    ['an unknown key', 404, merchant.token, id, '__proto__', png, 'image/png'],
    ['a key of a partner that was not chosen', 404, merchant.token, id, 'title_search', png, 'image/png'],
    ['no type', 415, merchant.token, id, 'owner_id', png, ''],
    ['a type of no accepted document', 415, merchant.token, id, 'owner_id', png, 'application/zip'],
    ['a type of another class', 415, merchant.token, id, 'owner_id', csv, 'text/csv'],
    ['an image as a statement', 415, merchant.token, id, 'bank_statements_12m', png, 'image/png'],
    ['an unknown type', 415, merchant.token, id, 'owner_id', png, 'application/octet-stream'],
    ['content of another type', 415, merchant.token, id, 'owner_id', png, 'application/pdf'],
    ['an empty body', 400, merchant.token, id, 'owner_id', new Uint8Array(), 'image/png'],
    ['a too large identity document', 413, merchant.token, id, 'owner_id', ofSize(5 * mb + 1), type],
    ['a too large legal document', 413, merchant.token, id, 'ein_letter', ofSize(10 * mb + 1), type],
    ['a too large statement', 413, merchant.token, id, 'bank_statements_12m', ofSize(25 * mb + 1), type],
  ]
  for (const [label, status, token, application, key, bytes, declared] of cases) {
    const answer = await app.call('PUT', documentPath(application, key), {
      ...(token ? { token } : {}),
      raw: bytes,
      headers: declared === '' ? {} : { 'content-type': declared },
    })
    expect([label, answer.status]).toEqual([label, status])
    expect(Object.keys(answer.body).slice(0, 4)).toEqual(['statusCode', 'message', 'error', 'code'])
    if (label === 'an unknown type') expect(answer.body.message).toBe('Send the file as application/pdf or image/jpeg or image/png')
  }
  for (const [header, value, status] of [
    ['content-range', `bytes 0-44/${png.length}`, 400],
    ['content-encoding', 'gzip', 415],
  ] as const) {
    const answer = await put(app, merchant.token, id, 'owner_id', png, { type: 'image/png', headers: { [header]: value } })
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(`without ${header}`)])
  }
  expect(await rowsOf(app)).toEqual([])
  expect(filesOf(app)).toEqual([])
  expect(await documentationOf(app, id)).toBeNull()
  expect((await put(app, merchant.token, id, 'owner_id', ofSize(5 * mb))).status).toBe(200)
  expect((await put(app, merchant.token, id, 'ein_letter', ofSize(10 * mb))).status).toBe(200)
  expect((await put(app, merchant.token, id, 'bank_statements_12m', ofSize(25 * mb))).status).toBe(200)
})

test('the refusal of a large file names the limit with or without a declared length, and no byte is stored', async () => {
  await using app = await testApp(lendingOn)
  await using server = serveTestApp(app)
  const { merchant, id } = await borrower(app)
  const head = (key: string, more: string) =>
    `PUT ${documentPath(id, key)} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${merchant.token}\r\ncontent-type: ${type}\r\n${more}\r\n\r\n`
  for (const [key, length, limit] of [
    ['owner_id', 5 * mb + 1, 5],
    ['ein_letter', 20 * mb, 10],
    ['bank_statements_12m', 25 * mb + 1, 25],
  ] as const) {
    const connection = await rawConnection(server.port)
    connection.send(head(key, `content-length: ${length}`))
    const answer = await connection.answer()
    expect([key, answer.status, JSON.parse(answer.body).message]).toEqual([key, 413, `The body is larger than ${limit} MB`])
    expect(answer.headers.get('connection')).toBe('close')
    connection.close()
  }
  const connection = await rawConnection(server.port)
  connection.send(head('owner_id', 'transfer-encoding: chunked'))
  const piece = Buffer.concat([Buffer.from('100000\r\n'), pdf(mb), Buffer.from('\r\n')])
  for (let nth = 0; nth < 6; nth++) connection.send(piece)
  const answer = await connection.answer()
  expect([answer.status, JSON.parse(answer.body).message]).toEqual([413, 'The body is larger than 5 MB'])
  connection.close()
  expect(filesOf(app)).toEqual([])
  expect(await rowsOf(app)).toEqual([])
})

test('over a real connection the largest document is returned exactly during other transfers', async () => {
  await using app = await testApp(lendingOn)
  await using server = serveTestApp(app)
  const { merchant, id } = await borrower(app)
  const authorization = `Bearer ${merchant.token}`
  const files = ['bank_statements_12m', 'tax_returns_3y', 'debt_schedule'].map((key) => ({
    key,
    bytes: Buffer.concat([pdf(9), randomBytes(25 * mb - 9)]),
  }))
  const sent = files.map(({ key, bytes }) =>
    fetch(`${server.url}${documentPath(id, key)}`, {
      method: 'PUT',
      headers: { authorization, 'content-type': type },
      body: new Uint8Array(bytes),
    }),
  )
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200, 200])
  const received = files.map(async ({ key, bytes }) => {
    const answer = await fetch(`${server.url}${documentPath(id, key)}`, { headers: { authorization } })
    return [answer.status, Buffer.from(await answer.arrayBuffer()).equals(bytes)]
  })
  expect(await Promise.all(received)).toEqual(files.map(() => [200, true]))
})

test('a client that disconnects half-way leaves nothing, and the application is unchanged', async () => {
  await using app = await testApp(lendingOn)
  await using server = serveTestApp(app)
  const { merchant, id } = await borrower(app)
  await put(app, merchant.token, id, 'ein_letter', pdf(100), { name: 'before.pdf' })
  const before = await rowsOf(app)
  const connection = await rawConnection(server.port)
  connection.send(
    `PUT ${documentPath(id, 'ein_letter')} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${merchant.token}\r\ncontent-type: ${type}\r\ncontent-length: ${mb}\r\n\r\n`,
  )
  connection.send(pdf(mb / 2))
  while (filesOf(app).length < 2) await new Promise((resume) => setImmediate(resume))
  connection.close()
  while (filesOf(app).length > 1) await new Promise((resume) => setImmediate(resume))
  expect(await rowsOf(app)).toEqual(before)
  expect((await download(app, merchant.token, documentPath(id, 'ein_letter'))).bytes.length).toBe(100)
})

test('a download ends its read of the file when the client disconnects', async () => {
  await using app = await testApp(lendingOn)
  await using server = serveTestApp(app)
  const { merchant, id } = await borrower(app)
  await put(app, merchant.token, id, 'bank_statements_12m', pdf(25 * mb))
  const openFiles = () =>
    readdirSync('/proc/self/fd')
      .flatMap((fd) => linkOf(fd))
      .filter((path) => path.includes(app.database.dataDir) && path.includes('/documents/')).length
  const connection = await rawConnection(server.port)
  connection.send(
    `GET ${documentPath(id, 'bank_statements_12m')} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${merchant.token}\r\n\r\n`,
  )
  while (openFiles() === 0) await new Promise((resume) => setImmediate(resume))
  connection.close()
  while (openFiles() > 0) await new Promise((resume) => setImmediate(resume))
  for (let nth = 0; nth < 5; nth++)
    await fetch(`${server.url}${documentPath(id, 'bank_statements_12m')}`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${merchant.token}` },
    })
  // This wait does not end if a file stays open.
  while (openFiles() > 0) await new Promise((resume) => setImmediate(resume))
  expect(openFiles()).toBe(0)
})

test('an operator’s read is audited before the document is sent; a refused one is not', async () => {
  await using app = await testApp(lendingOn)
  const { merchant, operator, id } = await borrower(app)
  await put(app, merchant.token, id, 'owner_id', png, { type: 'image/png' })
  await download(app, operator.token, `/admin${documentPath(id, 'owner_id')}`)
  await download(app, operator.token, `/admin${documentPath(id, 'ein_letter')}`)
  await download(app, merchant.token, documentPath(id, 'owner_id'))
  const read = await app.deps.db.read.select().from(auditLog).where(eq(auditLog.action, 'lending_document.read'))
  expect(read.map(({ actor, subject, after }) => [actor, subject, after])).toEqual([[operator.id, id, { key: 'owner_id' }]])
})

test('If-Match is the version of the application: an outdated one neither adds nor removes a document', async () => {
  await using app = await testApp(lendingOn)
  const { merchant, id } = await borrower(app)
  const first = await put(app, merchant.token, id, 'owner_id', png, { type: 'image/png', headers: { 'if-match': '"v1"' } })
  expect([first.status, first.headers.get('etag')]).toEqual([200, '"v2"'])
  expect((await put(app, merchant.token, id, 'owner_id', jpeg, { type: 'image/jpeg', headers: { 'if-match': '"v1"' } })).status).toBe(412)
  expect((await app.call('DELETE', documentPath(id, 'owner_id'), { token: merchant.token, headers: { 'if-match': '"v1"' } })).status).toBe(
    412,
  )
  expect((await download(app, merchant.token, documentPath(id, 'owner_id'))).bytes.equals(png)).toBe(true)
  expect((await app.call('DELETE', documentPath(id, 'owner_id'), { token: merchant.token, headers: { 'if-match': '"v2"' } })).status).toBe(
    204,
  )
})

test('with lending disabled the path is 404 for every caller', async () => {
  await using app = await testApp()
  const { merchant, operator, id } = await borrower(app)
  for (const prefix of ['', '/api/v3', '/admin', '/api/v3/admin'])
    for (const method of ['PUT', 'GET', 'DELETE'])
      for (const token of [merchant.token, operator.token, undefined])
        expect((await app.call(method, `${prefix}${documentPath(id, 'owner_id')}`, token ? { token } : {})).status).toBe(404)
})

describe('concurrent uploads', () => {
  test('concurrent uploads for one key leave one row, one file and one mark, and those for different keys all arrive', async () => {
    await using app = await testApp(lendingOn)
    const { merchant, id } = await borrower(app)
    const same = await Promise.all(
      Array.from({ length: 4 }, () =>
        put(app, merchant.token, id, 'owner_id', Buffer.concat([png, randomBytes(9)]), { type: 'image/png' }),
      ),
    )
    expect(same.map(({ status }) => status).filter((status) => status !== 200 && status !== 412)).toEqual([])
    const different = await Promise.all(
      ['ein_letter', 'lease_agreement', 'business_plan', 'special_licence'].map((key) => put(app, merchant.token, id, key, pdf())),
    )
    expect(different.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const rows = await rowsOf(app)
    expect(rows.map(({ key }) => key).sort()).toEqual(['business_plan', 'ein_letter', 'lease_agreement', 'owner_id', 'special_licence'])
    expect(filesOf(app).sort()).toEqual(rows.map(({ storageName }) => storageName).sort())
    expect((await documentationOf(app, id))?.items?.length).toBe(5)
  })

  test('concurrent uploads are limited per merchant: the next one must wait, and another merchant need not', async () => {
    await using app = await testApp(lendingOn)
    const { merchant, id } = await borrower(app)
    const releases = Array.from({ length: 4 }, () => app.deps.documentUploadSlots.take(merchant.id))
    const refused = await put(app, merchant.token, id, 'owner_id', png, { type: 'image/png' })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
    app.deps.documentUploadSlots.take('another')()
    for (const one of releases) one()
    expect((await put(app, merchant.token, id, 'owner_id', png, { type: 'image/png' })).status).toBe(200)
  })
})

describe('a file changed outside of souk', () => {
  const damages: [label: string, (file: string) => void, status?: number, event?: string][] = [
    // The document may be in another store, so it is not reported as lost.
    ['missing', (file) => renameSync(file, `${file}.gone`), 503, 'documents.missing'],
    ['truncated', (file) => writeFileSync(file, readFileSync(file).subarray(0, -1))],
    [
      'changed',
      (file) => {
        const bytes = readFileSync(file)
        bytes[20] = (bytes[20] ?? 0) ^ 1
        writeFileSync(file, bytes)
      },
    ],
    ['extended', (file) => writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.from('x')]))],
  ]
  for (const [label, damage, status = 500, logged = 'documents.damaged'] of damages)
    test(`a stored file that is ${label} is logged as an error of souk and not sent`, async () => {
      await using app = await testApp(lendingOn)
      const { merchant, id } = await borrower(app)
      await put(app, merchant.token, id, 'ein_letter', pdf(1_000))
      damage(join(app.database.dataDir, 'documents', filesOf(app)[0] ?? ''))
      const answer = await app.call('GET', documentPath(id, 'ein_letter'), { token: merchant.token })
      expect([answer.status, answer.text.includes('PDF')]).toEqual([status, false])
      expect(app.logged.filter(({ event }) => event === logged).length).toBe(1)
    })

  test('a stored file that was replaced by another document does not open, although souk sealed it', async () => {
    await using app = await testApp(lendingOn)
    const { merchant, id } = await borrower(app)
    await put(app, merchant.token, id, 'ein_letter', pdf(1_000))
    await put(app, merchant.token, id, 'lease_agreement', pdf(1_000))
    const [one, other] = await rowsOf(app)
    const path = (row = one) => join(app.database.dataDir, 'documents', row?.storageName ?? '')
    writeFileSync(path(one), readFileSync(path(other)))
    expect((await app.call('GET', documentPath(id, one?.key ?? ''), { token: merchant.token })).status).toBe(500)
    await app.deps.db.write(async (tx) => {
      await tx
        .update(lendingDocuments)
        .set({ storageName: 'x'.repeat(40) })
        .where(eq(lendingDocuments.id, one?.id ?? ''))
      await tx
        .update(lendingDocuments)
        .set({ storageName: one?.storageName ?? '', sealedKey: one?.sealedKey ?? '' })
        .where(eq(lendingDocuments.id, other?.id ?? ''))
    })
    expect((await app.call('GET', documentPath(id, other?.key ?? ''), { token: merchant.token })).status).toBe(500)
  })

  test('a stored file whose damage is found during the response aborts it and is logged', async () => {
    await using app = await testApp(lendingOn)
    const { merchant, id } = await borrower(app)
    await put(app, merchant.token, id, 'ein_letter', pdf(300_000))
    const file = join(app.database.dataDir, 'documents', filesOf(app)[0] ?? '')
    const bytes = readFileSync(file)
    bytes[200_000] = (bytes[200_000] ?? 0) ^ 1
    writeFileSync(file, bytes)
    const headers = { authorization: `Bearer ${merchant.token}` }
    const answer = await app.edge.fetch(new Request(`http://localhost${documentPath(id, 'ein_letter')}`, { headers }))
    expect(answer.status).toBe(200)
    await expect(answer.arrayBuffer()).rejects.toThrow()
    expect(app.logged.filter(({ event }) => event === 'documents.damaged').length).toBe(1)
  })

  test('a document that is replaced or removed during the response is sent to its end', async () => {
    for (const method of ['PUT', 'DELETE']) {
      await using app = await testApp(lendingOn)
      const { merchant, id } = await borrower(app)
      const bytes = Buffer.concat([pdf(9), randomBytes(300_000)])
      await put(app, merchant.token, id, 'ein_letter', bytes)
      const headers = { authorization: `Bearer ${merchant.token}` }
      const answer = await app.edge.fetch(new Request(`http://localhost${documentPath(id, 'ein_letter')}`, { headers }))
      if (method === 'PUT') await put(app, merchant.token, id, 'ein_letter', pdf(10))
      else await app.call(method, documentPath(id, 'ein_letter'), { token: merchant.token })
      expect([method, answer.status, Buffer.from(await answer.arrayBuffer()).equals(bytes)]).toEqual([method, 200, true])
    }
  })

  test('a document that is replaced during a request is sent in its new version', async () => {
    await using app = await testApp(lendingOn)
    const { merchant, id } = await borrower(app)
    await put(app, merchant.token, id, 'owner_id', png, { type: 'image/png' })
    const store = app.deps.documentStores.current
    const get = store.get
    let replaced = false
    Object.assign(store, {
      async get(name: string) {
        if (!replaced) {
          replaced = true
          await put(app, merchant.token, id, 'owner_id', jpeg, { type: 'image/jpeg' })
        }
        return get.call(store, name)
      },
    })
    expect((await download(app, merchant.token, documentPath(id, 'owner_id'))).bytes.equals(jpeg)).toBe(true)
  })
})
const linkOf = (fd: string): string[] => {
  try {
    return [require('node:fs').readlinkSync(`/proc/self/fd/${fd}`)]
  } catch {
    return []
  }
}
