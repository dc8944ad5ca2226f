/** Follows the write-ahead log of a database that is in use, and sees that nothing of it is written over before it has been read. */
import { Database as Sqlite } from 'bun:sqlite'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { engineErrorCode, LogBroken, type LogHeader, type LogKept, type LogRange, type LogSum } from '../engine.ts'
import { follows, isSame } from './log.ts'
import { frameBytes, type Position, readFrames, readHeader, sumAt } from './log-file.ts'
import { packed } from './packing.ts'

export type LogTail = ReturnType<typeof openTail>

/** Read before it was asked for, so that the log may begin anew. */
type Carried = { readonly range: LogRange; readonly pieces: readonly (() => Uint8Array)[] }

export type TailOptions = {
  /** What is kept elsewhere already. */
  kept?: LogKept | undefined
  /** From so many frames on, the log is made to begin anew. */
  foldFrames?: number
  /** What is read ahead at most, and what of it under the write lock. */
  setAsideMaxBytes?: number
  lockedMaxBytes?: number
}

/** Half of what has the writer itself move the log into the file: that seldom comes to it. */
const foldFramesByDefault = 2_000
const setAsideMaxByDefault = 64 * 1024 * 1024
const lockedMaxByDefault = 4 * 1024 * 1024
const lockWaitMs = 500
const lockTriesMax = 20
const looksMax = 5
/** A log that begins anew is unsettled for an instant. */
const [unsettledMax, unsettledMs] = [100, 5]
/** Longer than two writes to a file may bear the same time. */
const tickMs = 20

/**
 * A reader of the log of `file`, beside whoever writes to it. SQLite may write over a frame only when it is in the file and nobody reads
 * from the log; so there is always a read transaction that began no later than what is kept elsewhere ends, and the next one is begun before the
 * last one ends. The log is opened as a plain file: SQLite's locks are on the database and its `-shm`, never on the log.
 */
export function openTail(
  file: string,
  {
    kept,
    foldFrames = foldFramesByDefault,
    setAsideMaxBytes = setAsideMaxByDefault,
    lockedMaxBytes = lockedMaxByDefault,
  }: TailOptions = {},
) {
  let held = connect(file, true)
  let spare = connect(file, true)
  const locker = connect(file, false)
  const checkpointer = connect(file, false)
  pin(held)
  let position = beginning()
  let pending: { range: LogRange; end?: Position } | undefined
  let carried: Carried | undefined

  function beginning(): Position {
    const header = readHeader(`${file}-wal`)
    return { header, frame: 0, sum: header?.sum ?? [0, 0] }
  }

  const counts = (mode: 'NOOP' | 'PASSIVE') => {
    const found = checkpointer.query<{ busy: number; log: number; checkpointed: number }, []>(`PRAGMA wal_checkpoint(${mode})`).get()
    return { frames: Math.max(0, found?.log ?? 0), inFile: Math.max(0, found?.checkpointed ?? 0) }
  }

  /** The log as it is, and how many of its frames are committed; undefined while it begins anew. */
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

  /** What was committed since `position`. @throws LogBroken */
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
    const known = position.header
    if (known && isSameLog(header, known)) return rangeTo(position, header, now.frames)
    // Its last frames were read before it could begin anew: that is what the read transaction was for.
    if (known && !follows(header, known)) throw new LogBroken('the log began anew more than once')
    return rangeTo({ header, frame: 0, sum: header.sum }, header, now.frames)
  }

  const rangeTo = ({ frame, sum }: Position, header: LogHeader, to: number): LogRange | undefined =>
    to > frame ? { header, from: frame, to, sum, end: sumAt(`${file}-wal`, header, to) } : undefined

  const isAllInFile = (): boolean => {
    const { frames, inFile } = counts('NOOP')
    return inFile === frames
  }

  /**
   * A new read transaction before the last one ends; where none can be had, the last one goes on. So it does where all of the log is in the file: it
   * began no earlier then, and a new one would read from the file alone, so that the next write might begin the log anew.
   */
  function renew(): void {
    if (!isAllInFile()) repin()
  }

  function repin(): void {
    if (!isLocked(spare, pin)) return
    const last = held
    held = spare
    spare = last
    unpin(spare)
  }

  /**
   * Moves the log into the file and lets the next write begin it anew. Nobody writes for as long as it takes to read, and to move, what was
   * written since the last look.
   */
  function fold(): void {
    if (isFolded()) noteLife()
  }

  /** @returns whether the next write begins the log anew */
  function isFolded(): boolean {
    const { frames, inFile } = counts('PASSIVE')
    // Where somebody else reads from the log, it would be for nothing.
    if (frames < foldFrames || inFile < position.frame || !setAside(setAsideMaxBytes, ready)) return false
    if (!isLocked(locker, lock)) return false
    try {
      if (!setAside(lockedMaxBytes, later)) return false
      renew()
      const moved = counts('PASSIVE')
      // Everything is in the file: a read transaction that begins now does not read from the log, and the next write may begin it anew.
      const isMoved = moved.frames === position.frame && moved.inFile === moved.frames
      if (isMoved) repin()
      return isMoved
    } finally {
      locker.run('ROLLBACK')
    }
  }

  /**
   * Notes beside the file where a life of the log ended, and what the file was then. Until something of the next life is kept, the read transaction,
   * which reads from the file alone, keeps everybody from moving anything into it: whoever finds it so after a crash knows that nothing is missing
   * between that end and the log that is there.
   */
  function noteLife(): void {
    const { header, frame, sum } = position
    if (!header || !toNanoseconds(file)) return
    Bun.sleepSync(tickMs)
    const end: LifeEnd = { salt1: header.salt1, salt2: header.salt2, frame, sum, mark: markOf(file) }
    try {
      writeFileSync(lifeFileOf(file), JSON.stringify(end), { mode: 0o600 })
    } catch {
      // Without it a start begins with a new copy.
    }
  }

  /** Reads what was committed meanwhile. False where that is more than is kept in memory, or the log is another one by now. */
  function setAside(maxBytes: number, pack: (piece: Uint8Array) => () => Uint8Array): boolean {
    const now = look()
    if (!now?.header || !position.header || !isSameLog(now.header, position.header) || now.frames < position.frame) return false
    const range = rangeTo(position, now.header, now.frames)
    if (!range) return true
    if ((range.to - range.from) * frameBytes(range.header) > maxBytes) return false
    const reading = readFrames(`${file}-wal`, range)
    const pieces: (() => Uint8Array)[] = []
    for (;;) {
      const { done, value } = reading.next()
      if (done) {
        position = value
        break
      }
      pieces.push(pack(value))
    }
    carried = carried
      ? { range: { ...carried.range, to: range.to, end: range.end }, pieces: [...carried.pieces, ...pieces] }
      : { range, pieces }
    return true
  }

  /**
   * Goes on where what is kept ends, if nothing can be missing in between: the log is in the same life, and what is kept is in it; or the file is as
   * it was when all of that was in it, so that the log holds what came later. That is read while nobody writes: a log that is in the file by now
   * could begin anew with the next write.
   */
  function goOn(kept: LogKept): boolean {
    const { header, frame, sum, mark = markOfLife(file, kept), markWhenHeld } = kept
    // Where many write, the first who asks need not be the first who is let in.
    if (!Array.from({ length: lockTriesMax }).some(() => isLocked(locker, lock))) return false
    const before = position
    try {
      const now = look()
      if (!now) return false
      if (now.header && isSameLog(now.header, header)) {
        if (now.frames < frame || !isSame(sumAt(`${file}-wal`, now.header, frame), sum)) return false
        position = { header: now.header, frame, sum }
      } else {
        if (mark === undefined || (mark !== markOf(file) && mark !== markWhenHeld)) return false
        position = { header: now.header, frame: 0, sum: now.header?.sum ?? [0, 0] }
      }
      const isRead = now.frames === position.frame || setAside(setAsideMaxBytes, later)
      if (isRead) renew()
      else position = before
      return isRead
    } catch (error) {
      if (!(error instanceof LogBroken)) throw error
      position = before
      return false
    } finally {
      locker.run('ROLLBACK')
    }
  }

  const isAllKept = (now: ReturnType<typeof look>): boolean => {
    if (carried || pending || !now) return false
    const { header, frame } = position
    return now.header && header ? isSameLog(now.header, header) && now.frames === frame : now.header === header
  }

  const goesOn = kept !== undefined && goOn(kept)
  // The first read transaction reads from the file alone where all of the log was in it.
  if (goesOn && isAllInFile()) noteLife()

  return {
    /** Whether it goes on where what was given as kept ends. */
    goesOn,
    /** See `CommitLog`. */
    finish(): string | undefined {
      if (!isLocked(locker, lock)) return undefined
      try {
        if (!isAllKept(look())) return undefined
        renew()
        const { frames, inFile } = counts('PASSIVE')
        if (inFile < frames) return undefined
        Bun.sleepSync(tickMs)
        return toNanoseconds(file) ? markOf(file) : undefined
      } finally {
        locker.run('ROLLBACK')
      }
    },
    /**
     * The commits that were made since the last that were kept, or those that were asked for and not kept; undefined where there are none.
     * @throws LogBroken
     */
    next(): LogRange | undefined {
      if (carried) return { ...carried.range, setAside: true }
      const range = pending?.range ?? rangeNow()
      pending = range && { range }
      return range
    },
    /** Their frames, each held against the one before, packed in pieces. @throws LogBroken */
    *pieces(): Generator<Uint8Array> {
      if (carried) {
        for (const piece of carried.pieces) yield piece()
        return
      }
      if (!pending) return
      const reading = readFrames(`${file}-wal`, pending.range)
      for (;;) {
        const { done, value } = reading.next()
        if (done) {
          pending.end = value
          return
        }
        yield packed(value)
      }
    },
    /** What `next` gave is kept elsewhere: the log may be written over up to there. */
    kept(): void {
      if (carried) {
        carried = undefined
        return
      }
      if (!pending?.end) throw new Error('what was not read is not kept')
      position = pending.end
      pending = undefined
      renew()
      fold()
    },
    /** Bytes of the log. */
    logBytes: () => counts('NOOP').frames * (position.header ? frameBytes(position.header) : 0),
    close(): void {
      for (const connection of [held, spare, locker, checkpointer]) connection.close()
    },
  }
}

function ready(piece: Uint8Array): () => Uint8Array {
  const done = packed(piece)
  return () => done
}

/** Packing takes longer than reading: not while others wait. */
function later(piece: Uint8Array): () => Uint8Array {
  const copy = new Uint8Array(piece)
  return () => packed(copy)
}

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

/** Begins a read transaction: as long as it lasts, no frame of the log that is there is written over. */
export function pin(connection: Sqlite): void {
  connection.run('BEGIN')
  // It begins with the first thing that is read.
  connection.query('SELECT 1 FROM sqlite_schema LIMIT 1').get()
}

const unpin = (connection: Sqlite) => void connection.run('COMMIT')

/** From then on nobody else writes. */
const lock = (connection: Sqlite) => void connection.run('BEGIN IMMEDIATE')

/** Where a life of the log ended, and the mark of the file when all of that was in it. */
type LifeEnd = Pick<LogHeader, 'salt1' | 'salt2'> & { readonly frame: number; readonly sum: LogSum; readonly mark: string }
const lifeFileOf = (file: string): string => `${file}-life`

/** The mark that was noted when the log's life ended where `kept` ends; undefined where none was, or that of another end. */
function markOfLife(file: string, { header, frame, sum }: LogKept): string | undefined {
  try {
    const end = JSON.parse(readFileSync(lifeFileOf(file), 'utf8')) as LifeEnd
    return isSameLog({ ...header, ...end }, header) && end.frame === frame && isSame(end.sum, sum) ? end.mark : undefined
  } catch {
    return undefined
  }
}

/** Tells a file from another one, and from what it was before anything was written to it. */
export function markOf(file: string): string {
  const { ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true })
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`
}

/** Whether the file system tells times exactly enough: of one that tells whole seconds, two writes may bear the same. */
const toNanoseconds = (file: string): boolean => statSync(file, { bigint: true }).mtimeNs % 1_000_000_000n !== 0n

/** Takes a lock; false where it cannot be had now. */
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
