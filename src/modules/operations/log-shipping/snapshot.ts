/** Copies the database file once a day, and removes the files that the new snapshot replaces. */
import { dayMs } from '../../../lib/day.ts'
import { withDigest } from '../../../lib/digest.ts'
import { pagesName, removableFiles, snapshotName } from './domain.ts'
import { emptyFile, type SnapshotHead, withHeader } from './file-headers.ts'
import { shipKeys } from './segments.ts'
import { listShipped } from './session.ts'
import { retryMaxMs, type Shipper, type ShippingSession, type SnapshotCopy } from './shipper.ts'

const snapshotEveryMs = dayMs
/** A restore applies at most this much log to a snapshot. */
const sinceSnapshotMaxBytes = 1024 * 1024 * 1024

/** Starts a snapshot if one is due. Shipping continues meanwhile. */
export function startSnapshotIfDue(shipper: Shipper, session: ShippingSession): void {
  const at = session.time.now()
  const isDue =
    session.snapshotAt === undefined ||
    session.bytesSince > sinceSnapshotMaxBytes ||
    (at - session.snapshotAt > snapshotEveryMs && (session.lastAt ?? 0) > session.snapshotAt)
  if (session.copying || !isDue || at < session.copyAfter || shipper.isStopping) return
  session.copying = { first: session.lifeBegan, begunAt: at }
  session.bytesSince = 0
  void copyPages(shipper, session, session.copying)
}

async function copyPages(shipper: Shipper, session: ShippingSession, copying: SnapshotCopy): Promise<void> {
  let sha256 = ''
  const pages = withDigest(session.log.file(), (digest) => {
    sha256 = digest
  })
  const name = pagesName({ generation: session.generation, begunAt: copying.begunAt })
  try {
    const bytes = await session.store.put(name, pages, shipper.options.sizes().bytes)
    copying.content = { bytes, sha256 }
  } catch (error) {
    session.copying = undefined
    session.copyAfter = session.time.now() + retryMaxMs
    if (!shipper.isStopping && shipper.session === session) shipper.deps.log.warn('log_shipping.snapshot_failed', { error })
  }
}

/** Publishes a snapshot. All commits until the end of its copy must be shipped. */
export async function publishSnapshot(shipper: Shipper, session: ShippingSession, copied: Required<SnapshotCopy>): Promise<void> {
  const { log, build, logShipping: status } = shipper.deps
  const { first, begunAt, content } = copied
  await shipKeys(shipper, session)
  const last = session.next - 1
  // Without a commit since the copy started, the snapshot is of that moment.
  const at = last >= first ? (session.lastAt ?? begunAt) : begunAt
  const head: SnapshotHead = { format: 1, ...content, version: build.version }
  await session.store.put(snapshotName({ generation: session.generation, first, last, at, begunAt }), withHeader(head, emptyFile()))
  session.copying = undefined
  session.snapshotAt = begunAt
  status.snapshotAt = begunAt
  log.info('log_shipping.snapshot', { generation: session.generation, bytes: content.bytes, ms: session.time.now() - begunAt })
  // Runs in the background, since a day has thousands of segments.
  void removeOldFiles(shipper, session)
}

async function removeOldFiles(shipper: Shipper, session: ShippingSession): Promise<void> {
  if (session.isRemovingFiles) return
  session.isRemovingFiles = true
  const { config, log } = shipper.deps
  try {
    const keepFrom = session.time.certainlyPast() - config.shipLogDays * dayMs
    const { names } = await listShipped(session.store, shipper.options.instance)
    for (const name of removableFiles(names, { keepFrom, current: session.generation, begunAt: session.copying?.begunAt })) {
      if (shipper.isStopping || shipper.session !== session) return
      await session.store.delete(name)
    }
  } catch (error) {
    log.warn('log_shipping.nothing_removed', { error })
  } finally {
    session.isRemovingFiles = false
  }
}
