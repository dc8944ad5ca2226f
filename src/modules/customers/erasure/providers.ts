import type { Writer } from '../../../../db/engine.ts'
import { createErasedList } from '../../../clients/erased-list.ts'
import type { Deps } from '../../../core/deps.ts'
import type { WebhookDeps } from '../../messaging/webhook/index.ts'
import type { BackupDeps, BackupPlace } from '../../operations/backup/index.ts'
import type { OrderDeps } from '../../selling/order/index.ts'

export const erasureProviders = ({ config }: Pick<Deps, 'config'>) => ({
  erasedList: createErasedList(config.dataDir),
  /** When the indexes of words may be rewritten again, by the monotonic clock. */
  wordsPurged: { nextAt: 0 },
  /** How many erasures the list beside the database held when somebody looked last; undefined: nobody has. */
  erasedListed: { count: undefined } as { count: number | undefined },
  /** What of that list a place for backups was given, while another place has not taken it yet. */
  erasedPlaced: new Map<BackupPlace, Set<string>>(),
})
export type ErasureDeps = OrderDeps &
  WebhookDeps &
  Pick<BackupDeps, 'backupPlaces' | 'backupTargets' | 'randomBytes'> & {
    /** Called inside every write that changes what an order shows. */
    readonly orderChanged: (tx: Writer, orderId: string) => void
  } & ReturnType<typeof erasureProviders>
