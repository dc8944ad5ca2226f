import type { Deps } from '../../../core/deps.ts'
import type { InstanceKeyDeps } from '../../identity/instance-key/index.ts'
import { createGiftCardStore } from './store.ts'

export const giftCardProviders = ({ db }: Deps) => ({ giftCardStore: createGiftCardStore(db) })
export type GiftCardDeps = InstanceKeyDeps & ReturnType<typeof giftCardProviders>
