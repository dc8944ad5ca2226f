/** Tests bodies that are files. The product import is tested in modules/catalog/import-export. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Elysia } from 'elysia'
import { createBodyBudget } from '../../src/core/limits/body-budget.ts'
import { access } from '../../src/http/access.ts'
import { unreadBodies } from '../../src/http/body.ts'
import { errors } from '../../src/http/errors.ts'
import { createRouteTable } from '../../src/http/route-table.ts'
import { readUpload, type Upload, type UploadOptions, uploads } from '../../src/http/upload.ts'
import { type TestApp, testApp } from '../support/app.ts'
import { rawConnection } from '../support/server.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const rule = { types: ['application/pdf', 'image/png'], bytesMax: 10 }

/** Creates an app with one route that takes files. It counts the bodies that it reads. */
function createUploadApp(app: TestApp, uploading = app.deps.uploading) {
  const deps = { ...app.deps, uploading, routeTable: createRouteTable() }
  let bodiesRead = 0
  const http = new Elysia()
    .use(errors(deps))
    .use(unreadBodies())
    .use(access(deps))
    .use(uploads(deps))
    .put(
      '/documents/:key',
      async ({ upload }) => {
        bodiesRead++
        let size = 0
        for await (const chunk of upload.chunks()) size += chunk.length
        return { type: upload.type, size }
      },
      { access: 'merchant', upload: rule },
    )
  deps.routeTable.fill(http.routes)
  const put = async (body: BodyInit, type: string, token?: string) => {
    const headers = { 'content-type': type, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
    const answer = await http.handle(new Request('http://localhost/documents/a', { method: 'PUT', headers, body }))
    return [answer.status, await answer.json()] as const
  }
  return { http, put, bodiesRead: () => bodiesRead, routeTable: deps.routeTable }
}

describe('a route that takes files', () => {
  test('an upload route accepts its media types and streams the body', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const { put } = createUploadApp(app)
    expect(await put('12345', 'application/pdf', token)).toEqual([200, { type: 'application/pdf', size: 5 }])
    expect(await put('1234567890', 'Image/PNG; x=y', token)).toEqual([200, { type: 'image/png', size: 10 }])
    expect((await put('12345678901', 'image/png', token))[0]).toBe(413)
  })

  test('an upload route checks the credential, then the media type, and reads nothing of a refused body', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const { put, bodiesRead } = createUploadApp(app)
    for (const type of ['application/pdf', 'application/json', 'text/csv', 'text/plain'])
      expect([type, (await put('{', type))[0]]).toEqual([type, 401])
    for (const type of ['application/json', 'text/csv', 'application/pdfx']) {
      const [status, { message }] = await put('{', type, token)
      expect([type, status, message]).toEqual([type, 415, 'Send the file as application/pdf or image/png'])
    }
    expect(bodiesRead()).toBe(0)
  })

  test('the route table marks upload routes, also by request path', async () => {
    await using app = await testApp()
    const { routeTable } = createUploadApp(app)
    expect(routeTable.match('PUT', '/documents/some')?.upload).toEqual(rule)
    expect(app.routeTable.match('POST', '/product-v2/import')?.upload).toEqual({ types: ['text/csv'], bytesMax: 20 * 1024 * 1024 })
    expect(app.routeTable.match('POST', '/product-v2')?.upload).toBeUndefined()
  })
})

describe('reading an upload', () => {
  const isReadingCalls: boolean[] = []
  const uploading: UploadOptions = {
    budget: createBodyBudget(100),
    senderOf: () => 'sender',
    arrivalLimit: { withinMs: 100, everyBytes: 4 },
    reads: (_, isReading) => void isReadingCalls.push(isReading),
  }
  const request = (body: ReadableStream<Uint8Array> | string) =>
    new Request('http://localhost/', { method: 'PUT', headers: { 'content-type': 'image/png' }, body })

  test('a chunked upload above the limit ends at the excess chunk and cancels the rest', async () => {
    let isCancelled = false
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(4)),
      cancel: () => {
        isCancelled = true
      },
    })
    const sizes: number[] = []
    const readAll = (async () => {
      for await (const chunk of readUpload(request(endless), rule, uploading).chunks()) sizes.push(chunk.length)
    })()
    expect(
      await readAll.then(
        () => undefined,
        (error: unknown) => error,
      ),
    ).toMatchObject({ kind: 'TOO_LARGE' })
    expect([sizes, isCancelled]).toEqual([[4, 4], true])
  })

  test('an upload is cancelled when its reader stops', async () => {
    let isCancelled = false
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(1)),
      cancel: () => {
        isCancelled = true
      },
    })
    for await (const _ of readUpload(request(endless), rule, uploading).chunks()) break
    expect(isCancelled).toBe(true)
  })

  test('an upload can be read whole', async () => {
    expect(Buffer.from(await readUpload(request('abc'), rule, uploading).bytes()).toString()).toBe('abc')
  })

  test('the server is told while an upload is read, so that a slow one does not count as idle', async () => {
    for (const read of [
      (upload: Upload) => upload.bytes(),
      async (upload: Upload) => {
        for await (const _ of upload.chunks()) expect(isReadingCalls).toEqual([true])
      },
    ]) {
      isReadingCalls.length = 0
      await read(readUpload(request('abc'), rule, uploading))
      expect(isReadingCalls).toEqual([true, false])
    }
  })

  test('a stalled upload gets 408 and its connection is closed', async () => {
    await using app = await testApp()
    const { token } = await app.merchant()
    const { http } = createUploadApp(app, { ...app.deps.uploading, arrivalLimit: { withinMs: 100, everyBytes: 1 } })
    await using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (received) => http.handle(received) })
    const head = `PUT /documents/a HTTP/1.1\r\nHost: localhost\r\nauthorization: Bearer ${token}\r\ncontent-type: image/png\r\ncontent-length: 9\r\n\r\n`
    const stalled = await rawConnection(server.port ?? 0)
    stalled.send(`${head}abc`)
    const answer = await stalled.answer()
    expect([answer.status, JSON.parse(answer.body).message]).toEqual([408, 'The body took too long to arrive'])
    expect(await stalled.closed()).toBe(true)
  })

  test('the time limit of an upload counts only waiting for the client, not the work of its reader', async () => {
    const bodyOfTwoBytes = (rest: 'comes' | 'stalls') => {
      let nth = 0
      // Like a socket, delivers bytes a little after they are requested.
      const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
        await new Promise((resume) => setImmediate(resume))
        if (++nth <= 2) controller.enqueue(new Uint8Array([nth]))
        else if (rest === 'comes') controller.close()
        else await new Promise(() => undefined)
      }
      return new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 })
    }
    const arrivalLimit = { withinMs: 200, everyBytes: 100 }
    for (const [rest, outcome] of [
      ['comes', 'whole'],
      ['stalls', 'TIMEOUT'],
    ] as const) {
      const read: number[] = []
      const readAll = (async () => {
        for await (const [byte = 0] of readUpload(request(bodyOfTwoBytes(rest)), rule, { ...uploading, arrivalLimit }).chunks()) {
          read.push(byte)
          // Takes longer than the limit of the client.
          await Bun.sleep(3 * arrivalLimit.withinMs)
        }
        return 'whole'
      })()
      expect([await readAll.catch(({ kind }: { kind: string }) => kind), read]).toEqual([outcome, [1, 2]])
    }
  })

  test('an upload at the minimum rate is read however long it takes, and a slower one is not', async () => {
    const arriving = (bytes: number) => {
      let timer: ReturnType<typeof setInterval> | undefined
      let left = 10
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          timer = setInterval(() => {
            controller.enqueue(new Uint8Array(bytes))
            if (--left > 0) return
            clearInterval(timer)
            controller.close()
          }, 40)
        },
        cancel: () => clearInterval(timer),
      })
      return readUpload(request(body), { ...rule, bytesMax: 100 }, { ...uploading, arrivalLimit: { withinMs: 300, everyBytes: 8 } }).bytes()
    }
    expect((await arriving(8)).length).toBe(80)
    expect(
      await arriving(1).then(
        () => 'whole',
        ({ kind }: { kind: string }) => kind,
      ),
    ).toBe('TIMEOUT')
  })
})

test('content-length is checked against the file limit on upload routes and the JSON limit elsewhere', async () => {
  await using app = await testApp()
  const { token } = await app.merchant()
  const declaring = (path: string, length: number, type: string) =>
    app.call('POST', path, { token, raw: 'Handle,Title\na,b\n', headers: { 'content-type': type, 'content-length': String(length) } })
  const message = async (path: string, length: number, type = 'text/csv') => {
    const { status, body } = await declaring(path, length, type)
    return [status, status === 413 ? body.message : undefined]
  }
  expect(await message('/product-v2/import?dryRun=true', 20 * 1024 * 1024)).toEqual([200, undefined])
  expect(await message('/product-v2/import', 20 * 1024 * 1024 + 1)).toEqual([413, 'The body is larger than 20 MB'])
  expect(await message('/product-v2', 1024 * 1024 + 1)).toEqual([413, 'The body is larger than 1 MB'])
  expect(await message('/product-v2', 1024 * 1024 + 1, 'application/json')).toEqual([413, 'The body is larger than 1 MB'])
  expect(await message('/nowhere', 64 * 1024 + 1)).toEqual([413, 'The body is larger than 64 KB'])
  expect(await message('/shops/v2', 64 * 1024 + 1)).toEqual([413, 'The body is larger than 64 KB'])
})
