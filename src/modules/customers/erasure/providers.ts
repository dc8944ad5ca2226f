import type { Writer } from '../../../../db/engine.ts'
import { createErasedList } from '../../../clients/erased-list.ts'
import type { Deps } from '../../../core/deps.ts'
import type { WebhookDeps } from '../../messaging/webhook/index.ts'
import type { BackupDeps, BackupPlace } from '../../operations/backup/index.ts'
import type { OrderDeps } from '../../selling/order/index.ts'

export const erasureProviders = ({ config }: Pick<Deps, 'config'>) => ({
  erasedList: createErasedList(config.dataDir),
  /** When the search indexes may be rewritten again (monotonic clock). */
  wordsPurged: { nextAt: 0 },
  /** Number of erasures in the list when last counted; undefined: unknown. */
  erasedListSize: { count: undefined } as { count: number | undefined },
  /** Erasures that a storage has received while another has not. */
  erasedInStorage: new Map<BackupPlace, Set<string>>(),
})
export type ErasureDeps = OrderDeps &
  WebhookDeps &
  Pick<BackupDeps, 'backupPlaces' | 'backupTargets' | 'randomBytes'> & {
    /** Call inside every write that changes what an order shows. */
    readonly orderChanged: (tx: Writer, orderId: string) => void
  } & ReturnType<typeof erasureProviders>
