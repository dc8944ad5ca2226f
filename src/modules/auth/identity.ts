import type { Identity, KeyPrincipal } from '../../core/principal.ts'
import { type KnownKey, keyAndShop, keyAndShopNow, shopContext, shopContextNamed, shopContextOf, touchKey } from '../shop/index.ts'
import type { AuthDeps } from './parts.ts'
import { subjectOfToken } from './service.ts'

/** Says who stands behind a token or a key, and whose shop is meant. */
export function createIdentity(deps: Omit<AuthDeps, 'identity'>): Identity {
  function used(key: KnownKey): KeyPrincipal {
    touchKey(deps, key)
    return { kind: 'key', id: key.id, scopes: key.scopes, shop: key.shop }
  }

  return {
    async ofToken(token) {
      const subject = await subjectOfToken(deps, token)
      if (!subject) return undefined
      const { id, sessionId, role, shopId } = subject
      if (role === 'CUSTOMER') return shopId === undefined ? undefined : { kind: 'customer', id, sessionId, shopId }
      return { kind: role === 'MERCHANT' ? 'merchant' : 'superAdmin', id, sessionId }
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
    shop: (id) => shopContext(deps, id),
    shopOf: (merchantId, shopId) => shopContextOf(deps, { merchantId, shopId }),
  }
}
