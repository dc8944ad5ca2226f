import { createApp } from '../../src/app.ts'
import { system } from '../../src/core/command-context.ts'
import type { Access } from '../../src/http/access-rules.ts'
import { startSession } from '../../src/modules/identity/auth/service.ts'
import type { CallOptions, TestApp } from './app.ts'

export const credentialKinds = ['merchant', 'customer', 'superAdmin', 'publishable', 'secret', 'integration'] as const
export type CredentialKind = (typeof credentialKinds)[number]
export type Credentials = Record<CredentialKind, CallOptions>

/**
 * Credentials that each access rule refuses: `unknown` with 401, because their kind is wrong, and `forbidden` with 403,
 * because they lack a role or scope. All others are accepted.
 */
export const refusedCredentials: Record<
  Exclude<Access, 'public' | 'page' | 'login' | 'console' | 'processor' | 'provider' | 'platform' | 'internal'>,
  { unknown: readonly CredentialKind[]; forbidden: readonly CredentialKind[] }
> = {
  loggedIn: { unknown: ['secret', 'publishable', 'integration'], forbidden: [] },
  account: { unknown: ['secret', 'publishable', 'integration'], forbidden: ['customer', 'superAdmin'] },
  staff: { unknown: ['secret', 'publishable', 'integration'], forbidden: ['customer', 'superAdmin'] },
  merchant: { unknown: ['secret', 'publishable', 'integration'], forbidden: ['customer', 'superAdmin'] },
  owner: { unknown: ['secret', 'publishable', 'integration'], forbidden: ['customer', 'superAdmin'] },
  merchantOrSuperAdmin: { unknown: ['secret', 'publishable', 'integration'], forbidden: ['customer'] },
  // Merchants are accepted if SIGNUP_ENABLED is true.
  shopOpener: { unknown: ['secret', 'publishable', 'integration'], forbidden: ['customer'] },
  approvedMerchant: { unknown: ['secret', 'publishable', 'integration'], forbidden: ['customer', 'superAdmin'] },
  approvedMerchantOrSuperAdmin: { unknown: ['secret', 'publishable', 'integration'], forbidden: ['customer'] },
  ownerManagement: { unknown: ['integration'], forbidden: ['customer', 'superAdmin', 'publishable'] },
  management: { unknown: ['integration'], forbidden: ['customer', 'superAdmin', 'publishable'] },
  catalogRead: { unknown: ['integration'], forbidden: ['customer', 'superAdmin', 'publishable'] },
  customerRead: { unknown: ['integration'], forbidden: ['customer', 'superAdmin', 'publishable'] },
  orderRead: { unknown: ['integration'], forbidden: ['customer', 'superAdmin', 'publishable'] },
  fulfilment: { unknown: ['integration'], forbidden: ['customer', 'superAdmin', 'publishable'] },
  storefront: { unknown: ['integration'], forbidden: ['customer', 'superAdmin'] },
  storefrontRead: { unknown: ['integration'], forbidden: ['customer', 'superAdmin'] },
  cart: { unknown: ['integration'], forbidden: ['merchant', 'superAdmin'] },
  shopper: { unknown: ['integration'], forbidden: ['superAdmin'] },
  customer: { unknown: ['secret', 'publishable', 'integration'], forbidden: ['merchant', 'superAdmin'] },
  order: { unknown: ['integration'], forbidden: ['superAdmin', 'publishable'] },
  address: { unknown: ['integration'], forbidden: ['superAdmin', 'publishable'] },
  addressRead: { unknown: ['integration'], forbidden: ['superAdmin', 'publishable'] },
  superAdmin: { unknown: ['secret', 'publishable', 'integration'], forbidden: ['merchant', 'customer'] },
  operator: { unknown: ['secret', 'publishable', 'integration'], forbidden: ['merchant', 'customer'] },
  integration: { unknown: ['merchant', 'customer', 'superAdmin', 'secret', 'publishable'], forbidden: [] },
}

/** Returns the kinds of credential that a route accepts. */
export function acceptedCredentials(access: Access): readonly CredentialKind[] {
  if (!(access in refusedCredentials)) return []
  const { unknown, forbidden } = refusedCredentials[access as keyof typeof refusedCredentials]
  return credentialKinds.filter((kind) => !unknown.includes(kind) && !forbidden.includes(kind))
}

/** Creates a credential of every kind for one shop. */
export async function createCredentials(app: TestApp) {
  const merchant = await app.merchant()
  const admin = await app.superAdmin()
  const login = { shopName: merchant.shop.name, email: 'customer@example.com', password: 'password-of-customer' }
  const { body: customer } = await app.call('POST', '/customer/signup', { body: login })
  const session = await startSession(app.deps, { id: customer.id, role: 'CUSTOMER', shopId: merchant.shop.id }, system)
  const credentials: Credentials = {
    merchant: { token: merchant.token },
    customer: { token: session.data.accessToken },
    superAdmin: { token: admin.token },
    publishable: { key: merchant.publishableKey },
    secret: { key: merchant.secretKey },
    integration: { headers: { 'integration-api-key': app.deps.keyring.integrationApiKey } },
  }
  return { credentials, merchant, admin, customer: { ...login, id: String(customer.id) } }
}

/** Returns the declared access of the app's routes by method and path. */
export function declaredAccess(app: TestApp): Map<string, Access | undefined> {
  const routes = createApp(app.deps).routes.filter(({ method }) => method !== 'OPTIONS')
  return new Map(
    routes.map(({ method, path, hooks }) => [`${method} ${path}`, (hooks.detail as { 'x-access'?: Access } | undefined)?.['x-access']]),
  )
}
