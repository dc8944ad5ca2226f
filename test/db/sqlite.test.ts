/** Tests group commits, the version and the files of SQLite. */
import { Database as Sqlite } from 'bun:sqlite'
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { engine } from '../../db/columns.ts'
import type { Writer } from '../../db/engine.ts'
import { databaseFile, isNetworkFileSystem, lockDataDir, openDatabase } from '../../db/open.ts'
import { attempts } from '../../db/schema/people.ts'
import { openSqlite } from '../../db/sqlite/engine.ts'
import { openTestDatabase, temporaryDir, testDatabase } from '../support/database.ts'
import { startChild } from '../support/process.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const insert = (id: string) => async (tx: Writer) => {
  await tx.insert(attempts).values({ id, bucket: 'test', at: 0 })
}
const messageOf = async (work: Promise<unknown>) =>
  work.then(
    () => 'kept',
    (error: Error) => error.message,
  )

describe.skipIf(engine !== 'sqlite')('group commit', () => {
  test('waiting writes share one commit', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    await Promise.all(Array.from({ length: 100 }, (_, nth) => db.write(insert(`${nth}`))))
    expect(db.stats.writes).toBe(100)
    expect(db.stats.commits).toBeLessThan(20)
  })

  test('a group commit acknowledges writes in order, and each sees those before it', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const acknowledged: number[] = []
    const seen = await Promise.all(
      Array.from({ length: 50 }, (_, nth) =>
        db
          .write(async (tx) => {
            await insert(`${nth}`)(tx)
            return (await tx.select().from(attempts)).length
          })
          .then((count) => {
            acknowledged.push(nth)
            return count
          }),
      ),
    )
    const inOrder = Array.from({ length: 50 }, (_, nth) => nth)
    expect(acknowledged).toEqual(inOrder)
    expect(seen).toEqual(inOrder.map((nth) => nth + 1))
  })

  test('if a write fails after a change, the other writes of its group run again', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const runs = { first: 0, refused: 0, failed: 0, last: 0 }
    const effects: string[] = []
    const works = {
      first: insert('a'),
      refused: async (tx: Writer) => {
        if ((await tx.select().from(attempts)).length > 0) throw new Error('refused')
      },
      failed: async (tx: Writer) => {
        await insert('b')(tx)
        throw new Error('failed')
      },
      last: insert('c'),
    }
    const writeAll = (names: readonly (keyof typeof works)[]) =>
      Promise.all(
        names.map(async (name) => {
          const work = async (tx: Writer) => {
            runs[name]++
            tx.afterCommit(() => void effects.push(name))
            await works[name](tx)
          }
          return messageOf(db.write(work))
        }),
      )
    expect(await writeAll(['first', 'refused'])).toEqual(['kept', 'refused'])
    expect(runs).toEqual({ first: 1, refused: 1, failed: 0, last: 0 })
    await db.write(async (tx) => void (await tx.delete(attempts)))
    expect(await writeAll(['first', 'failed', 'refused', 'last'])).toEqual(['kept', 'failed', 'refused', 'kept'])
    const { first, ...others } = runs
    // On a slow machine the first write is committed before the failing one runs, and does not run again.
    expect([2, 3]).toContain(first)
    expect(others).toEqual({ refused: 2, failed: 2, last: 1 })
    expect(effects).toEqual(['first', 'first', 'last'])
    expect((await db.read.select().from(attempts).orderBy(attempts.id)).map(({ id }) => id)).toEqual(['a', 'c'])
  })

  test('nothing is acknowledged before the group commit: readers see everything that was acknowledged', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const counts = await Promise.all(
      Array.from({ length: 30 }, async (_, nth) => {
        await db.write(insert(`${nth}`))
        return (await db.read.select().from(attempts)).length
      }),
    )
    counts.forEach((count, nth) => void expect(count).toBeGreaterThan(nth))
  })

  test('a write that waits for a timer is refused and rolled back, and the others continue', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    // A timer that ends only after the other writes committed.
    const { promise: timer, resolve: ends } = Promise.withResolvers<void>()
    const outcomes = await Promise.all([
      messageOf(db.write(insert('before'))),
      messageOf(
        db.write(async (tx) => {
          await insert('slow')(tx)
          await timer
          await insert('never')(tx)
        }),
      ),
      messageOf(db.write(insert('zafter'))),
    ])
    expect(outcomes).toEqual(['kept', 'a database work may await its own queries only', 'kept'])
    // Statements of the refused work arrive after its end.
    ends()
    await new Promise((resolve) => setImmediate(resolve))
    await db.write(insert('zzlast'))
    expect((await db.read.select().from(attempts).orderBy(attempts.id)).map(({ id }) => id)).toEqual(['before', 'zafter', 'zzlast'])
  })

  test('a group commit waits for another process without blocking the event loop, and then writes', async () => {
    await using opened = await openTestDatabase()
    const { db, url } = opened
    await using holder = startChild('hold-lock.ts', [databaseFile(url)])
    expect((await holder.lines.next()).value).toBe('locked')
    const versionBefore = db.version()
    let done = false
    const writing = db.write(insert('ours')).then(() => {
      done = true
    })
    let turns = 0
    while (turns < 20) {
      await new Promise((resolve) => setTimeout(resolve, 1))
      turns++
    }
    // The event loop ran twenty times, and reads were answered.
    expect(done).toBe(false)
    expect(await db.read.select().from(attempts)).toEqual([])
    holder.send('go')
    expect((await holder.lines.next()).value).toBe('released')
    await writing
    expect(db.stats.retries).toBeGreaterThan(0)
    expect((await db.read.select().from(attempts)).map(({ id }) => id).sort()).toEqual(['ours', 'theirs'])
    expect(db.version()).not.toBe(versionBefore)
  })
})

describe.skipIf(engine !== 'sqlite')('the database version', () => {
  test('the version changes with every commit, also of another process, and with nothing else', async () => {
    await using opened = await openTestDatabase()
    const { db, url } = opened
    const first = db.version()
    await db.read.select().from(attempts)
    expect(db.version()).toBe(first)
    await db.write(insert('a'))
    const second = db.version()
    expect(second).not.toBe(first)

    await using other = startChild('hold-lock.ts', [databaseFile(url)])
    await other.lines.next()
    expect(db.version()).toBe(second)
    other.send('go')
    expect((await other.lines.next()).value).toBe('released')
    const third = db.version()
    expect(third).not.toBe(second)
    expect(db.version()).toBe(third)
  })
})

describe.skipIf(engine !== 'sqlite')('the SQLite file', () => {
  test('every connection is durable and checks references, and readers cannot write', async () => {
    await using opened = await openTestDatabase()
    const { db } = opened
    const readPragma = async (name: string) => {
      const { sql } = await import('drizzle-orm')
      const [row] = await db.write(async (tx) => tx.rows<Record<string, unknown>>(sql.raw(`pragma ${name}`)))
      return Object.values(row ?? {})[0]
    }
    expect(await readPragma('synchronous')).toBe(2)
    expect(await readPragma('foreign_keys')).toBe(1)
    expect(await readPragma('journal_mode')).toBe('wal')
    expect(await readPragma('trusted_schema')).toBe(0)
    const { sql } = await import('drizzle-orm')
    expect(await messageOf(db.read.rows(sql`delete from attempts`))).toContain('readonly')
  })

  test('closing checkpoints the WAL and leaves it empty', async () => {
    const { url, dataDir } = await testDatabase()
    const { db } = await openDatabase({ url, dataDir, as: 'server', now: 0, random: Math.random })
    await db.write(insert('a'))
    expect(statSync(`${databaseFile(url)}-wal`).size).toBeGreaterThan(0)
    await db.close()
    const wal = `${databaseFile(url)}-wal`
    expect(existsSync(wal) ? statSync(wal).size : 0).toBe(0)
    const reopened = new Sqlite(databaseFile(url), { readonly: true })
    expect(reopened.query('select id from attempts').all()).toEqual([{ id: 'a' }])
    reopened.close()
  })

  test('a checkpoint moves what was written and returns the length of the WAL', async () => {
    await using opened = await openTestDatabase()
    await opened.db.write(insert('a'))
    expect(await opened.db.checkpoint()).toBeGreaterThan(0)
  })

  test('an I/O error of the disk calls onFatal once', async () => {
    const { url, dataDir } = await testDatabase()
    const fatal: unknown[] = []
    const db = openSqlite(databaseFile(url), { onFatal: (error) => void fatal.push(error) })
    const broken = await db
      .write(async () => {
        throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_WRITE' })
      })
      .catch((error: Error) => error.message)
    expect(broken).toBe('disk I/O error')
    expect(fatal).toHaveLength(1)
    expect(await messageOf(db.write(insert('after')))).toBe('kept')
    await db.close()
    expect(dataDir).not.toBe('')
  })
})

describe.skipIf(engine !== 'sqlite')('the data directory', () => {
  const openServer = (dataDir: string, url: string, as: 'server' | 'command' = 'server') =>
    openDatabase({ url, dataDir, as, now: 0, random: Math.random })

  test('a data directory has one server and any commands, and the next server starts after it closed', async () => {
    const dataDir = temporaryDir()
    const url = `file:${join(dataDir, 'souk.db')}`
    const server = await openServer(dataDir, url)
    expect(await messageOf(openServer(dataDir, url))).toContain('souk is already running on')
    const command = await openServer(dataDir, url, 'command')
    await command.db.write(insert('from a command'))
    await command.db.close()
    expect(await server.db.read.select().from(attempts)).toHaveLength(1)
    expect(await messageOf(openServer(dataDir, url))).toContain('souk is already running on')
    await server.db.close()
    const next = await openServer(dataDir, url)
    await next.db.close()
  })

  test('two servers with different data directories cannot share one database file', async () => {
    const shared = temporaryDir()
    const url = `file:${join(shared, 'souk.db')}`
    const first = await openServer(temporaryDir(), url)
    expect(await messageOf(openServer(temporaryDir(), url))).toContain('souk is already running on')
    await first.db.close()
  })

  test('a failed open releases the data directory', async () => {
    const dataDir = temporaryDir()
    const file = join(dataDir, 'souk.db')
    writeFileSync(file, 'this is a letter and not a database, though it is as long as the header of one would be, and a little longer')
    expect(await messageOf(openServer(dataDir, `file:${file}`))).toContain('not a database')
    const lock = lockDataDir(dataDir)
    expect(lock).toBeDefined()
    lock?.release()
  })

  test('a data directory is created private to its owner', async () => {
    const dataDir = join(temporaryDir(), 'made', 'here')
    const { db } = await openServer(dataDir, `file:${join(dataDir, 'souk.db')}`)
    expect(statSync(dataDir).mode & 0o777).toBe(0o700)
    await db.close()
  })

  test('a data directory that cannot be locked for another reason throws', () => {
    const dataDir = temporaryDir()
    // With a directory in place of the lock file, opening fails for every user.
    mkdirSync(join(dataDir, 'lock.db'))
    expect(() => lockDataDir(dataDir)).toThrow()
    symlinkSync(dataDir, join(dataDir, 'self'))
  })

  test('network file systems and FUSE are refused for the data directory, and local ones accepted', () => {
    const mapped = { fuse: 0x65735546, '9p': 0x01021997, lustre: 0x0bd00bd0 }
    const network = {
      nfs: 0x6969,
      smb: 0x517b,
      cifs: 0xff534d42,
      smb2: 0xfe534d42,
      afs: 0x5346414f,
      coda: 0x73757245,
      ceph: 0x00c36400,
      ...mapped,
    }
    const local = { ext4: 0xef53, xfs: 0x58465342, btrfs: 0x9123683e, tmpfs: 0x01021994, overlay: 0x794c7630 }
    for (const type of Object.values(network)) expect(isNetworkFileSystem(type)).toBe(true)
    for (const type of Object.values(local)) expect(isNetworkFileSystem(type)).toBe(false)
    // statfs returns large types as negative numbers on some systems.
    expect(isNetworkFileSystem(0xff534d42 | 0)).toBe(true)
  })
})

test('file URLs accept paths as an operator writes them', () => {
  expect(databaseFile('file:/srv/shop.db')).toBe('/srv/shop.db')
  expect(databaseFile('file:./shop.db')).toBe('./shop.db')
  expect(databaseFile('file:///srv/shop.db')).toBe('/srv/shop.db')
  expect(databaseFile('file:shop.db')).toBe('shop.db')
})
