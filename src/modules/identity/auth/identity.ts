import type { Touch } from '../../../core/last-used.ts'
import type { Identity, KeyPrincipal } from '../../../core/principal.ts'
import type { Tokens } from '../../../core/tokens.ts'
import {
  type KnownKey,
  keyAndShop,
  keyAndShopNow,
  placeOf,
  publicShopContextNamed,
  type ShopDeps,
  shopContext,
  shopContextNamed,
} from '../../shop/shop/index.ts'
import { type Subject, subjectOf } from './domain.ts'
import type { AuthStore } from './store.ts'

type IdentityDeps = ShopDeps & { readonly tokens: Tokens; readonly authStore: AuthStore; readonly touchSession: Touch }

/** Says who stands behind a token or a key, and whose shop is meant. */
export function createIdentity(deps: IdentityDeps): Identity {
  function used(key: KnownKey): KeyPrincipal {
    deps.touchKey(key)
    return { kind: 'key', id: key.id, scopes: key.scopes, shop: key.shop }
  }

  return {
    async ofToken(token) {
      const subject = await subjectOfToken(deps, token)
      if (!subject) return undefined
      const { id, sessionId, role, shopId } = subject
      if (role === 'CUSTOMER') return shopId === undefined ? undefined : { kind: 'customer', id, sessionId, shopId }
      return role === 'MERCHANT' ? { kind: 'merchant', id, sessionId } : { kind: 'superAdmin', id, sessionId }
    },
    async ofKey(presented) {
      const key = await keyAndShop(deps, presented)
      return key && used(key)
    },
    keyNow(presented) {
      const key = keyAndShopNow(deps, presented)
      return key && used(key)
    },
    shopNamed: (name) => shopContextNamed(deps, name),
    publicShopNamed: (name) => publicShopContextNamed(deps, name),
    shop: (id) => shopContext(deps, id),
    placeOf: (userId, shopId) => placeOf(deps, { userId, shopId }),
  }
}

/** Whom an access token stands for, while its session lives. */
async function subjectOfToken(
  { tokens, authStore, touchSession, clock }: Pick<IdentityDeps, 'tokens' | 'authStore' | 'touchSession' | 'clock'>,
  token: string,
): Promise<(Subject & { sessionId: string }) | undefined> {
  const claims = await tokens.verify(token)
  if (!claims) return undefined
  const session = await authStore.findSession(claims.sid)
  if (!session || session.revokedAt !== null || session.expiresAt <= clock.now()) return undefined
  if (session.subjectId !== claims.sub || session.role !== claims.role) return undefined
  touchSession(session)
  return { ...subjectOf(session), sessionId: session.id }
}
