import { LogBroken } from '../../../../db/engine.ts'
import { createShipperClaim, OtherShipperActive, TargetChanged } from './claim.ts'
import { writeEndRecord } from './continue-generation.ts'
import { watchLog } from './log-watch.ts'
import { shipCommits } from './segments.ts'
import { startSession } from './session.ts'
import { retryMaxMs, type Shipper, type ShippingDeps, type ShippingOptions, type ShippingSession } from './shipper.ts'
import { publishSnapshot, startSnapshotIfDue } from './snapshot.ts'

const stopMaxMs = 8_000
const finishMaxMs = 2_000

/**
 * Ships commits to a store until stopped. A slow, full or missing store delays no request.
 * After the log is lost, a new generation with a new snapshot starts.
 */
export function startShipping(deps: ShippingDeps, options: ShippingOptions): { stop(): Promise<void> } {
  const shipper: Shipper = {
    deps,
    options,
    claim: createShipperClaim(deps, options.instance, options.shipper),
    session: undefined,
    timeline: undefined,
    isFirstSession: true,
    failures: 0,
    isStopping: false,
    woken: Promise.withResolvers(),
  }
  deps.logShipping.isOn = true
  const running = shipUntilStopped(shipper)
  void watchLog(shipper)
  return {
    async stop() {
      shipper.isStopping = true
      shipper.woken.resolve()
      await Promise.race([running, deps.sleep(stopMaxMs)])
      const { session } = shipper
      if (!session) return
      // The store did not take everything; the next start continues from the disk.
      await Promise.race([session.log.finish().catch(() => undefined), deps.sleep(finishMaxMs)])
      await session.log.close()
    },
  }
}

async function shipUntilStopped(shipper: Shipper): Promise<void> {
  const { deps, options, claim } = shipper
  const { log } = deps
  for (;;) {
    const isLast = shipper.isStopping
    try {
      shipper.session ??= await startSession(shipper)
      await Promise.race([shipRound(shipper, shipper.session), shipper.session.lost.promise])
      if (shipper.failures > 0) log.info('log_shipping.works', { after: shipper.failures })
      shipper.failures = 0
    } catch (error) {
      await handleFailure(shipper, error)
      shipper.failures++
    }
    if (isLast) break
    const { failures } = shipper
    const waitMs = failures === 0 ? options.everyMs : Math.max(options.everyMs, Math.min(retryMaxMs, options.everyMs * 2 ** failures))
    await Promise.race([deps.sleep(waitMs), shipper.woken.promise])
    shipper.woken = Promise.withResolvers()
  }
  const { session } = shipper
  if (!session) return
  await claim.release(session.store).catch((error: unknown) => log.warn('log_shipping.claim_left', { error }))
  if (shipper.failures > 0) await session.log.finish().catch(() => undefined)
  await session.log.close()
  shipper.session = undefined
}

async function shipRound(shipper: Shipper, session: ShippingSession): Promise<void> {
  const { deps, options, claim } = shipper
  await claim.renew(session.store)
  // Read first: all commits until the end of a complete copy are shipped afterwards.
  const copied = session.copying?.content ? { ...session.copying, content: session.copying.content } : undefined
  const upTo = await shipCommits(shipper, session)
  if (copied) await publishSnapshot(shipper, session, copied)
  if (session.snapshotAt !== undefined) deps.logShipping.shippedAt = upTo
  startSnapshotIfDue(shipper, session)
  if (!shipper.isStopping) return
  const { generation, next } = session
  await writeEndRecord(session.store, options.instance, { generation, next, mark: await session.log.finish() })
}

/** Logs a failure, and ends the session if its log is lost or another shipper may be active. */
async function handleFailure(shipper: Shipper, error: unknown): Promise<void> {
  const { log, logShipping: status } = shipper.deps
  const { session, failures } = shipper
  status.failures++
  if (error instanceof TargetChanged || error instanceof OtherShipperActive) {
    if (error instanceof TargetChanged)
      log.error('log_shipping.place_changed', {
        to: session?.store.place,
        advice: 'The shipped log is missing, or another disk is mounted. Check the mount. Shipping restarts with a new snapshot',
      })
    else if (session || failures === 0)
      log.error('log_shipping.another_ships', {
        advice:
          'Two instances ship the log of the same data. Unset SHIP_LOG_SECONDS in the copy. This instance ships nothing until the other one is silent for three minutes',
      })
    await session?.log.close()
    shipper.session = undefined
  } else if (session && session.lostBy !== undefined) {
    shipper.session = undefined
    // The next generation starts with a snapshot, so the unshipped log is useless, and the disk may be full.
    await session.log.discard().catch((reason: unknown) => log.warn('log_shipping.log_stays', { error: reason }))
    if (session.lostBy instanceof LogBroken)
      log.warn('log_shipping.log_lost', {
        error: session.lostBy,
        advice: 'Unshipped parts of the log are lost. A new snapshot is created',
      })
    else
      log.error('log_shipping.gave_up', {
        error: session.lostBy,
        advice: 'New commits are shipped after the next snapshot. Check that the target answers, is fast enough and has free space',
      })
  } else if (failures === 0) log.warn('log_shipping.fails', { error, advice: 'Shipping is retried until it succeeds' })
}
