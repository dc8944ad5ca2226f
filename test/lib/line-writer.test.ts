import { expect, test } from 'bun:test'
import { createLineWriter, holdLines } from '../../src/lib/line-writer.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('lines of one turn of the event loop are written in one call, and each once', async () => {
  const written: string[] = []
  const { write, flush } = createLineWriter({ write: (text) => written.push(text) })
  write('a')
  write('b')
  expect(written).toEqual([])
  await turn()
  write('c')
  flush()
  flush()
  await turn()
  expect(written).toEqual(['a\nb\n', 'c\n'])
})

test('each of two writers buffers its own lines', () => {
  const written: string[] = []
  const [one, two] = ['one', 'two'].map((name) => createLineWriter({ write: (text) => written.push(`${name}: ${text}`) }))
  one?.write('a')
  two?.write('b')
  one?.flush()
  expect(written).toEqual(['one: a\n'])
})

test('held lines are written by a flush, or returned by a release, after which lines are written at once', () => {
  const written: string[] = []
  const lines = () => createLineWriter({ write: (text) => written.push(text) })
  const flushed = holdLines(lines())
  flushed.write('a')
  expect(written).toEqual([])
  flushed.flush()
  expect(written).toEqual(['a\n'])
  const released = holdLines(lines())
  released.write('b')
  expect(released.release()).toEqual(['b'])
  released.write('c')
  released.flush()
  expect([written, released.release()]).toEqual([['a\n', 'c\n'], []])
})
