/** Tests that files of killed processes are removed, and those of running processes stay. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { engine } from '../../db/columns.ts'
import { openDatabase } from '../../db/open.ts'
import { newTemporary, temporaryOf } from '../../db/temporary-files.ts'
import { temporaryDir } from '../support/database.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('a new temporary file removes those of dead processes in its folder, whatever their target', async () => {
  const folder = temporaryDir()
  const ended = Bun.spawn(['true'])
  await ended.exited
  const alive = Bun.spawn(['sleep', '60'])
  const stat = readFileSync(`/proc/${alive.pid}/stat`, 'utf8')
  const start = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
  const names = {
    removed: [
      `other.csv.${ended.pid}-5.tmp`,
      `other.csv.${ended.pid}-5.tmp-journal`,
      `orders.csv.${ended.pid}.tmp`,
      `x.${alive.pid}-${start + 1}.tmp`,
    ],
    stays: [
      ...[
        `orders.csv.${alive.pid}-${start}.tmp`,
        `orders.csv.${alive.pid}.tmp`,
        'orders.csv',
        'notes.tmp',
        `a.${alive.pid}-${start}.tmp.gz`,
      ],
      // Without the start time of its process, it may belong to another program.
      `other.csv.${ended.pid}.tmp`,
    ],
  }
  for (const name of [...names.removed, ...names.stays]) writeFileSync(join(folder, name), 'half')
  const ownFile = temporaryOf(join(folder, 'elsewhere.csv'))
  writeFileSync(ownFile, 'incomplete')
  const temporary = newTemporary(join(folder, 'orders.csv'))
  expect([readdirSync(folder).sort(), readdirSync(folder).includes(temporary)]).toEqual([
    [...names.stays, ownFile.slice(folder.length + 1)].sort(),
    false,
  ])
  // After a day without a write the file is abandoned, even if its process number is in use.
  const old = join(folder, `orders.csv.${alive.pid}-${start}.tmp`)
  utimesSync(old, 1_000, 1_000)
  newTemporary(join(folder, 'orders.csv'))
  expect(readdirSync(folder)).not.toContain(`orders.csv.${alive.pid}-${start}.tmp`)
  alive.kill()
})

test.skipIf(engine !== 'sqlite')('a start removes no files of other programs outside the data directory', async () => {
  const [dataDir, folder] = [temporaryDir(), temporaryDir()]
  const ended = Bun.spawn(['true'])
  await ended.exited
  const others = [`report.${ended.pid}.tmp`, `report.${ended.pid}-5.tmp`, `souk.db-other.${ended.pid}-5.tmp`]
  const ownFiles = [`souk.db.${ended.pid}-5.tmp`, `souk.db.${ended.pid}-5.tmp-journal`]
  const inDataDir = `orders.csv.${ended.pid}.tmp`
  for (const name of [...others, ...ownFiles]) writeFileSync(join(folder, name), 'half')
  writeFileSync(join(dataDir, inDataDir), 'half')
  const url = `file:${join(folder, 'souk.db')}`
  const { db } = await openDatabase({ url, dataDir, as: 'server', now: 0, random: Math.random })
  const left = readdirSync(folder).filter((name) => name.includes('.tmp'))
  expect([left.sort(), readdirSync(dataDir).includes(inDataDir)]).toEqual([others.sort(), false])
  await db.close()
})

test('an old file of a running process stays if its name lacks the start time of the process', () => {
  const folder = temporaryDir()
  const name = `orders.csv.${process.ppid}.tmp`
  writeFileSync(join(folder, name), 'half')
  utimesSync(join(folder, name), 1_000, 1_000)
  newTemporary(join(folder, 'orders.csv'))
  expect(readdirSync(folder)).toContain(name)
})
