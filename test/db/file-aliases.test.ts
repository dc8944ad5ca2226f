/** Tests detecting a database that another process opened under another name. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lockKeyOf, openUnderAnotherName } from '../../db/sqlite/file-aliases.ts'
import { temporaryDir } from '../support/database.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

function createDatabase(): { file: string; onFile: string; onIndex: string } {
  const file = join(temporaryDir(), 'shop.db')
  for (const ending of ['', '-shm']) writeFileSync(`${file}${ending}`, '')
  return { file, onFile: lockKeyOf(file) ?? '', onIndex: lockKeyOf(`${file}-shm`) ?? '' }
}

const lockLine = (pid: number, on: string) => `1: POSIX  ADVISORY  READ ${pid} ${on} 0 EOF`
const server = 4_242

/** Simulates a lock table with these successive readings. The last one repeats. */
function createLockTable(...readings: string[][]) {
  let nth = 0
  return { read: () => (readings[Math.min(nth++, readings.length - 1)] ?? []).join('\n'), pause: () => undefined }
}

test('a server is not reported when some readings of the lock table lack its lock on the WAL index', () => {
  const { file, onFile, onIndex } = createDatabase()
  const complete = [lockLine(server, onFile), lockLine(server, onIndex)]
  const partial = [lockLine(server, onFile)]
  expect(openUnderAnotherName(file, createLockTable(complete))).toBeUndefined()
  expect(openUnderAnotherName(file, createLockTable(partial, complete))).toBeUndefined()
  expect(openUnderAnotherName(file, createLockTable(partial, partial, complete))).toBeUndefined()
  expect(openUnderAnotherName(file, createLockTable([]))).toBeUndefined()
})

test('a process that opened the file under another name is reported, also while the lock table changes', () => {
  const { file, onFile, onIndex } = createDatabase()
  const otherProcess = lockLine(server, onFile)
  expect(openUnderAnotherName(file, createLockTable([otherProcess]))).toBe(server)
  expect(
    openUnderAnotherName(
      file,
      createLockTable([otherProcess, lockLine(5, '00:00:1')], [lockLine(6, onIndex), otherProcess], [otherProcess]),
    ),
  ).toBe(server)
  const changing = Array.from({ length: 40 }, (_, nth) => [lockLine(server + (nth % 2), onFile)])
  expect([server, server + 1]).toContain(openUnderAnotherName(file, createLockTable(...changing)) as number)
})

test('without a lock table nothing is reported', () => {
  const { file } = createDatabase()
  const read = () => {
    throw new Error('ENOENT')
  }
  expect(openUnderAnotherName(file, { read, pause: () => undefined })).toBeUndefined()
})
