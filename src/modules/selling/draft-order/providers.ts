import type { Deps } from '../../../core/deps.ts'
import type { OrderDeps } from '../order/index.ts'
import { createDraftStore } from './store.ts'

export const draftProviders = ({ db }: Deps) => ({ draftStore: createDraftStore(db) })
export type DraftDeps = OrderDeps & ReturnType<typeof draftProviders>
