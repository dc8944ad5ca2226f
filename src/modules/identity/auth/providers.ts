import { createTokens } from '../../../clients/tokens.ts'
import { createLastUsedRecorder } from '../../../core/last-used.ts'
import { createWaitlist } from '../../../core/limits/waitlist.ts'
import type { Identity } from '../../../core/principal.ts'
import type { ShopDeps } from '../../shop/shop/index.ts'
import { loginsWaitingMax } from './domain.ts'
import { createIdentity } from './identity.ts'
import { createAuthStore } from './store.ts'

export function authProviders(deps: ShopDeps) {
  const { db, keyring, clock, config } = deps
  const authStore = createAuthStore(db)
  const providers = {
    authStore,
    touchSession: createLastUsedRecorder(deps, 'session', authStore.touchSession),
    loginWaitlist: createWaitlist(loginsWaitingMax),
    tokens: createTokens(keyring.jwt, clock.now, config.accessTokenSeconds, () => crypto.randomUUID()),
  }
  const identity: Identity = createIdentity({ ...deps, ...providers })
  return { ...providers, identity }
}
export type AuthDeps = ShopDeps & ReturnType<typeof authProviders>
