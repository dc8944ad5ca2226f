/** Tests the idempotency keys of forms. */
import { describe, expect, test } from 'bun:test'
import { ApiError, noResponseError } from '../../src/console/lib/api/api-error.ts'
import { createIdempotentSend, type IdempotencyHeader, type PendingSend } from '../../src/console/lib/api/idempotent-send.ts'

/** Creates a form. Returns its send function, and the keys that it sent. */
function createForm() {
  let nth = 0
  const keys: string[] = []
  const send = createIdempotentSend(() => `key-${++nth}`)
  const trySend = (what: unknown, error?: unknown) =>
    send(what, async ({ 'idempotency-key': key }) => {
      keys.push(key)
      if (error !== undefined) throw error
    }).catch(() => undefined)
  return { keys, trySend }
}
const refused = (status: number, retryAfter: number | null = null) => new ApiError(status, 'no', undefined, null, retryAfter)

describe('an idempotent send', () => {
  test('repeats its key while the outcome is unknown', async () => {
    const { keys, trySend } = createForm()
    for (const error of [noResponseError(), refused(500), refused(503, 5), refused(409, 3), refused(429, 1), undefined])
      await trySend({ all: true }, error)
    expect(keys).toEqual(Array(6).fill('key-1'))
  })

  test('uses a new key after a response or a refusal', async () => {
    const { keys, trySend } = createForm()
    for (const error of [undefined, refused(409), refused(422), refused(404), undefined]) await trySend({ all: true }, error)
    expect(keys).toEqual(['key-1', 'key-2', 'key-3', 'key-4', 'key-5'])
  })

  test('repeats its key after a login, or a refusal that says nothing about the earlier request', async () => {
    const { keys, trySend } = createForm()
    for (const error of [noResponseError(), refused(401), refused(403), refused(429), refused(400), undefined])
      await trySend({ all: true }, error)
    expect(keys).toEqual(Array(6).fill('key-1'))
  })

  test('uses a new key for another body', async () => {
    const { keys, trySend } = createForm()
    await trySend({ amount: 1 }, noResponseError())
    await trySend({ amount: 2 }, noResponseError())
    await trySend({ amount: 2 }, noResponseError())
    expect(keys).toEqual(['key-1', 'key-2', 'key-2'])
  })

  test('repeats the version of its first request while the outcome is unknown', async () => {
    let nth = 0
    const send = createIdempotentSend(() => `key-${++nth}`)
    const attempts: unknown[] = []
    for (const [version, error] of [
      [100, noResponseError()],
      [90, refused(409)],
      [90, undefined],
    ] as const)
      await send(
        { amount: 10 },
        async ({ 'idempotency-key': key }, sentVersion: number) => {
          attempts.push([key, sentVersion])
          if (error) throw error
        },
        () => version,
      ).catch(() => undefined)
    expect(attempts).toEqual([
      ['key-1', 100],
      ['key-1', 100],
      ['key-2', 90],
    ])
  })

  test('repeats its key in a dialog that is closed and reopened, only on the page of the same record', async () => {
    const undecided = new Map<string, PendingSend>()
    let [nth, page] = [0, '/orders/1']
    const keys: string[] = []
    const openDialog = () =>
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
      await openDialog()({ all: true }, send).catch(() => undefined)
    }
    expect(keys).toEqual(['key-1', 'key-2', 'key-1', 'key-3'])
  })
})
