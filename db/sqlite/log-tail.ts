/** Follows the write-ahead log of a database in use. Nothing of the log is overwritten before it has been read. */
import { Database as Sqlite } from 'bun:sqlite'
import { engineErrorCode, LogBroken, type LogHeader, type LogLengths, type LogRange, type ShippedLog } from '../engine.ts'
import { packPiece } from './framing.ts'
import { follows, isSameSum } from './log.ts'
import { freshMarkOf, markOf, markOfLife, noteLifeEnd } from './log-end.ts'
import { commitNear, frameBytes, type Position, readFrames, readHeader, sumAt } from './log-file.ts'
import { joinedOf, type LogEnd, openSpool, type Segment } from './log-spool.ts'

export type LogTail = ReturnType<typeof openLogTail>

type TailOptions = {
  /** The shipped part. */
  shipped?: ShippedLog | undefined
  /** Number of frames from which the log is restarted. */
  foldFrames?: number
  /** Approximate maximum size of a range. */
  rangeMaxBytes?: number
  /** Maximum bytes read under the write lock, unless the log is longer than `longBytes`. */
  lockedMaxBytes?: number
  longBytes?: number
  /** Maximum bytes that a start reads under the write lock. */
  startMaxBytes?: number
}

/** Half of the writer's own autocheckpoint, which is therefore rare. */
const foldFramesByDefault = 2_000
const megabyte = 1024 * 1024
/** After this many rounds, the rest is read under the write lock. */
const roundsMax = 8
const lockWaitMs = 500
const lockTriesMax = 20
const looksMax = 5
/** A restarting log is inconsistent for a moment. */
const [unsettledMax, unsettledMs] = [100, 5]

/**
 * Reads the write-ahead log of `file` while other connections write. SQLite overwrites a frame only once it is in the
 * database file and no read transaction needs it, so one read transaction is always open. A new one begins before the
 * old one ends. The log is opened as a plain file: SQLite's locks are on the database and its `-shm`, never on the log.
 *
 * Ranges wait in `queue` until they are shipped: short ones in memory, long ones in the spool. Before the log restarts,
 * all are in the spool, so a crash loses nothing.
 */
export function openLogTail(
  file: string,
  {
    shipped,
    foldFrames = foldFramesByDefault,
    rangeMaxBytes = 32 * megabyte,
    lockedMaxBytes = 4 * megabyte,
    longBytes = 64 * megabyte,
    startMaxBytes = 256 * megabyte,
  }: TailOptions = {},
) {
  let held = connect(file, true)
  let spare = connect(file, true)
  const locker = connect(file, false)
  const checkpointer = connect(file, false)
  const spool = openSpool(file)
  const queue: Segment[] = []
  /** Whether the first range of the queue was handed out. It must not change until it is shipped. */
  let isFirstTaken = false
  /** Another connection's read prevents the log from restarting. */
  let isHeldByOthers = false
  let pinned: { header: LogHeader | undefined; frames: number } = { header: undefined, frames: 0 }
  pin(held)
  let position = startPosition()
  /** The end of the last range in the queue or, if it is empty, of the last shipped range. */
  let lastEnd = endAt(position)

  function startPosition(): Position {
    const header = readHeader(`${file}-wal`)
    return { header, frame: 0, sum: header?.sum ?? [0, 0] }
  }

  const counts = (mode: 'NOOP' | 'PASSIVE') => {
    const found = checkpointer.query<{ busy: number; log: number; checkpointed: number }, []>(`PRAGMA wal_checkpoint(${mode})`).get()
    return { frames: Math.max(0, found?.log ?? 0), inFile: Math.max(0, found?.checkpointed ?? 0) }
  }

  const bytesOf = (frames: number) => (position.header ? frames * frameBytes(position.header) : 0)

  /** Returns the log's header and number of committed frames; undefined while it restarts. */
  function look(): { header: LogHeader | undefined; frames: number } | undefined {
    for (let looks = 0; looks < looksMax; looks++) {
      const before = readHeader(`${file}-wal`)
      const { frames } = counts('NOOP')
      const after = readHeader(`${file}-wal`)
      if (before === undefined && after === undefined && frames === 0) return { header: undefined, frames }
      if (before && after && isSameLog(before, after)) return { header: after, frames }
    }
    return undefined
  }

  /** Returns the range of new commits. @throws LogBroken */
  function rangeNow(waits = unsettledMax): LogRange | undefined {
    const now = look()
    const header = now?.header
    const isSettled = now !== undefined && !(header && position.header && isSameLog(header, position.header) && now.frames < position.frame)
    if (!isSettled) {
      if (waits === 0) throw new LogBroken('the log cannot be read')
      Bun.sleepSync(unsettledMs)
      return rangeNow(waits - 1)
    }
    if (!header) return undefined
    const lastHeader = position.header
    if (lastHeader && isSameLog(header, lastHeader)) return rangeTo(position, header, now.frames)
    // The log restarted after its last frames were read. After a crash in the first transaction of a restarted log,
    // SQLite picks new salts. Nothing is missing if the database file has not changed since.
    if (lastHeader && !follows(header, lastHeader) && markOfLife(file, lastEnd) !== markOf(file))
      throw new LogBroken('the log restarted more than once')
    return rangeTo({ header, frame: 0, sum: header.sum }, header, now.frames)
  }

  const rangeTo = ({ frame, sum }: Position, header: LogHeader, to: number): LogRange | undefined =>
    to > frame ? { header, from: frame, to, sum, end: sumAt(`${file}-wal`, header, to) } : undefined

  const isAllInFile = (): boolean => {
    const { frames, inFile } = counts('NOOP')
    return inFile === frames
  }

  function pinHeld(connection: Sqlite): void {
    pin(connection)
    pinned = look() ?? { header: undefined, frames: 0 }
  }

  /**
   * Replaces the open read transaction by a newer one, which begins first. Keeps the old one
   * - if the new one cannot begin because of a lock;
   * - until all that it sees is shipped or in the spool;
   * - until a part of the restarted log was read: a start after a crash looks for the file as it was at the restart;
   * - if the whole log is in the file: a new one would let the next write restart the log.
   */
  function renew(): void {
    const now = look()
    const isOfThisLife = now?.header !== undefined && position.header !== undefined && isSameLog(now.header, position.header)
    const isRead = !(pinned.header && position.header && isSameLog(pinned.header, position.header)) || position.frame >= pinned.frames
    if (isOfThisLife && isRead && queue.every(({ drop }) => drop) && !isAllInFile()) repin()
  }

  function repin(): void {
    if (!isLocked(spare, pinHeld)) return
    const last = held
    held = spare
    spare = last
    unpin(spare)
  }

  /** Reads a range into memory. @throws LogBroken */
  function remember(range: LogRange): void {
    const [pieces, after]: [Uint8Array[], LogEnd | null] = [[], lastEnd]
    for (const piece of readAndMove(range)) pieces.push(piece)
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0)
    queue.push({ range, after, pieces: pieces.map((piece) => () => piece), bytes })
  }

  /** Reads a range into the spool, in parts. @throws LogBroken */
  function spoolRange(range: LogRange): void {
    persist()
    const { header, to } = range
    const stepFrames = Math.max(1, Math.floor(rangeMaxBytes / frameBytes(header)))
    for (let at = range; at.from < to; ) {
      const end = commitNear(`${file}-wal`, header, { from: at.from, wanted: at.from + stepFrames, to })
      const part = { ...at, to: end, end: sumAt(`${file}-wal`, header, end) }
      queue.push(spool.put(part, lastEnd, readAndMove(part)))
      at = { ...range, from: end, sum: part.end }
    }
  }

  /** Yields compressed frames, and moves `position` to the end. */
  function* readAndMove(range: LogRange): Generator<Uint8Array> {
    const reading = readFrames(`${file}-wal`, range)
    for (;;) {
      const { done, value } = reading.next()
      if (done) {
        position = value
        lastEnd = endAt(value)
        return
      }
      yield packPiece(value)
    }
  }

  /** Writes ranges in memory to disk. */
  function persist(): void {
    for (const [nth, { range, after, pieces, drop }] of queue.entries())
      if (!drop)
        queue[nth] = spool.put(
          range,
          after,
          pieces.map((piece) => piece()),
        )
  }

  function read(): number {
    const range = rangeNow()
    if (range && range.to - range.from < foldFrames) remember(range)
    else if (range) spoolRange(range)
    joinWaiting()
    return queue.length
  }

  /** Joins adjacent spooled ranges, so that fewer are shipped. */
  function joinWaiting(): void {
    for (let nth = isFirstTaken ? 1 : 0; nth + 1 < queue.length; ) {
      const joined = joinedOf(queue[nth] as Segment, queue[nth + 1] as Segment)
      const isShort = joined && (joined.range.to - joined.range.from) * frameBytes(joined.range.header) <= rangeMaxBytes
      if (joined && isShort) queue.splice(nth, 2, joined)
      else nth++
    }
  }

  /** Checkpoints a long log, so that the next write restarts it. @throws LogBroken */
  function fold(): void {
    isHeldByOthers = false
    if ((look()?.frames ?? 0) < foldFrames) return
    catchUp()
    renew()
    counts('PASSIVE')
    if (!isLocked(locker, lock)) return
    try {
      const range = rangeNow()
      const behind = range ? bytesOf(range.to - range.from) : 0
      if (behind > lockedMaxBytes && bytesOf(counts('NOOP').frames) <= longBytes) return
      if (range) spoolRange(range)
      renew()
      const moved = counts('PASSIVE')
      // Everything is in the file: a read transaction that begins now does not read from the log, and the next write
      // may begin it anew.
      const isMoved = moved.frames === position.frame && moved.inFile === moved.frames
      isHeldByOthers = !isMoved
      if (!isMoved) return
      repin()
      // This read transaction blocks checkpoints until the first range of the restarted log is durable.
      if (lastEnd) noteLifeEnd(file, lastEnd)
    } finally {
      locker.run('ROLLBACK')
    }
  }

  /** Spools new commits until few are left, while others write. */
  function catchUp(): void {
    persist()
    for (let round = 0; round < roundsMax; round++) {
      const range = rangeNow()
      if (!range) return
      if (bytesOf(range.to - range.from) <= lockedMaxBytes) return
      spoolRange(range)
    }
  }

  /**
   * Continues after the shipped or spooled frames. Returns false if commits may be missing in between. That is excluded
   * if the log still contains those frames, or if the file has not changed since it contained all of them. Reads under
   * the write lock: a log that is wholly in the file could restart with the next write.
   */
  function continueAfter(shipped: ShippedLog): boolean {
    const waiting = spool.load(endAt(shipped))
    const last = waiting.at(-1)?.range
    const { header, frame, sum } = last ? { header: last.header, frame: last.to, sum: last.end } : shipped
    const end = endAt({ header, frame, sum })
    const mark = (last ? undefined : shipped.mark) ?? markOfLife(file, end)
    // With many writers, the lock may need several tries.
    if (!Array.from({ length: lockTriesMax }).some(() => isLocked(locker, lock))) return false
    const before = position
    try {
      const now = look()
      if (!now) return false
      if (now.header && isSameLog(now.header, header)) {
        if (now.frames < frame || !isSameSum(sumAt(`${file}-wal`, now.header, frame), sum)) return false
        position = { header: now.header, frame, sum }
      } else {
        if (mark === undefined || (mark !== markOf(file) && mark !== shipped.markWhenHeld)) return false
        position = { header: now.header, frame: 0, sum: now.header?.sum ?? [0, 0] }
      }
      lastEnd = end
      queue.push(...waiting)
      const range = now.header && rangeTo(position, now.header, now.frames)
      const isRead = !range || (range.to - range.from) * frameBytes(range.header) <= startMaxBytes
      if (isRead && range) spoolRange(range)
      if (isRead) renew()
      else forget(before)
      return isRead
    } catch (error) {
      if (!(error instanceof LogBroken)) throw error
      forget(before)
      return false
    } finally {
      locker.run('ROLLBACK')
    }
  }

  function forget(before: Position): void {
    position = before
    lastEnd = endAt(before)
    queue.length = 0
  }

  pinned = look() ?? pinned
  const continues = shipped !== undefined && continueAfter(shipped)
  if (!continues) spool.clear()
  // If the whole log was in the file, the first read transaction does not use the log.
  if (continues && lastEnd && isAllInFile()) noteLifeEnd(file, lastEnd)

  return {
    continues,
    finish(): string | undefined {
      if (!isLocked(locker, lock)) return undefined
      try {
        const isAllKept = queue.length === 0 && rangeNow() === undefined
        if (!isAllKept) {
          const range = rangeNow()
          if (range) spoolRange(range)
          persist()
        }
        renew()
        const { frames, inFile } = counts('PASSIVE')
        if (inFile < frames) return undefined
        if (isAllKept) return freshMarkOf(file)
        if (lastEnd) noteLifeEnd(file, lastEnd)
        return undefined
      } finally {
        locker.run('ROLLBACK')
      }
    },
    read,
    /** Returns the first unshipped range; undefined if there is none. @throws LogBroken */
    next(): LogRange | undefined {
      if (queue.length === 0) read()
      isFirstTaken = queue.length > 0
      return queue[0]?.range
    },
    *pieces(): Generator<Uint8Array> {
      for (const piece of queue[0]?.pieces ?? []) yield piece()
    },
    markShipped(): void {
      const done = queue.shift()
      if (!done) throw new Error('no range is waiting to be marked as shipped')
      isFirstTaken = false
      done.drop?.()
      renew()
      fold()
    },
    /** Checkpoints a long log so that it restarts, and returns the lengths. @throws LogBroken */
    checkpointLong(): LogLengths {
      fold()
      return {
        logBytes: bytesOf(counts('NOOP').frames),
        waitingBytes: queue.reduce((sum, { bytes, drop }) => sum + (drop ? bytes : 0), 0),
        isHeldByOthers,
      }
    },
    /** Discards what is not shipped, then checkpoints and truncates the log. */
    discard(): void {
      queue.length = 0
      spool.clear()
      for (const connection of [held, spare]) if (connection.inTransaction) unpin(connection)
      counts('PASSIVE')
      // With many writers, the lock may need several tries.
      for (let tries = 0; tries < lockTriesMax; tries++)
        if (checkpointer.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0) return
    },
    close(): void {
      for (const connection of [held, spare, locker, checkpointer]) connection.close()
    },
  }
}

const endAt = ({ header, frame, sum }: Position): LogEnd | null =>
  header ? { salt1: header.salt1, salt2: header.salt2, frame, sum } : null

const isSameLog = (one: LogHeader, other: LogHeader) => one.salt1 === other.salt1 && one.salt2 === other.salt2

function connect(file: string, readonly: boolean): Sqlite {
  const connection = readonly ? new Sqlite(file, { readonly }) : new Sqlite(file, { readwrite: true })
  for (const pragma of [
    `busy_timeout = ${lockWaitMs}`,
    'trusted_schema = 0',
    'wal_autocheckpoint = 0',
    'synchronous = FULL',
    'cache_size = -64',
  ])
    connection.run(`PRAGMA ${pragma}`)
  return connection
}

/** Starts a read transaction; existing log frames are not overwritten while it lasts. */
export function pin(connection: Sqlite): void {
  connection.run('BEGIN')
  // A transaction starts with its first read.
  connection.query('SELECT 1 FROM sqlite_schema LIMIT 1').get()
}

const unpin = (connection: Sqlite) => void connection.run('COMMIT')

const lock = (connection: Sqlite) => void connection.run('BEGIN IMMEDIATE')

/** Takes a lock; returns false if it is busy. */
function isLocked(connection: Sqlite, take: (connection: Sqlite) => void): boolean {
  try {
    take(connection)
    return true
  } catch (error) {
    if (connection.inTransaction) connection.run('ROLLBACK')
    if (engineErrorCode(error)?.startsWith('SQLITE_BUSY')) return false
    throw error
  }
}
