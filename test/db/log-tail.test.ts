/** Tests reading the write-ahead log during writes, checkpoints and reads, and rebuilding a database from it. */
import { Database as Sqlite } from 'bun:sqlite'
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { closeSync, copyFileSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { LogBroken, type LogRange, type ShippedLog } from '../../db/engine.ts'
import { configure } from '../../db/sqlite/engine.ts'
import { databaseFileAt } from '../../db/sqlite/file.ts'
import { openPages, type Pages } from '../../db/sqlite/log-apply.ts'
import { type LogTail, openLogTail } from '../../db/sqlite/log-tail.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'souk-log-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Creates a pseudo-random generator. The same seed gives the same numbers. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

const countOf = (connection: Sqlite) => connection.query<{ n: number }, []>('SELECT n FROM counter').get()?.n ?? -1
const integrityOf = (connection: Sqlite) =>
  connection.query<{ integrity_check: string }, []>('PRAGMA integrity_check').get()?.integrity_check
const rowsOf = (connection: Sqlite) =>
  connection
    .query('SELECT count(*) AS rows, sum(length(x)) AS bytes, max(id) AS last, sum(id * unicode(hex(substr(x, 1, 1)))) AS mix FROM blobs')
    .get()

function createDatabase(name: string): { file: string; connect: () => Sqlite } {
  const file = join(folder, name)
  const connect = () => {
    const connection = new Sqlite(file, { create: true })
    configure(connection, 'OFF')
    // Small limits, so that everything that takes long in a shop happens within a few commits.
    for (const pragma of ['busy_timeout = 0', 'wal_autocheckpoint = 40', 'cache_size = 10']) connection.run(`PRAGMA ${pragma}`)
    return connection
  }
  using connection = connect()
  connection.run('CREATE TABLE counter (n INTEGER)')
  connection.run('INSERT INTO counter VALUES (0)')
  connection.run('CREATE TABLE blobs (id INTEGER PRIMARY KEY, x BLOB)')
  connection.run('PRAGMA wal_checkpoint(TRUNCATE)')
  return { file, connect }
}

/** Applies a range of the log to the copy, and acknowledges it. */
function applyRange(tail: LogTail, range: LogRange, pages: Pages): void {
  let { sum } = range
  let ends = false
  for (const piece of tail.pieces()) {
    const applied = pages.apply(zstdDecompressSync(piece.subarray(4)), range.header, sum)
    if (!applied) throw new Error('the range does not continue the copy')
    sum = applied.sum
    ends = applied.endsCommit
  }
  expect(ends).toBe(true)
  tail.markShipped()
  pages.finish()
}

/** Opens a copy of `copy`, because opening a file may write to it. */
function withCopy<T>(copy: string, see: (connection: Sqlite) => T): T {
  const file = `${copy}.look`
  for (const ending of ['', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true })
  copyFileSync(copy, file)
  using connection = new Sqlite(file)
  return see(connection)
}

/** Runs one random transaction: some are long, some roll back a part, some everything. Returns whether it committed. */
function commit(connection: Sqlite, pick: (below: number) => number): boolean {
  connection.run('BEGIN IMMEDIATE')
  connection.run('UPDATE counter SET n = n + 1')
  for (let nth = pick(15) === 0 ? 60 : pick(4); nth > 0; nth--)
    connection.run('INSERT INTO blobs (x) VALUES (randomblob(?))', [1 + pick(6_000)])
  if (pick(5) === 0) connection.run('DELETE FROM blobs WHERE id % 7 = ?', [pick(7)])
  if (pick(8) === 0) {
    connection.run('SAVEPOINT some')
    for (let nth = 0; nth < 30; nth++) connection.run('INSERT INTO blobs (x) VALUES (randomblob(5000))')
    connection.run('UPDATE blobs SET x = randomblob(3000) WHERE id % 5 = 0')
    connection.run('ROLLBACK TO some')
    connection.run('RELEASE some')
  }
  const isCommitted = pick(6) !== 0
  connection.run(isCommitted ? 'COMMIT' : 'ROLLBACK')
  return isCommitted
}

let continued = 0
for (const seed of [1, 2, 3, 4, 5, 6, 7, 8])
  test(`the shipped log is exactly what was committed, with any writers, readers and checkpoints (${seed})`, () => {
    const pick = createRandom(seed)
    const { file, connect } = createDatabase(`model-${seed}.db`)
    const copy = `${file}.copy`
    copyFileSync(file, copy)
    const writers = [connect(), connect()] as const
    const readers = [new Sqlite(file, { readonly: true }), new Sqlite(file, { readonly: true })] as const
    const open = (shipped?: ShippedLog) =>
      openLogTail(file, {
        shipped,
        foldFrames: 30 + pick(100),
        rangeMaxBytes: pick(3) ? 10_000_000 : 50_000,
        lockedMaxBytes: pick(3) ? 1_000_000 : 5_000,
        longBytes: pick(3) ? 10_000_000 : 400_000,
        startMaxBytes: pick(3) ? 10_000_000 : 100_000,
      })
    let tail = open()
    let pages = openPages(copy)
    let [committed, shipped, generations, salt, continuations] = [0, 0, 0, 0, 0]
    let end: ShippedLog | undefined
    let hasShipped = false
    /** The copy is consistent once the log up to its creation is applied. */
    let isComplete = true
    /**
     * Reads the next range. If the log was lost, it starts over with a new copy, made by another process: copying in
     * this process would drop its locks.
     */
    const nextRange = () => {
      try {
        return tail.next()
      } catch (error) {
        if (!(error instanceof LogBroken)) throw error
        tail.close()
        beginReading(undefined)
        return tail.next()
      }
    }
    const beginReading = (from: ShippedLog | undefined) => {
      tail = open(from)
      end = undefined
      hasShipped = tail.continues
      if (tail.continues) {
        continuations++
        return
      }
      pages.close()
      Bun.spawnSync(['cp', file, copy])
      pages = openPages(copy)
      isComplete = false
    }
    const finish = () => {
      try {
        return tail.finish()
      } catch (error) {
        if (!(error instanceof LogBroken) || hasShipped) throw error
        return undefined
      }
    }
    /** Ends the reader, cleanly or by a crash. Writers may continue, and it restarts with its last position. */
    const restart = () => {
      const mark = pick(2) ? finish() : undefined
      tail.close()
      for (let nth = pick(4); nth > 0; nth--) if (commit(writers[0], pick)) committed++
      if (pick(3) === 0) writers[1].run(`PRAGMA wal_checkpoint(${pick(2) ? 'PASSIVE' : 'TRUNCATE'})`)
      for (let nth = pick(3); nth > 0; nth--) if (commit(writers[1], pick)) committed++
      beginReading(end && { ...end, mark })
    }
    const ship = () => {
      const range = nextRange()
      if (!range) return false
      if (pick(6) === 0) {
        // The reader fails at the start or in the middle; writes continue, and the same part is requested again.
        const pieces = tail.pieces()
        if (pick(2) === 0) pieces.next()
        pieces.return(undefined)
        if (commit(writers[0], pick)) committed++
        expect(tail.next()).toEqual(range)
      }
      if (range.header.salt1 !== salt) generations++
      salt = range.header.salt1
      try {
        applyRange(tail, range, pages)
      } catch (error) {
        // The log at the start of reading may be overwritten. Then reading starts over, too.
        if (!(error instanceof LogBroken) || hasShipped) throw error
        tail.close()
        beginReading(undefined)
        return true
      }
      hasShipped = true
      end = { header: range.header, frame: range.to, sum: range.end }
      isComplete ||= tail.read() === 0
      if (!isComplete) return true
      const count = withCopy(copy, countOf)
      expect(count).toBeGreaterThanOrEqual(shipped)
      expect(count).toBeLessThanOrEqual(committed)
      shipped = count
      return true
    }
    for (let step = 0; step < 150; step++) {
      const action = pick(20)
      if (action < 10 && commit(writers[pick(2) as 0 | 1], pick)) committed++
      if (action === 10) writers[0].run('PRAGMA wal_checkpoint(PASSIVE)')
      if (action === 11 && pick(3) === 0) writers[1].run('PRAGMA wal_checkpoint(TRUNCATE)')
      if (action === 12) {
        const reader = readers[pick(2) as 0 | 1]
        if (reader.inTransaction) reader.run('COMMIT')
        else if (pick(3) === 0) {
          reader.run('BEGIN')
          countOf(reader)
        }
      }
      if (action === 13 && pick(10) === 0) {
        for (const reader of readers) if (reader.inTransaction) reader.run('COMMIT')
        writers[0].run('VACUUM')
      }
      if (action === 14) restart()
      if (action > 13) ship()
    }
    while (ship());
    expect(withCopy(copy, countOf)).toBe(committed)
    expect(withCopy(copy, integrityOf)).toBe('ok')
    expect(withCopy(copy, rowsOf)).toEqual(rowsOf(writers[0]))
    expect(generations).toBeGreaterThan(0)
    continued += continuations
    pages.close()
    tail.close()
    for (const connection of [...writers, ...readers]) connection.close()
  })

test('some of the restarted followers continued from what was stored', () => {
  expect(continued).toBeGreaterThan(3)
})

test('the followed log stays bounded, even if there are always new commits', () => {
  const { file, connect } = createDatabase('growth.db')
  using writer = connect()
  const tail = openLogTail(file, { foldFrames: 50 })
  const frames: number[] = []
  for (let round = 0; round < 30; round++) {
    for (let nth = 0; nth < 5; nth++) writer.run('INSERT INTO blobs (x) VALUES (randomblob(30000))')
    tail.next()
    // Commits between reading a range and acknowledging it.
    for (const _ of tail.pieces()) writer.run('UPDATE counter SET n = n + 1')
    tail.markShipped()
    frames.push(tail.checkpointLong().logBytes / 4_120)
  }
  expect(Math.max(...frames)).toBeLessThan(200)
  tail.close()
})

test('unread frames are not overwritten, however long the log becomes', () => {
  const { file, connect } = createDatabase('held.db')
  using writer = connect()
  const copy = `${file}.copy`
  copyFileSync(file, copy)
  const tail = openLogTail(file)
  for (let nth = 0; nth < 100; nth++) {
    writer.run('UPDATE counter SET n = n + 1')
    writer.run('INSERT INTO blobs (x) VALUES (randomblob(3000))')
  }
  writer.run('PRAGMA wal_checkpoint(PASSIVE)')
  const pages = openPages(copy)
  for (let range = tail.next(); range; range = tail.next()) applyRange(tail, range, pages)
  expect(withCopy(copy, countOf)).toBe(100)
  pages.close()
  tail.close()
})

test('a log that another program checkpointed and restarted while nothing held it is refused', () => {
  const { file, connect } = createDatabase('lost.db')
  using writer = connect()
  const tail = openLogTail(file)
  writer.run('UPDATE counter SET n = n + 1')
  const range = tail.next()
  expect(range).toBeDefined()
  for (const _ of tail.pieces());
  tail.markShipped()
  // All frames are in the file, and a log with other salts replaces it.
  for (let nth = 0; nth < 2; nth++) {
    writer.run('PRAGMA wal_checkpoint(PASSIVE)')
    tail.next()
  }
  tail.close()
  const reopenedTail = openLogTail(file)
  writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
  writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
  writer.run('UPDATE counter SET n = n + 1')
  expect(() => reopenedTail.next()).toThrow(LogBroken)
  reopenedTail.close()
})

for (const isHeld of [true, false])
  test(`a log left unread by a crash ${isHeld ? 'continues if the start holds it before it writes' : 'may be overwritten if nothing holds it'}`, async () => {
    const { file, connect } = createDatabase(`crashed-${isHeld}`)
    const writer = connect()
    const tail = openLogTail(file)
    const fill = (by: Sqlite, rows: number) => {
      for (let row = 0; row < rows; row++) by.run('INSERT INTO blobs (x) VALUES (randomblob(9000))')
    }
    fill(writer, 3)
    const range = tail.next()
    if (!range) throw new Error('nothing was committed')
    for (const _ of tail.pieces());
    tail.markShipped()
    // Writes far more than triggers a checkpoint, and reads nothing.
    fill(writer, 200)
    const left = join(folder, `left-${isHeld}`)
    for (const ending of ['', '-wal']) copyFileSync(`${file}${ending}`, `${left}${ending}`)
    tail.close()
    writer.close()

    const database = databaseFileAt(left)
    if (isHeld) database.holdLog()
    const after = new Sqlite(left)
    configure(after, 'OFF')
    after.run('PRAGMA wal_autocheckpoint = 40')
    fill(after, 5)
    const log = await database.followLog({ header: range.header, frame: range.to, sum: range.end })
    expect(log.continues).toBe(isHeld)
    if (isHeld) expect((await log.next())?.from).toBe(range.to)
    await log.close()
    after.close()
  })

test('after a crash in a new generation of the log, following continues from the end of the one before', async () => {
  const { file, connect } = createDatabase('next-life')
  using writer = connect()
  const fill = (by: Sqlite, rows: number) => {
    for (let row = 0; row < rows; row++) by.run('INSERT INTO blobs (x) VALUES (randomblob(9000))')
  }
  const tail = openLogTail(file, { foldFrames: 20 })
  fill(writer, 30)
  const range = tail.next()
  if (!range) throw new Error('nothing was committed')
  for (const _ of tail.pieces());
  tail.markShipped()
  // Starts the next generation of the log, and writes far more than triggers a checkpoint.
  fill(writer, 60)
  const shipped = { header: range.header, frame: range.to, sum: range.end }
  const reopened = databaseFileAt(file)
  reopened.holdLog()
  // The state after a crash: the follower has acknowledged nothing.
  tail.close()
  fill(writer, 60)
  const log = await reopened.followLog(shipped)
  expect(log.continues).toBe(true)
  const next = await log.next()
  expect([next?.from, next?.header.salt1 === range.header.salt1]).toEqual([0, false])
  await log.close()
  const other = await databaseFileAt(file).followLog({ ...shipped, frame: range.to - 1 })
  expect(other.continues).toBe(false)
  await other.close()
})

test('a log that is checkpointed and stored does not restart with the next write, so it continues after a crash', async () => {
  const { file, connect } = createDatabase('all-in-file')
  using writer = connect()
  const fill = () => void writer.run('INSERT INTO blobs (x) VALUES (randomblob(9000))')
  const read = (): LogRange => {
    const range = tail.next()
    if (!range) throw new Error('nothing was committed')
    for (const _ of tail.pieces());
    return range
  }
  const tail = openLogTail(file)
  fill()
  read()
  // During the acknowledgement of the last part, later frames move into the file before they are read.
  fill()
  tail.markShipped()
  const range = read()
  tail.markShipped()
  fill()
  const reopened = databaseFileAt(file)
  reopened.holdLog()
  // The state after a crash.
  tail.close()
  const log = await reopened.followLog({ header: range.header, frame: range.to, sum: range.end })
  expect(log.continues).toBe(true)
  const next = await log.next()
  expect([next?.from, next?.header.salt1]).toEqual([range.to, range.header.salt1])
  await log.close()
})

test('a log that was fully checkpointed at a start may restart with the next write, and following continues', async () => {
  const { file, connect } = createDatabase('all-in-file-at-start')
  using writer = connect()
  const fill = () => void writer.run('INSERT INTO blobs (x) VALUES (randomblob(9000))')
  const tail = openLogTail(file)
  fill()
  const range = tail.next()
  if (!range) throw new Error('nothing was committed')
  for (const _ of tail.pieces());
  tail.markShipped()
  writer.run('PRAGMA wal_checkpoint(PASSIVE)')
  tail.close()
  const shipped = { header: range.header, frame: range.to, sum: range.end }
  const first = await databaseFileAt(file).followLog(shipped)
  expect(first.continues).toBe(true)
  fill()
  const reopened = databaseFileAt(file)
  reopened.holdLog()
  await first.close()
  const second = await reopened.followLog(shipped)
  expect(second.continues).toBe(true)
  expect((await second.next())?.from).toBe(0)
  await second.close()
})

test('a released log may be overwritten', () => {
  const { file, connect } = createDatabase('let-go')
  const database = databaseFileAt(file)
  using writer = connect()
  writer.run('INSERT INTO blobs (x) VALUES (randomblob(900000))')
  database.holdLog()
  const lengthAfter = () => {
    for (let row = 0; row < 50; row++) writer.run('INSERT INTO blobs (x) VALUES (randomblob(20000))')
    return database.sizes().logBytes
  }
  const heldLength = lengthAfter()
  expect(lengthAfter()).toBeGreaterThan(heldLength)
  database.releaseLog()
  lengthAfter()
  const free = lengthAfter()
  expect(lengthAfter()).toBe(free)
})

test("reading the log as a plain file releases none of SQLite's locks", () => {
  const { file, connect } = createDatabase('locks.db')
  using writer = connect()
  writer.run('BEGIN IMMEDIATE')
  writer.run('UPDATE counter SET n = n + 1')
  /** Only locks of this process on the files of this database: other tests open and close other files. */
  const inodes = new Set([file, `${file}-wal`, `${file}-shm`].map((name) => String(statSync(name).ino)))
  const ownLocks = () =>
    readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .map((line) => line.split(` ${process.pid} `)[1] ?? '')
      .filter((place) => inodes.has(place.split(' ')[0]?.split(':').at(-1) ?? ''))
      .sort()
  const before = ownLocks()
  expect(before.length).toBeGreaterThan(1)
  closeSync(openSync(`${file}-wal`, 'r'))
  expect(ownLocks()).toEqual(before)
  writer.run('COMMIT')
})

test('the log stays short while its target does not respond, and nothing is lost after crashes', async () => {
  const { file, connect } = createDatabase('waiting.db')
  const copy = `${file}.copy`
  copyFileSync(file, copy)
  using writer = connect()
  const options = { foldFrames: 50, rangeMaxBytes: 100_000 }
  const first = openLogTail(file, options)
  const pages = openPages(copy)
  writer.run('UPDATE counter SET n = n + 1')
  const range = first.next()
  if (!range) throw new Error('nothing was committed')
  applyRange(first, range, pages)
  let end: ShippedLog = { header: range.header, frame: range.to, sum: range.end }
  const lengths: number[] = []
  const fill = (tail: LogTail) => {
    for (let nth = 0; nth < 40; nth++) {
      for (let row = 0; row < 5; row++) writer.run('INSERT INTO blobs (x) VALUES (randomblob(30000))')
      writer.run('UPDATE counter SET n = n + 1')
      // Repeated requests, as for a target that does not respond, return the same part.
      if (nth % 10 === 0) tail.next()
      lengths.push(tail.checkpointLong().logBytes / 4_120)
    }
    return tail.checkpointLong().waitingBytes
  }
  expect(fill(first)).toBeGreaterThan(1_000_000)
  expect(Math.max(...lengths)).toBeLessThan(200)

  // The state after a crash, three times.
  let tail = first
  for (let crash = 0; crash < 3; crash++) {
    const reopened = databaseFileAt(file)
    reopened.holdLog()
    tail.close()
    tail = openLogTail(file, { ...options, shipped: end })
    reopened.releaseLog()
    expect(tail.continues).toBe(true)
    fill(tail)
    // The reader takes a part.
    for (let nth = 0; nth < 5; nth++) {
      const next = tail.next()
      if (!next) throw new Error('nothing is left to ship')
      applyRange(tail, next, pages)
      end = { header: next.header, frame: next.to, sum: next.end }
    }
  }
  for (let next = tail.next(); next; next = tail.next()) applyRange(tail, next, pages)
  expect(withCopy(copy, countOf)).toBe(countOf(writer))
  expect(withCopy(copy, rowsOf)).toEqual(rowsOf(writer))
  expect([withCopy(copy, integrityOf), tail.checkpointLong().waitingBytes]).toEqual(['ok', 0])
  pages.close()
  tail.close()
})

test('releasing the log removes its files and truncates the WAL', () => {
  const { file, connect } = createDatabase('given-up.db')
  using writer = connect()
  const tail = openLogTail(file, { foldFrames: 50 })
  for (let nth = 0; nth < 40; nth++) {
    writer.run('INSERT INTO blobs (x) VALUES (randomblob(30000))')
    tail.checkpointLong()
  }
  expect(readdirSync(`${file}-unshipped`).length).toBeGreaterThan(0)
  tail.discard()
  expect([statSync(`${file}-wal`).size, existsSync(`${file}-unshipped`)]).toEqual([0, false])
  tail.close()
})

test('a process killed in its first transaction of a restarted log does not lose the log', () => {
  const { file, connect } = createDatabase('killed-first.db')
  const tail = openLogTail(file, { foldFrames: 20 })
  using writer = connect()
  for (let nth = 0; nth < 30; nth++) writer.run('INSERT INTO blobs (x) VALUES (randomblob(9000))')
  for (let range = tail.next(); range; range = tail.next()) {
    for (const _ of tail.pieces());
    tail.markShipped()
  }
  // The next write restarts the log.
  const script = `
    const { Database } = require('bun:sqlite')
    const connection = new Database(process.argv[1])
    connection.run('PRAGMA cache_size = 1')
    connection.run('BEGIN IMMEDIATE')
    for (let nth = 0; nth < 50; nth++) connection.run('INSERT INTO blobs (x) VALUES (randomblob(9000))')
    process.kill(process.pid, 'SIGKILL')`
  Bun.spawnSync([process.execPath, '-e', script, file])
  using other = connect()
  other.run('UPDATE counter SET n = n + 1')
  expect(tail.next()?.from).toBe(0)
  tail.close()
})
