import { expect, test } from 'bun:test'
import { createLineWriter, holdLines } from '../../src/lib/line-writer.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('lines written in one turn of the event loop are sent in one call, each once', async () => {
  const output: string[] = []
  const { write, flush } = createLineWriter({ write: (text) => output.push(text) })
  write('a')
  write('b')
  expect(output).toEqual([])
  await nextTurn()
  write('c')
  flush()
  flush()
  await nextTurn()
  expect(output).toEqual(['a\nb\n', 'c\n'])
})

test('each of two writers buffers its own lines', () => {
  const output: string[] = []
  const [one, two] = ['one', 'two'].map((name) => createLineWriter({ write: (text) => output.push(`${name}: ${text}`) }))
  one?.write('a')
  two?.write('b')
  one?.flush()
  expect(output).toEqual(['one: a\n'])
})

test('held lines are written by a flush, or returned by a release, after which lines are written at once', () => {
  const output: string[] = []
  const createWriter = () => createLineWriter({ write: (text) => output.push(text) })
  const flushed = holdLines(createWriter())
  flushed.write('a')
  expect(output).toEqual([])
  flushed.flush()
  expect(output).toEqual(['a\n'])
  const released = holdLines(createWriter())
  released.write('b')
  expect(released.release()).toEqual(['b'])
  released.write('c')
  released.flush()
  expect([output, released.release()]).toEqual([['a\n', 'c\n'], []])
})
