import { expect, test } from 'bun:test'
import { bytesText, createProgress } from '../../src/cli/progress.ts'

function terminal(columns = 80) {
  const written: string[] = []
  return { isTTY: true, columns, written, write: (text: string) => written.push(text) }
}

test('the bar shows label, share, what is done, rate and the time that is left, and is gone at the end', () => {
  const stream = terminal()
  let now = 0
  const progress = createProgress({ total: 200, label: 'Importing', stream, monotonicMs: () => now })
  now = 1_000
  progress.at(50, '12 rows')
  progress.end()
  expect(stream.written).toEqual(['\r\x1b[KImporting  [######------------------]  25 %  12 rows  50/s  3 s left', '\r\x1b[K'])
})

test('the bar is drawn ten times a second at most, and always when all is done', () => {
  const stream = terminal()
  let now = 0
  const progress = createProgress({ total: 100, label: 'X', stream, monotonicMs: () => now })
  for (let done = 1; done <= 99; done++) {
    now += 10
    progress.at(done)
  }
  expect(stream.written.length).toBe(10)
  progress.at(100)
  expect(stream.written.at(-1)).toContain('100 %')
})

test('where there is no terminal a line is written every ten seconds, and none for what is done sooner', () => {
  const written: string[] = []
  let now = 0
  const progress = createProgress({ total: 10_000, label: 'X', stream: { write: (text) => written.push(text) }, monotonicMs: () => now })
  for (let done = 0; done <= 25; done++) {
    progress.at(done, `${done} rows`)
    now += 1_000
  }
  progress.end()
  expect(written).toEqual(['X  0 %  10 rows  1/s  2 h 46 min left\n', 'X  0 %  20 rows  1/s  2 h 46 min left\n'])
})

test('a line is never wider than the terminal, an unknown total shows the amount, and more than all is all', () => {
  const narrow = terminal(20)
  createProgress({ total: 100, label: 'A long label indeed', stream: narrow, monotonicMs: () => 0 }).at(100)
  expect(narrow.written[0]?.replace('\r\x1b[K', '').length).toBe(19)
  const unknown = terminal()
  createProgress({ total: 0, label: 'X', stream: unknown, unit: 'bytes', monotonicMs: () => 0 }).at(2_500_000)
  expect(unknown.written[0]).toBe('\r\x1b[KX  2.5 MB')
  const beyond = terminal()
  createProgress({ total: 10, label: 'X', stream: beyond, monotonicMs: () => 0 }).at(12)
  expect(beyond.written[0]).toContain('[########################] 100 %')
})

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_500, '1.5 KB'],
  [2_000_000_000, '2.0 GB'],
])('%p bytes read as %s', (bytes, text) => expect(bytesText(bytes)).toBe(text))
