import { locking } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import { inBatches } from '../../../lib/batches.ts'
import { dayMs } from '../../../lib/day.ts'
import { idOfSigned, type SignedHeaders } from '../../../lib/standard-webhooks.ts'
import { heardSecrets, providerSecretSeal } from './domain.ts'
import type { ServiceProviderDeps } from './providers.ts'

/** Nobody has it: a provider that there is not takes as long to refuse as a bad signature. */
const nobodysSecret = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='

/** What a service provider sent. */
export type Message = { readonly providerId: string; readonly headers: SignedHeaders; readonly body: Uint8Array }

/**
 * Takes a message of a service provider, and counts it once, however often and however many times at once it is sent. Nothing is written, and the
 * body is not parsed, before its signature is known to be good.
 * @param parse refuses a body that is not to be kept
 * @throws AppError UNAUTHENTICATED, the same for a bad signature, a bad time, missing headers and a provider that there is not; FORBIDDEN for one
 *   that is not active; what `parse` throws
 */
export async function ingest(
  { db, serviceProviderStore: store, clock, keyring }: ServiceProviderDeps,
  { providerId, headers, body }: Message,
  parse: (body: Uint8Array) => void,
): Promise<{ received: true }> {
  const now = clock.now()
  const provider = await store.find(providerId)
  const secrets = provider
    ? heardSecrets(keyring.unseal(provider.sealedSecret, providerSecretSeal(provider.id)), provider.previousSecretUntil, now)
    : [nobodysSecret]
  const webhookId = idOfSigned(secrets, headers, body, now)
  if (!provider || webhookId === undefined)
    throw new AppError(
      'UNAUTHENTICATED',
      'The message is not signed as Standard Webhooks asks, by this service provider, within five minutes',
    )
  assertActive(provider.status)
  parse(body)
  const ingestion = { serviceProviderId: provider.id, webhookId, receivedAt: now, payload: Buffer.from(body).toString('utf8') }
  await db.write(async (tx) => {
    const locked = await store.locked(tx, provider.id)
    assertActive(locked?.status)
    if (await store.keep(tx, ingestion)) await store.count(tx, provider.id, now)
  }, locking)
  return { received: true }
}

function assertActive(status: string | undefined): void {
  if (status !== 'ACTIVE') throw new AppError('FORBIDDEN', 'The service provider is not active')
}

const emptiedAtOnce = 500

/**
 * Removes what messages of service providers said once they were kept for as long as the setting says. That each came stays: senders repeat
 * messages under the same id, and none may count twice.
 */
export async function emptyOldMessages({ db, clock, config, serviceProviderStore: store }: ServiceProviderDeps): Promise<void> {
  const before = clock.now() - config.ingestionRetentionDays * dayMs
  await inBatches(emptiedAtOnce, () => db.write((tx) => store.empty(tx, before, emptiedAtOnce)))
}
