/** Keys of what is to happen once. */
import { describe, expect, test } from 'bun:test'
import { ApiError, noResponseError } from '../../src/console/lib/api/api-error.ts'
import { createIdempotentSend, type IdempotencyHeader, type PendingSend } from '../../src/console/lib/api/idempotent-send.ts'

/** Sends by a form of its own: what came of each, and the keys that were sent. */
function form() {
  let nth = 0
  const keys: string[] = []
  const send = createIdempotentSend(() => `key-${++nth}`)
  const sent = (what: unknown, error?: unknown) =>
    send(what, async ({ 'idempotency-key': key }) => {
      keys.push(key)
      if (error !== undefined) throw error
    }).catch(() => undefined)
  return { keys, sent }
}
const refused = (status: number, retryAfter: number | null = null) => new ApiError(status, 'no', undefined, null, retryAfter)

describe('what is to happen once', () => {
  test('is sent again under its key while nobody knows what became of it', async () => {
    const { keys, sent } = form()
    for (const error of [noResponseError(), refused(500), refused(503, 5), refused(409, 3), refused(429, 1), undefined])
      await sent({ all: true }, error)
    expect(keys).toEqual(Array(6).fill('key-1'))
  })

  test('has another key after it was answered, and after it was refused', async () => {
    const { keys, sent } = form()
    for (const error of [undefined, refused(409), refused(422), refused(404), undefined]) await sent({ all: true }, error)
    expect(keys).toEqual(['key-1', 'key-2', 'key-3', 'key-4', 'key-5'])
  })

  test('is the same after a login, or a refusal that says nothing of what was sent before', async () => {
    const { keys, sent } = form()
    for (const error of [noResponseError(), refused(401), refused(403), refused(429), refused(400), undefined])
      await sent({ all: true }, error)
    expect(keys).toEqual(Array(6).fill('key-1'))
  })

  test('is something else with another body', async () => {
    const { keys, sent } = form()
    await sent({ amount: 1 }, noResponseError())
    await sent({ amount: 2 }, noResponseError())
    await sent({ amount: 2 }, noResponseError())
    expect(keys).toEqual(['key-1', 'key-2', 'key-2'])
  })

  test('goes by what was seen when it was sent first, for as long as nobody knows what became of it', async () => {
    let nth = 0
    const send = createIdempotentSend(() => `key-${++nth}`)
    const sent: unknown[] = []
    for (const [seen, error] of [
      [100, noResponseError()],
      [90, refused(409)],
      [90, undefined],
    ] as const)
      await send(
        { amount: 10 },
        async ({ 'idempotency-key': key }, was: number) => {
          sent.push([key, was])
          if (error) throw error
        },
        () => seen,
      ).catch(() => undefined)
    expect(sent).toEqual([
      ['key-1', 100],
      ['key-1', 100],
      ['key-2', 90],
    ])
  })

  test('is the same again in a window that was closed and opened, on the page of the same record alone', async () => {
    const undecided = new Map<string, PendingSend>()
    let [nth, page] = [0, '/orders/1']
    const keys: string[] = []
    const opened = () =>
      createIdempotentSend(
        () => `key-${++nth}`,
        undecided,
        () => page,
      )
    const send = async ({ 'idempotency-key': key }: IdempotencyHeader): Promise<void> => {
      keys.push(key)
      if (keys.length < 3) throw noResponseError()
    }
    for (const at of ['/orders/1', '/orders/2', '/orders/1', '/orders/1']) {
      page = at
      await opened()({ all: true }, send).catch(() => undefined)
    }
    expect(keys).toEqual(['key-1', 'key-2', 'key-1', 'key-3'])
  })
})
