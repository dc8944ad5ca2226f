/** Methodologies and service providers that operators register, and messages of providers. */
import { Webhook } from 'standardwebhooks'
import type { TestApp } from './app.ts'
import { ok } from './selling.ts'

/** Returns a different address for each number, in lower case. */
export const walletOf = (nth: number): string => `0x${(nth + 1).toString(16).padStart(40, '0')}`
export const hashOf = (nth: number): string => `0x${(nth + 1).toString(16).padStart(64, '0')}`
export const methodology = (lenderId: string, nth = 1) => ({
  lenderId,
  version: `2026.${nth}`,
  contentHash: hashOf(nth),
  documentUrl: `https://lender.example/methodology-${nth}.pdf`,
})
export const provider = { displayName: 'Depot North', archetype: 'warehouse' } as const

/** Registers a service provider, by default `ACTIVE`. Returns its id. */
export async function providerIn(
  app: TestApp,
  token: string,
  body: object = {},
  status: 'PENDING_REVIEW' | 'ACTIVE' = 'ACTIVE',
): Promise<string> {
  return (await signingProviderIn(app, token, body, status)).id
}

/** Registers a service provider. Returns its id and its webhook secret. */
export async function signingProviderIn(app: TestApp, token: string, body: object = {}, status: 'PENDING_REVIEW' | 'ACTIVE' = 'ACTIVE') {
  const created = ok(await app.call('POST', '/admin/service-providers', { token, body: { ...provider, ...body } }), 201).body
  if (status === 'ACTIVE') ok(await app.call('PATCH', `/admin/service-providers/${created.id}`, { token, body: { status } }))
  return created as { id: string; webhookSecret: string }
}

/** Returns the headers of a signed message, made by the library of the Standard Webhooks. */
export const signatureHeaders = (secret: string, id: string, at: number, body: string): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(at / 1_000)),
  'webhook-signature': new Webhook(secret).sign(id, new Date(at), body),
})
