import { createTokens } from '../../clients/tokens.ts'
import type { Identity } from '../../core/principal.ts'
import { createWaitlist } from '../../lib/waitlist.ts'
import type { ShopDeps } from '../shop/index.ts'
import { createIdentity } from './identity.ts'
import { createAuthStore } from './store.ts'

const loginsWaitingMax = 100

export function authParts(deps: ShopDeps) {
  const { db, keyring, clock, config } = deps
  const parts = {
    authStore: createAuthStore(db),
    loginWaitlist: createWaitlist(loginsWaitingMax),
    tokens: createTokens(keyring.jwt, clock.now, config.accessTokenSeconds, () => crypto.randomUUID()),
  }
  const identity: Identity = createIdentity({ ...deps, ...parts })
  return { ...parts, identity }
}
export type AuthDeps = ShopDeps & ReturnType<typeof authParts>
