import { expect, test } from 'bun:test'
import { createLineWriter } from '../../src/clients/line-writer.ts'

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
