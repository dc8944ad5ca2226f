/** Watches the length of the log and the free disk space, and releases the log before it fills the disk. */
import { LogReleased, loseLog, withLog } from './session.ts'
import type { Shipper, ShippingSession } from './shipper.ts'

/** How often log length and disk space are checked. */
const watchMs = 250
/** Above this length the log is released, so that the shop keeps free disk space. */
const heldBytesDefault = 512 * 1024 * 1024
/** The share of the limit while free disk space is below `DISK_FREE_MIN_MB`; at most half of the free space. */
const lowDiskShare = 1 / 8
/** Ships at once, before the interval has passed. */
const waitingMaxBytes = 8 * 1024 * 1024

/** Checks the log and the disk until stopped, independent of the store. */
export async function watchLog(shipper: Shipper): Promise<void> {
  for (;;) {
    await shipper.deps.sleep(watchMs)
    if (shipper.isStopping) return
    const { session } = shipper
    if (!session && shipper.options.sizes().logBytes > heldMax(shipper)) shipper.options.releaseLog()
    if (session && session.lostBy === undefined) await checkLog(shipper, session)
  }
}

async function checkLog(shipper: Shipper, session: ShippingSession): Promise<void> {
  try {
    const { logBytes, waitingBytes, isHeldByOthers } = await withLog(session, () => session.log.checkpointLong())
    // The log itself does not count while other readers hold it.
    const heldBytes = waitingBytes + (isHeldByOthers ? 0 : logBytes)
    if (heldBytes > heldMax(shipper)) loseLog(session, new LogReleased(`${heldBytes} bytes of the log are not shipped`))
    if (waitingBytes > waitingMaxBytes && shipper.failures === 0) shipper.woken.resolve()
  } catch (error) {
    shipper.deps.log.debug('log_shipping.check_failed', { error })
  }
  if (session.lostBy !== undefined) shipper.woken.resolve()
}

/** Returns how much log may be held on the disk. */
function heldMax({ deps, options: { heldMaxBytes = heldBytesDefault } }: Shipper): number {
  const free = deps.diskFree() ?? Number.POSITIVE_INFINITY
  return free < deps.config.diskFreeMinBytes ? Math.min(heldMaxBytes * lowDiskShare, free / 2) : heldMaxBytes
}
