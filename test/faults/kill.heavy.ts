/** Tests durability: a killed process loses nothing that it acknowledged. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { engine } from '../../db/columns.ts'
import { databaseFile, openDatabase } from '../../db/open.ts'
import { attempts } from '../../db/schema/people.ts'
import { testDatabase } from '../support/database.ts'
import { startChild } from '../support/process.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const rounds = engine === 'sqlite' ? 20 : 5
const acknowledgedMax = 600

test(`every acknowledged row survives kill -9, also amid checkpoints, ${rounds} times`, async () => {
  const { url, dataDir, drop } = await testDatabase()
  const acknowledged = new Set<string>()
  for (let round = 0; round < rounds; round++) {
    await using writer = startChild('write-until-killed.ts', [url, dataDir, String(round)])
    const killAfter = 1 + Math.floor(Math.random() * acknowledgedMax)
    let count = 0
    for await (const id of writer.lines) {
      acknowledged.add(id)
      if (++count === killAfter) writer.kill('SIGKILL')
    }
    expect(await writer.exited).not.toBe(0)
    expect(count).toBeGreaterThanOrEqual(killAfter)
  }

  // Reads the file with another SQLite library in a separate process, before bun:sqlite opens it.
  if (engine === 'sqlite') {
    await using reader = startChild('read-with-better-sqlite3.ts', [databaseFile(url)])
    const { value: integrity } = await reader.lines.next()
    expect(integrity).toBe('ok')
    expect(missingFrom(await collect(reader.lines), acknowledged)).toEqual([])
  }
  const { db } = await openDatabase({ url, dataDir, as: 'server', now: 0, random: Math.random })
  const rows = await db.read.select({ id: attempts.id }).from(attempts)
  expect(
    missingFrom(
      rows.map(({ id }) => id),
      acknowledged,
    ),
  ).toEqual([])
  await db.close()
  await drop()
})

async function collect(lines: AsyncIterable<string>): Promise<string[]> {
  const collected: string[] = []
  for await (const line of lines) collected.push(line)
  return collected
}

function missingFrom(stored: readonly string[], acknowledged: ReadonlySet<string>): string[] {
  const present = new Set(stored)
  return [...acknowledged].filter((id) => !present.has(id)).slice(0, 10)
}
