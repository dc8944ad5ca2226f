import type { BackupStore } from '../../../core/backup-store.ts'
import type { Deps } from '../../../core/deps.ts'
import { SealBroken } from '../../../lib/sealed-stream.ts'
import { chunkOf, textOf } from '../backup/index.ts'
import { claimName } from './domain.ts'

/** Another one ships the log of the same instance: two who do give a shop two pasts, and a restore would bring back one of them. */
export class AnotherShips extends Error {
  override readonly name = 'AnotherShips'
}

/** The record of this one is gone, or is not what it wrote last: the store is not what it was. Its disk may have been taken away, or another put there. */
export class PlaceChanged extends Error {
  override readonly name = 'PlaceChanged'
}

const beatMs = 60_000
/** Whoever has not been heard of for so long has died. Measured by the clock that nobody sets: two machines need not agree on the time. */
const heldMs = 3 * beatMs

/**
 * Who ships the log of an instance to a store: a record there says it, and changes once a minute while they live.
 * @param shipper names a data directory on a machine: a restored copy elsewhere is another one, a process that is started anew is not
 */
export function createClaim({ clock }: Pick<Deps, 'clock'>, instance: string, shipper: string) {
  const name = claimName(instance)
  /** What another one's record said last, and since when it has said so. */
  let other: { readonly text: string; readonly since: number } | undefined
  let beatAt = Number.NEGATIVE_INFINITY
  let beats = 0
  /** What the record may say: what was written last, and what was to be written since and may have been all the same. */
  let written: string[] = []

  const record = (store: BackupStore): Promise<string | undefined> =>
    textOf(store, name).catch((error: unknown) => {
      if (error instanceof SealBroken) return undefined
      throw error
    })
  const isOurs = (text: string) => text.startsWith(`${shipper} `)

  /** @returns the record of another shipper; undefined where there is none */
  async function othersRecord(store: BackupStore): Promise<string | undefined> {
    const text = await record(store)
    return text === undefined || isOurs(text) ? undefined : text
  }

  async function beat(store: BackupStore): Promise<void> {
    const text = `${shipper} ${++beats} ${clock.now()}`
    written.push(text)
    await store.put(name, chunkOf(text))
    written = [text]
    beatAt = clock.monotonic()
  }

  return {
    /** @throws AnotherShips while another one lives, or cannot be known to have died */
    async take(store: BackupStore): Promise<void> {
      const text = await othersRecord(store)
      if (text !== undefined) {
        if (other?.text !== text) other = { text, since: clock.monotonic() }
        if (clock.monotonic() - other.since < heldMs) throw new AnotherShips('another one ships the log of this instance')
      }
      other = undefined
      await beat(store)
    },
    /** Says now and then that this one lives. @throws AnotherShips where another one has taken over meanwhile; PlaceChanged */
    async keep(store: BackupStore): Promise<void> {
      if (clock.monotonic() - beatAt < beatMs) return
      const text = await record(store)
      if (text !== undefined && !isOurs(text)) throw new AnotherShips('another one has taken over the log of this instance')
      if (text === undefined || !written.includes(text)) throw new PlaceChanged('the record of who ships is not what was written there')
      await beat(store)
    },
    /** Whoever comes next need not wait. Another one's record stays. */
    async leave(store: BackupStore): Promise<void> {
      if ((await othersRecord(store)) === undefined) await store.delete(name)
    },
  }
}
