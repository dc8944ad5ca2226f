/** Uploads the commits of the log as segments, and the key file before anything that a new key seals. */
import type { LogRange } from '../../../../db/engine.ts'
import { textChunks } from '../backup/index.ts'
import { saltsOf } from './continue-generation.ts'
import { segmentName, shippedKeysName } from './domain.ts'
import { type SegmentHead, withHeader } from './file-headers.ts'
import { loseLog, withLog } from './session.ts'
import type { Shipper, ShippingSession } from './shipper.ts'

/** Ships pending commits. Returns the moment up to which all commits are stored. */
export async function shipCommits(shipper: Shipper, session: ShippingSession): Promise<number> {
  for (;;) {
    const readFrom = shipper.deps.clock.now()
    const ranges = await withLog(session, () => session.log.read())
    for (let nth = 0; nth < ranges; nth++) {
      const range = await withLog(session, () => session.log.next())
      if (range) await shipRange(shipper, session, range)
    }
    // At the stop, ships until nothing is left.
    if (ranges === 0 || !shipper.isStopping) return readFrom
  }
}

async function shipRange(shipper: Shipper, session: ShippingSession, range: LogRange): Promise<void> {
  await shipKeys(shipper, session)
  // A retry uses the same name and content, since a failed write may have been stored.
  session.pending ??= { index: session.next, at: session.time.now() }
  const { index, at } = session.pending
  const { header, from, to, sum, end } = range
  const head: SegmentHead = { format: 1, generation: session.generation, index, at, header, from, to, sum, end }
  session.bytesSince += await session.store.put(segmentName(head), withHeader(head, piecesOf(session)))
  const salts = saltsOf(header)
  if (salts !== session.salts) session.lifeBegan = index
  session.salts = salts
  session.pending = undefined
  session.next = index + 1
  session.lastAt = at
  await withLog(session, () => session.log.markShipped())
}

/** Reads the frames of the range. A failure means that the log is lost. */
async function* piecesOf(session: ShippingSession): AsyncGenerator<Uint8Array> {
  try {
    yield* session.log.pieces()
  } catch (error) {
    loseLog(session, error)
    throw error
  }
}

/** Stores the key file if it changed. Runs after commits were read, so it precedes anything sealed with a new key. */
export async function shipKeys({ deps, options }: Shipper, session: ShippingSession): Promise<void> {
  let keys: string | undefined
  try {
    keys = options.keysText()
    session.areKeysMissing = false
  } catch (error) {
    // Other checks report a missing key file. The log is shipped without it.
    if (!session.areKeysMissing) deps.log.warn('log_shipping.no_keys', { error })
    session.areKeysMissing = true
  }
  if (keys === undefined || keys === session.keysShipped) return
  await session.store.put(shippedKeysName(options.instance), textChunks(keys))
  session.keysShipped = keys
}
