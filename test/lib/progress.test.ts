import { expect, test } from 'bun:test'
import { bytesText, createProgress, durationText } from '../../src/lib/progress.ts'

function createTerminal(columns = 100) {
  const output: string[] = []
  return { isTTY: true, columns, output, write: (text: string) => output.push(text) }
}

function createPipe() {
  const output: string[] = []
  return { output, write: (text: string) => output.push(text) }
}

test('the bar shows label, percentage, amounts, rate and time left, and is removed at the end', () => {
  const stream = createTerminal()
  let now = 0
  const progress = createProgress({ total: 2_000, label: 'Importing', stream, unit: 'rows', monotonicMs: () => now })
  now = 1_000
  progress.at(500)
  progress.end()
  expect(stream.output).toEqual([
    '\r\x1b[KImporting  [######------------------]  25 %  500 of 2,000 rows  500 rows/s  3 s left',
    '\r\x1b[K',
  ])
})

test('the bar shows a note, and no rate before there is one', () => {
  const stream = createTerminal()
  createProgress({ total: 2_000_000, label: 'Importing', stream, unit: 'bytes', monotonicMs: () => 0 }).at(500_000, '12,000 rows')
  expect(stream.output).toEqual(['\r\x1b[KImporting  [######------------------]  25 %  500.0 KB of 2.0 MB  12,000 rows'])
})

test('work of an earlier run counts as done but not in the rate', () => {
  const stream = createTerminal()
  let now = 0
  const progress = createProgress({ total: 2_000, label: 'Moving', stream, unit: 'rows', from: 1_000, monotonicMs: () => now })
  now = 1_000
  progress.at(1_500)
  expect(stream.output).toEqual(['\r\x1b[KMoving  [##################------]  75 %  1,500 of 2,000 rows  500 rows/s  1 s left'])
})

test('the bar shows no remaining time before two percent are done', () => {
  const stream = createTerminal()
  let now = 0
  const progress = createProgress({ total: 1_000, label: 'X', stream, unit: 'rows', monotonicMs: () => now })
  now = 2_000
  progress.at(19)
  now = 4_000
  progress.at(20)
  expect(stream.output.map((text) => text.endsWith(' left'))).toEqual([false, true])
})

test('the bar is drawn at most ten times a second, and always at the end', () => {
  const stream = createTerminal()
  let now = 0
  const progress = createProgress({ total: 100, label: 'X', stream, unit: 'rows', monotonicMs: () => now })
  for (let done = 1; done <= 99; done++) {
    now += 10
    progress.at(done)
  }
  expect(stream.output.length).toBe(10)
  progress.at(100)
  expect(stream.output.at(-1)).toContain('100 %')
})

test('without a terminal, quick work prints nothing and long work a line from time to time', () => {
  const stream = createPipe()
  let now = 0
  const progress = createProgress({ total: 60_000, label: 'Sealing anew', stream, unit: 'secrets', monotonicMs: () => now })
  for (let second = 1; second <= 30; second++) {
    now = second * 1_000
    progress.at(second * 1_000)
  }
  progress.end()
  expect(stream.output).toEqual([
    'Sealing anew: 8 %, 5,000 of 60,000 secrets, 1,000 secrets/s, 55 s left\n',
    'Sealing anew: 25 %, 15,000 of 60,000 secrets, 1,000 secrets/s, 45 s left\n',
    'Sealing anew: 41 %, 25,000 of 60,000 secrets, 1,000 secrets/s, 35 s left\n',
  ])
})

test('a line fits the terminal, an unknown total shows amount and time, and the bar ends at 100 %', () => {
  const narrow = createTerminal(20)
  createProgress({ total: 100, label: 'A long label indeed', stream: narrow, unit: 'rows', monotonicMs: () => 0 }).at(100)
  expect(narrow.output[0]?.replace('\r\x1b[K', '').length).toBe(19)
  const unknown = createTerminal()
  let now = 0
  const progress = createProgress({ total: 0, label: 'X', stream: unknown, unit: 'bytes', monotonicMs: () => now })
  now = 61_000
  progress.at(2_500_000)
  now = 61_050
  progress.at(2_600_000)
  expect(unknown.output).toEqual(['\r\x1b[KX  2.5 MB  1 min so far'])
  const beyond = createTerminal()
  createProgress({ total: 10, label: 'X', stream: beyond, unit: 'rows', monotonicMs: () => 0 }).at(12)
  expect(beyond.output[0]).toContain('[########################] 100 %')
})

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_500, '1.5 KB'],
  [2_000_000_000, '2.0 GB'],
])('%p bytes are written as %s', (bytes, text) => expect(bytesText(bytes)).toBe(text))

test.each([
  [0, '0 s'],
  [0.2, '1 s'],
  [59, '59 s'],
  [61, '1 min'],
  [3_599, '1 h 0 min'],
  [5_400, '1 h 30 min'],
])('%p seconds are written as %s', (seconds, text) => expect(durationText(seconds)).toBe(text))
