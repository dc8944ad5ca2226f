import type { BackupStore } from '../../../core/backup-store.ts'
import type { Deps } from '../../../core/deps.ts'
import { SealBroken } from '../../../lib/sealed-stream.ts'
import { readText, textChunks } from '../backup/index.ts'
import { claimName } from './domain.ts'

/**
 * Another process ships the log of the same instance. Two shippers would mix two histories, and a restore would return
 * only one.
 */
export class OtherShipperActive extends Error {
  override readonly name = 'OtherShipperActive'
}

/** The claim record is missing or was changed: the disk of the target may have been replaced. */
export class TargetChanged extends Error {
  override readonly name = 'TargetChanged'
}

const beatMs = 60_000
/** A shipper counts as dead after this silence. Measured on the monotonic clock, since clocks may differ. */
const claimTimeoutMs = 3 * beatMs

/**
 * Creates the claim of a shipper: a record in the store that changes once a minute.
 * @param shipper identifies a data directory on a machine; a copy elsewhere has another one, a restart has the same
 */
export function createShipperClaim({ clock }: Pick<Deps, 'clock'>, instance: string, shipper: string) {
  const name = claimName(instance)
  /** The last record of another shipper, and since when it is unchanged. */
  let otherRecord: { readonly text: string; readonly since: number } | undefined
  let beatAt = Number.NEGATIVE_INFINITY
  let beats = 0
  /** The contents that the record may have: the last write, and later ones that may have succeeded. */
  let written: string[] = []

  const readRecord = (store: BackupStore): Promise<string | undefined> =>
    readText(store, name).catch((error: unknown) => {
      if (error instanceof SealBroken) return undefined
      throw error
    })
  const isOurs = (text: string) => text.startsWith(`${shipper} `)

  /** @returns the record of another shipper; undefined if there is none */
  async function readOtherRecord(store: BackupStore): Promise<string | undefined> {
    const text = await readRecord(store)
    return text === undefined || isOurs(text) ? undefined : text
  }

  async function writeHeartbeat(store: BackupStore): Promise<void> {
    const text = `${shipper} ${++beats} ${clock.now()}`
    written.push(text)
    await store.put(name, textChunks(text))
    written = [text]
    beatAt = clock.monotonic()
  }

  return {
    /** @throws OtherShipperActive while another one is active, or may be */
    async acquire(store: BackupStore): Promise<void> {
      const text = await readOtherRecord(store)
      if (text !== undefined) {
        if (otherRecord?.text !== text) otherRecord = { text, since: clock.monotonic() }
        if (clock.monotonic() - otherRecord.since < claimTimeoutMs)
          throw new OtherShipperActive('another process ships the log of this instance')
      }
      otherRecord = undefined
      await writeHeartbeat(store)
    },
    /**
     * Writes the record anew once a minute.
     * @throws OtherShipperActive if another one took over; TargetChanged
     */
    async renew(store: BackupStore): Promise<void> {
      if (clock.monotonic() - beatAt < beatMs) return
      const text = await readRecord(store)
      if (text !== undefined && !isOurs(text)) throw new OtherShipperActive('another process has taken over the log of this instance')
      if (text === undefined || !written.includes(text))
        throw new TargetChanged('the claim record is missing or differs from what was written')
      await writeHeartbeat(store)
    },
    /** Removes the record, so that the next shipper need not wait. Another one's record stays. */
    async release(store: BackupStore): Promise<void> {
      if ((await readOtherRecord(store)) === undefined) await store.delete(name)
    },
  }
}
