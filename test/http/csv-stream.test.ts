/** Tests streams of CSV whose clients read slowly or disconnect. */
import { expect, test } from 'bun:test'
import { exportMaxMs, streamText } from '../../src/http/csv-stream.ts'

/** A stream of so many pieces, and what became of it. */
function told(pieces: number) {
  const told = { ended: 0, left: 0, logged: [] as unknown[], now: 0 }
  const gone = new AbortController()
  let at = 0
  const body = streamText(async () => (at++ < pieces ? { done: false, value: 'piece' } : { done: true, value: undefined }), {
    clock: { now: () => 0, monotonic: () => told.now },
    log: { error: (event: string, { error }: { error: Error }) => told.logged.push([event, error.message]) } as never,
    list: 'things',
    signal: gone.signal,
    onEnd: () => told.ended++,
    onLeave: async () => told.left++,
  })
  return { reader: body.getReader(), told, gone }
}

test('a stream that is read to its end frees its slot', async () => {
  const { reader, told: of } = told(1)
  expect(new TextDecoder().decode((await reader.read()).value)).toBe('piece')
  expect([of.ended, of.left]).toEqual([0, 0])
  expect((await reader.read()).done).toBe(true)
  expect([of.ended, of.left, of.logged]).toEqual([1, 0, []])
})

test('a client that cancels or disconnects ends the stream', async () => {
  const cancelled = told(9)
  await cancelled.reader.read()
  await cancelled.reader.cancel()
  expect([cancelled.told.ended, cancelled.told.left, cancelled.told.logged]).toEqual([1, 1, []])
  const aborted = told(9)
  await aborted.reader.read()
  aborted.gone.abort()
  void aborted.reader.read()
  await Bun.sleep(0)
  expect([aborted.told.ended, aborted.told.left, aborted.told.logged]).toEqual([1, 1, []])
})

test('a stream that takes longer than the time limit breaks off and frees its slot', async () => {
  const { reader, told: of } = told(9)
  await reader.read()
  of.now = exportMaxMs
  await reader.read()
  of.now = exportMaxMs + 1
  expect(
    await reader.read().then(
      () => 'read',
      () => 'broken',
    ),
  ).toBe('broken')
  await Bun.sleep(0)
  expect([of.ended, of.left, of.logged]).toEqual([1, 1, [['export.broken', 'an export was read too slowly']]])
})
