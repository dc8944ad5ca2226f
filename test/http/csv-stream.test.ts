/** Tests streams of CSV whose clients read slowly or disconnect. */
import { expect, test } from 'bun:test'
import { exportMaxMs, streamText } from '../../src/http/csv-stream.ts'

/** Creates a stream of `pieces` pieces, and counts its events. */
function createStream(pieces: number) {
  const events = { ended: 0, left: 0, logged: [] as unknown[], now: 0 }
  const controller = new AbortController()
  let at = 0
  const body = streamText(async () => (at++ < pieces ? { done: false, value: 'piece' } : { done: true, value: undefined }), {
    clock: { now: () => 0, monotonic: () => events.now },
    log: { error: (event: string, { error }: { error: Error }) => events.logged.push([event, error.message]) } as never,
    list: 'things',
    signal: controller.signal,
    onEnd: () => events.ended++,
    onLeave: async () => events.left++,
  })
  return { reader: body.getReader(), events, controller }
}

test('a stream that is read to its end frees its slot', async () => {
  const { reader, events } = createStream(1)
  expect(new TextDecoder().decode((await reader.read()).value)).toBe('piece')
  expect([events.ended, events.left]).toEqual([0, 0])
  expect((await reader.read()).done).toBe(true)
  expect([events.ended, events.left, events.logged]).toEqual([1, 0, []])
})

test('a client that cancels or disconnects ends the stream', async () => {
  const cancelled = createStream(9)
  await cancelled.reader.read()
  await cancelled.reader.cancel()
  expect([cancelled.events.ended, cancelled.events.left, cancelled.events.logged]).toEqual([1, 1, []])
  const aborted = createStream(9)
  await aborted.reader.read()
  aborted.controller.abort()
  void aborted.reader.read()
  await Bun.sleep(0)
  expect([aborted.events.ended, aborted.events.left, aborted.events.logged]).toEqual([1, 1, []])
})

test('a stream that takes longer than the time limit breaks off and frees its slot', async () => {
  const { reader, events } = createStream(9)
  await reader.read()
  events.now = exportMaxMs
  await reader.read()
  events.now = exportMaxMs + 1
  expect(
    await reader.read().then(
      () => 'read',
      () => 'broken',
    ),
  ).toBe('broken')
  await Bun.sleep(0)
  expect([events.ended, events.left, events.logged]).toEqual([1, 1, [['export.broken', 'an export was read too slowly']]])
})
