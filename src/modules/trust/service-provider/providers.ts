import type { Deps } from '../../../core/deps.ts'
import type { TrustDeps } from '../fabric/index.ts'
import { createServiceProviderStore } from './store.ts'

export const serviceProviderProviders = ({ db }: Deps) => ({ serviceProviderStore: createServiceProviderStore(db) })
export type ServiceProviderDeps = TrustDeps & ReturnType<typeof serviceProviderProviders>
