import type { RecordUse } from '../../../core/last-used.ts'
import type { Identity, KeyPrincipal } from '../../../core/principal.ts'
import type { Tokens } from '../../../core/tokens.ts'
import {
  findKeyAndShop,
  findKeyAndShopSync,
  findPublicShopContextByName,
  findShopContext,
  findShopContextByName,
  type KeyAndShop,
  type ShopDeps,
  shopAndRoleOf,
} from '../../shop/shop/index.ts'
import { type Subject, subjectOf } from './domain.ts'
import type { AuthStore } from './store.ts'

type IdentityDeps = ShopDeps & { readonly tokens: Tokens; readonly authStore: AuthStore; readonly touchSession: RecordUse }

/** Resolves tokens and keys to principals and shops. */
export function createIdentity(deps: IdentityDeps): Identity {
  function principalOfKey(key: KeyAndShop): KeyPrincipal {
    deps.touchKey(key)
    return { kind: 'key', id: key.id, scopes: key.scopes, shop: key.shop }
  }

  return {
    async ofToken(token) {
      const subject = await findSubjectOfToken(deps, token)
      if (!subject) return undefined
      const { id, sessionId, role, shopId } = subject
      if (role === 'CUSTOMER') return shopId === undefined ? undefined : { kind: 'customer', id, sessionId, shopId }
      return role === 'MERCHANT' ? { kind: 'merchant', id, sessionId } : { kind: 'superAdmin', id, sessionId }
    },
    async ofKey(presented) {
      const key = await findKeyAndShop(deps, presented)
      return key && principalOfKey(key)
    },
    keyNow(presented) {
      const key = findKeyAndShopSync(deps, presented)
      return key && principalOfKey(key)
    },
    shopNamed: (name) => findShopContextByName(deps, name),
    publicShopNamed: (name) => findPublicShopContextByName(deps, name),
    shop: (id) => findShopContext(deps, id),
    membershipOf: (userId, shopId) => shopAndRoleOf(deps, { userId, shopId }),
  }
}

/** Returns the subject of an access token while its session is valid. */
async function findSubjectOfToken(
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
