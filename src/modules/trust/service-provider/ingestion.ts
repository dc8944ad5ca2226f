import { locking } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import { inBatches } from '../../../lib/batches.ts'
import { dayMs } from '../../../lib/day.ts'
import { idOfSigned, type SignedHeaders } from '../../../lib/standard-webhooks.ts'
import { providerSecretSeal, validSecrets } from './domain.ts'
import type { ServiceProviderDeps } from './providers.ts'

/** Used for unknown providers, so that refusing one takes as long as a wrong signature. */
const dummySecret = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='

/** A message from a service provider. */
type Message = { readonly providerId: string; readonly headers: SignedHeaders; readonly body: Uint8Array }

/**
 * Stores a message and counts it once, however often it is sent. Its signature is verified before the body is parsed or
 * anything is written.
 * @param parse throws for an invalid body
 * @throws AppError UNAUTHENTICATED, the same for a wrong signature or time, missing headers and an unknown provider;
 * FORBIDDEN for an inactive provider; errors of `parse`
 */
export async function ingest(
  { db, serviceProviderStore: store, clock, keyring }: ServiceProviderDeps,
  { providerId, headers, body }: Message,
  parse: (body: Uint8Array) => void,
): Promise<{ received: true }> {
  const now = clock.now()
  const provider = await store.find(providerId)
  const secrets = provider
    ? validSecrets(keyring.unseal(provider.sealedSecret, providerSecretSeal(provider.id)), provider.previousSecretUntil, now)
    : [dummySecret]
  const webhookId = idOfSigned(secrets, headers, body, now)
  if (!provider || webhookId === undefined)
    throw new AppError(
      'UNAUTHENTICATED',
      'The signature is missing, invalid or older than five minutes: sign as Standard Webhooks describes',
    )
  assertActive(provider.status)
  parse(body)
  const ingestion = { serviceProviderId: provider.id, webhookId, receivedAt: now, payload: Buffer.from(body).toString('utf8') }
  await db.write(async (tx) => {
    const locked = await store.locked(tx, provider.id)
    assertActive(locked?.status)
    if (await store.insertOnce(tx, ingestion)) await store.addIngestion(tx, provider.id, now)
  }, locking)
  return { received: true }
}

function assertActive(status: string | undefined): void {
  if (status !== 'ACTIVE') throw new AppError('FORBIDDEN', 'The service provider is not active')
}

const emptyBatch = 500

/**
 * Empties message bodies after INGESTION_RETENTION_DAYS. The rows stay, since senders repeat messages under the same id
 * and none may count twice.
 */
export async function emptyOldMessages({ db, clock, config, serviceProviderStore: store }: ServiceProviderDeps): Promise<void> {
  const before = clock.now() - config.ingestionRetentionDays * dayMs
  await inBatches(emptyBatch, () => db.write((tx) => store.emptyPayloads(tx, before, emptyBatch)))
}
