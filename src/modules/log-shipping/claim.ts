import type { BackupStore } from '../../core/backup-store.ts'
import type { Deps } from '../../core/deps.ts'
import { SealBroken } from '../../lib/sealed-stream.ts'
import { chunkOf, textOf } from '../backup/index.ts'
import { claimName } from './domain.ts'

/** Another one ships the log of the same instance: two who do give a shop two pasts, and a restore would bring back one of them. */
export class AnotherShips extends Error {
  override readonly name = 'AnotherShips'
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

  /** @returns the record of another shipper; undefined where there is none */
  async function othersRecord(store: BackupStore): Promise<string | undefined> {
    const text = await textOf(store, name).catch((error: unknown) => {
      if (error instanceof SealBroken) return undefined
      throw error
    })
    return text?.startsWith(`${shipper} `) ? undefined : text
  }

  async function beat(store: BackupStore): Promise<void> {
    await store.put(name, chunkOf(`${shipper} ${++beats} ${clock.now()}`))
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
    /** Says now and then that this one lives. @throws AnotherShips where another one has taken over meanwhile */
    async keep(store: BackupStore): Promise<void> {
      if (clock.monotonic() - beatAt < beatMs) return
      if ((await othersRecord(store)) !== undefined) throw new AnotherShips('another one has taken over the log of this instance')
      await beat(store)
    },
    /** Whoever comes next need not wait. Another one's record stays. */
    async leave(store: BackupStore): Promise<void> {
      if ((await othersRecord(store)) === undefined) await store.delete(name)
    },
  }
}
