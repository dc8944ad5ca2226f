import type { Writer } from '../../../../db/engine.ts'
import { type CommandContext, withLocks } from '../../../core/command-context.ts'
import { AppError, fieldError } from '../../../core/errors.ts'
import { assertNotStale, assertVersion } from '../../../core/versions.ts'
import { isoTimes } from '../../../lib/objects.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { webhookSecret, webhookSecretBytes } from '../../../lib/standard-webhooks.ts'
import { audited } from '../../operations/audit/index.ts'
import type { Wallet } from '../fabric/domain.ts'
import { addCounts, applyStatusChange, parseWallets, setWallets, type WalletBody, walletsOf, walletsOfAll } from '../fabric/index.ts'
import {
  type Archetype,
  joinSecrets,
  type ProviderStatus,
  type ProviderView,
  previousSecretMs,
  providerDifference,
  providerSecretSeal,
  providerView,
  recommendationOf,
  type ServiceProvider,
  secretDifference,
  validSecrets,
} from './domain.ts'
import type { ServiceProviderDeps } from './providers.ts'

const noSuchProvider = () => new AppError('NOT_FOUND', 'No such service provider')
type WriteContext = Pick<CommandContext, 'actor' | 'expected' | 'write'>
const holder = (ownerId: string) => ({ owner: 'PROVIDER', ownerId }) as const

/**
 * Registers a service provider with the status PENDING_REVIEW. Its webhook secret is returned only here.
 * @throws AppError INVALID for wallets, with the field; CONFLICT if another owner has a wallet of that address at that
 * time
 */
export function createProvider(
  deps: ServiceProviderDeps,
  context: WriteContext,
  {
    displayName,
    archetype,
    wallets: bodies = [],
  }: Pick<ServiceProvider, 'displayName' | 'archetype'> & { wallets?: readonly WalletBody[] | undefined },
): Promise<ProviderView & { webhookSecret: string }> {
  const { serviceProviderStore: store, clock, newId, randomBytes, keyring } = deps
  const now = clock.now()
  const id = newId('serviceProvider')
  const secret = webhookSecret(randomBytes(webhookSecretBytes))
  const provider: ServiceProvider = {
    id,
    displayName,
    archetype,
    status: 'PENDING_REVIEW',
    sealedSecret: keyring.seal(secret, providerSecretSeal(id)),
    previousSecretUntil: null,
    successfulIngestionCount: 0,
    lastSuccessfulIngestionAt: 0,
    createdAt: now,
    updatedAt: now,
    version: 1,
  }
  const drafts = parseWallets(bodies, now)
  return audited(deps, withLocks(deps, context), { action: 'service_provider.created', subject: id }, async (tx, setDifference) => {
    await store.insert(tx, provider)
    await appendStatus(tx, deps, context, provider, 1)
    const { after: wallets } = await setWallets(tx, deps, { ...context, holder: holder(id), drafts })
    await addCounts(tx, deps, 0, { 'serviceProviders.total': 1 })
    setDifference(providerDifference(undefined, { ...provider, wallets }))
    return { ...providerView(provider, await store.historyOf(id, tx), wallets), webhookSecret: secret }
  })
}

function appendStatus(
  tx: Writer,
  deps: ServiceProviderDeps,
  { actor }: WriteContext,
  provider: ServiceProvider,
  position: number,
): Promise<void> {
  const { id, status, updatedAt } = provider
  const entry = { id: deps.newId('event'), serviceProviderId: id, position, status, actor: actor.id, at: updatedAt }
  return deps.serviceProviderStore.insertEntry(tx, entry)
}

type ProviderChange = {
  displayName?: string | undefined
  archetype?: Archetype | undefined
  status?: ProviderStatus | undefined
  wallets?: readonly WalletBody[] | undefined
}

/**
 * Changes a service provider; omitted fields stay. Setting the current status changes nothing. Each new status adds a
 * row to the history.
 * @param change `wallets` replaces all wallets
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; INVALID for wallets, with the field; CONFLICT for a status that
 * cannot follow the current one, and if another owner has a wallet of that address at that time
 */
export function changeProvider(
  deps: ServiceProviderDeps,
  context: WriteContext,
  id: string,
  change: ProviderChange,
): Promise<ProviderView> {
  const { serviceProviderStore: store, clock } = deps
  const drafts = change.wallets && parseWallets(change.wallets, clock.now())
  const work = async (tx: Writer, setDifference: (difference: ReturnType<typeof providerDifference>) => void) => {
    const before = await store.locked(tx, id)
    if (!before) throw noSuchProvider()
    assertVersion(context.expected, before.version)
    const wallets = drafts
      ? await setWallets(tx, deps, { ...context, holder: holder(id), drafts })
      : await unchangedWallets(walletsOf(deps, holder(id), tx))
    const { displayName = before.displayName, archetype = before.archetype, status = before.status } = change
    const isStatusChange = status !== before.status
    let provider = before
    if (isStatusChange || wallets.isChanged || displayName !== before.displayName || archetype !== before.archetype) {
      const fields = { displayName, archetype, updatedAt: clock.now(), version: before.version + 1 }
      const changed = isStatusChange ? await store.move(tx, before, status, fields) : assertNotStale(await store.change(tx, before, fields))
      if (!changed)
        throw fieldError('CONFLICT', 'status', `a service provider that is ${before.status} cannot change to this status`, {
          code: 'invalid_transition',
        })
      provider = changed
    }
    const history = await store.historyOf(id, tx)
    if (isStatusChange) {
      await appendStatus(tx, deps, context, provider, history.length + 1)
      await applyStatusChange(tx, deps, holder(id))
      await addCounts(tx, deps, 0, { 'serviceProviders.active': activeCount(status) - activeCount(before.status) })
    }
    setDifference(providerDifference({ ...before, wallets: wallets.before }, { ...provider, wallets: wallets.after }))
    return providerView(provider, isStatusChange ? await store.historyOf(id, tx) : history, wallets.after)
  }
  return audited(deps, withLocks(deps, context), { action: 'service_provider.changed', subject: id }, work)
}

const activeCount = (status: ProviderStatus) => (status === 'ACTIVE' ? 1 : 0)
async function unchangedWallets(wallets: Promise<Wallet[]>) {
  const current = await wallets
  return { before: current, after: current, isChanged: false }
}

/**
 * Replaces the webhook secret, which is returned only here. The previous one stays valid for a day, older ones do not.
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED
 */
export function rotateSecret(
  deps: ServiceProviderDeps,
  context: WriteContext,
  id: string,
): Promise<{ webhookSecret: string; previousUntil: string; version: number }> {
  const { serviceProviderStore: store, clock, randomBytes, keyring } = deps
  const secret = webhookSecret(randomBytes(webhookSecretBytes))
  return audited(deps, withLocks(deps, context), { action: 'service_provider.secret_rotated', subject: id }, async (tx, setDifference) => {
    const before = await store.locked(tx, id)
    if (!before) throw noSuchProvider()
    assertVersion(context.expected, before.version)
    const now = clock.now()
    const [previous] = validSecrets(keyring.unseal(before.sealedSecret, providerSecretSeal(id)), before.previousSecretUntil, now)
    const previousSecretUntil = now + previousSecretMs
    const sealedSecret = keyring.seal(joinSecrets(secret, previous), providerSecretSeal(id))
    const fields = { sealedSecret, previousSecretUntil, updatedAt: now, version: before.version + 1 }
    assertNotStale(await store.change(tx, before, fields))
    setDifference(secretDifference)
    return { webhookSecret: secret, ...isoTimes({ previousUntil: previousSecretUntil }), version: fields.version }
  })
}

/** @throws AppError NOT_FOUND */
export async function readProvider(deps: ServiceProviderDeps, id: string): Promise<ProviderView> {
  const provider = await deps.serviceProviderStore.find(id)
  if (!provider) throw noSuchProvider()
  return providerView(provider, await deps.serviceProviderStore.historyOf(id), await walletsOf(deps, holder(id)))
}

/** Lists service providers, newest first. */
export async function listProviders(
  deps: ServiceProviderDeps,
  status: ProviderStatus | undefined,
  slice: PageSlice,
): Promise<Page<ProviderView>> {
  const { rows, total } = await deps.serviceProviderStore.list(status, slice)
  const ids = rows.map(({ id }) => id)
  const [histories, wallets] = await Promise.all([deps.serviceProviderStore.historiesOf(ids), walletsOfAll(deps, 'PROVIDER', ids)])
  return pageOf(
    rows.map((provider) => providerView(provider, histories.get(provider.id) ?? [], wallets.get(provider.id) ?? [])),
    total,
    slice,
  )
}

/** Lists active service providers by the number of their messages, then by the time of the last one, then by id. */
export const recommend = async (
  { serviceProviderStore }: Pick<ServiceProviderDeps, 'serviceProviderStore'>,
  archetype: Archetype | 'all',
  limit: number,
) => recommendationOf(archetype, await serviceProviderStore.ranked(archetype, limit))
