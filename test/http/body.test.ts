import { describe, expect, test } from 'bun:test'
import { readBody } from '../../src/http/body.ts'

const streamedRequest = (start: (controller: ReadableStreamDefaultController<Uint8Array>) => void, cancel: () => void = () => undefined) =>
  new Request('http://localhost/', { method: 'POST', body: new ReadableStream<Uint8Array>({ start, cancel }) })
const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('reading a request body', () => {
  test('a body is assembled from its chunks, up to the limit and not a byte further', async () => {
    const pieces = streamedRequest((controller) => {
      for (const text of ['ab', '', 'cd']) controller.enqueue(new TextEncoder().encode(text))
      controller.close()
    })
    expect(Buffer.from(await readBody(pieces, 4)).toString()).toBe('abcd')
    expect(await readBody(new Request('http://localhost/', { method: 'POST' }), 4)).toHaveLength(0)
    expect(await failure(readBody(new Request('http://localhost/', { method: 'POST', body: 'abcde' }), 4))).toMatchObject({
      kind: 'TOO_LARGE',
    })
  })

  test('a stalled body times out and releases the connection', async () => {
    let isCancelled = false
    const stalled = streamedRequest(
      (controller) => controller.enqueue(new Uint8Array([0x7b])),
      () => {
        isCancelled = true
      },
    )
    expect(await failure(readBody(stalled, 100, { withinMs: 5 }))).toMatchObject({
      kind: 'TIMEOUT',
      message: 'The body took too long to arrive',
    })
    expect(isCancelled).toBe(true)
  })

  test('a slowly arriving body times out too, because the limit is for the whole body', async () => {
    let timer: ReturnType<typeof setInterval> | undefined
    const trickling = streamedRequest(
      (controller) => {
        timer = setInterval(() => controller.enqueue(new Uint8Array([0x20])), 1)
      },
      () => clearInterval(timer),
    )
    expect(await failure(readBody(trickling, 1_000_000, { withinMs: 30 }))).toMatchObject({ kind: 'TIMEOUT' })
  })

  test('a body that breaks off is a client error without the message of the socket', async () => {
    const broken = streamedRequest((controller) => controller.error(new Error('ECONNRESET by 10.0.0.1')))
    expect(await failure(readBody(broken, 100))).toMatchObject({ kind: 'INVALID', message: 'The body is incomplete' })
  })
})
