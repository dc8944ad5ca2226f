import type { Writer } from '../../../../db/engine.ts'
import { type Change, withLocks } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import { assertExpected, unlessStale } from '../../../core/versions.ts'
import { isoTimes } from '../../../lib/objects.ts'
import { type Page, pageOf, type Slice } from '../../../lib/page.ts'
import { webhookSecret, webhookSecretBytes } from '../../../lib/standard-webhooks.ts'
import { audited } from '../../operations/audit/index.ts'
import type { Wallet } from '../fabric/domain.ts'
import { addCounts, setWallets, statusMoved, type WalletBody, walletsFrom, walletsOf, walletsOfAll } from '../fabric/index.ts'
import {
  type Archetype,
  heardSecrets,
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
} from './domain.ts'
import type { ServiceProviderDeps } from './providers.ts'

const noSuchProvider = () => new AppError('NOT_FOUND', 'No such service provider')
type By = Pick<Change, 'actor' | 'expected' | 'write'>
const holder = (ownerId: string) => ({ owner: 'PROVIDER', ownerId }) as const

/**
 * Registers a service provider, which is still to be looked at: `PENDING_REVIEW`. Its webhook secret is told this once.
 * @throws AppError INVALID for wallets, naming the field; CONFLICT where somebody else has one of that address at that time
 */
export function createProvider(
  deps: ServiceProviderDeps,
  by: By,
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
  const drafts = walletsFrom(bodies, now)
  return audited(deps, withLocks(deps, by), { action: 'service_provider.created', subject: id }, async (tx, tell) => {
    await store.insert(tx, provider)
    await appendStatus(tx, deps, by, provider, 1)
    const { after: wallets } = await setWallets(tx, deps, { ...by, holder: holder(id), drafts })
    await addCounts(tx, deps, 0, { 'serviceProviders.total': 1 })
    tell(providerDifference(undefined, { ...provider, wallets }))
    return { ...providerView(provider, await store.historyOf(id, tx), wallets), webhookSecret: secret }
  })
}

function appendStatus(tx: Writer, deps: ServiceProviderDeps, { actor }: By, provider: ServiceProvider, position: number): Promise<void> {
  const { id, status, updatedAt } = provider
  const entry = { id: deps.newId('event'), serviceProviderId: id, position, status, actor: actor.id, at: updatedAt }
  return deps.serviceProviderStore.insertEntry(tx, entry)
}

export type ProviderChange = {
  displayName?: string | undefined
  archetype?: Archetype | undefined
  status?: ProviderStatus | undefined
  wallets?: readonly WalletBody[] | undefined
}

/**
 * Changes a service provider; what is left out stays, and asked for the status that it has, that stays too. Each status leaves a row of its
 * history.
 * @param change `wallets` are all of them
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; INVALID for wallets, naming the field; CONFLICT for a status that does not follow the one it
 *   has, and where somebody else has a wallet of that address at that time
 */
export function changeProvider(deps: ServiceProviderDeps, by: By, id: string, change: ProviderChange): Promise<ProviderView> {
  const { serviceProviderStore: store, clock } = deps
  const drafts = change.wallets && walletsFrom(change.wallets, clock.now())
  const work = async (tx: Writer, tell: (difference: ReturnType<typeof providerDifference>) => void) => {
    const before = await store.locked(tx, id)
    if (!before) throw noSuchProvider()
    assertExpected(by.expected, before.version)
    const wallets = drafts
      ? await setWallets(tx, deps, { ...by, holder: holder(id), drafts })
      : await unchanged(walletsOf(deps, holder(id), tx))
    const { displayName = before.displayName, archetype = before.archetype, status = before.status } = change
    const isMoved = status !== before.status
    let provider = before
    if (isMoved || wallets.areOthers || displayName !== before.displayName || archetype !== before.archetype) {
      const fields = { displayName, archetype, updatedAt: clock.now(), version: before.version + 1 }
      const changed = isMoved ? await store.move(tx, before, status, fields) : unlessStale(await store.change(tx, before, fields))
      if (!changed) throw new AppError('CONFLICT', `status (body): a service provider that is ${before.status} cannot become so`)
      provider = changed
    }
    const history = await store.historyOf(id, tx)
    if (isMoved) {
      await appendStatus(tx, deps, by, provider, history.length + 1)
      await statusMoved(tx, deps, holder(id))
      await addCounts(tx, deps, 0, { 'serviceProviders.active': activeOnes(status) - activeOnes(before.status) })
    }
    tell(providerDifference({ ...before, wallets: wallets.before }, { ...provider, wallets: wallets.after }))
    return providerView(provider, isMoved ? await store.historyOf(id, tx) : history, wallets.after)
  }
  return audited(deps, withLocks(deps, by), { action: 'service_provider.changed', subject: id }, work)
}

const activeOnes = (status: ProviderStatus) => (status === 'ACTIVE' ? 1 : 0)
async function unchanged(wallets: Promise<Wallet[]>) {
  const same = await wallets
  return { before: same, after: same, areOthers: false }
}

/**
 * Gives a service provider another webhook secret, which is told this once. The one before it is heard for a day, an older one no more.
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED
 */
export function rotateSecret(
  deps: ServiceProviderDeps,
  by: By,
  id: string,
): Promise<{ webhookSecret: string; previousUntil: string; version: number }> {
  const { serviceProviderStore: store, clock, randomBytes, keyring } = deps
  const secret = webhookSecret(randomBytes(webhookSecretBytes))
  return audited(deps, withLocks(deps, by), { action: 'service_provider.secret_rotated', subject: id }, async (tx, tell) => {
    const before = await store.locked(tx, id)
    if (!before) throw noSuchProvider()
    assertExpected(by.expected, before.version)
    const now = clock.now()
    const [previous] = heardSecrets(keyring.unseal(before.sealedSecret, providerSecretSeal(id)), before.previousSecretUntil, now)
    const previousSecretUntil = now + previousSecretMs
    const sealedSecret = keyring.seal(joinSecrets(secret, previous), providerSecretSeal(id))
    const fields = { sealedSecret, previousSecretUntil, updatedAt: now, version: before.version + 1 }
    unlessStale(await store.change(tx, before, fields))
    tell(secretDifference)
    return { webhookSecret: secret, ...isoTimes({ previousUntil: previousSecretUntil }), version: fields.version }
  })
}

/** @throws AppError NOT_FOUND */
export async function readProvider(deps: ServiceProviderDeps, id: string): Promise<ProviderView> {
  const provider = await deps.serviceProviderStore.find(id)
  if (!provider) throw noSuchProvider()
  return providerView(provider, await deps.serviceProviderStore.historyOf(id), await walletsOf(deps, holder(id)))
}

/** A page of all service providers, newest first. */
export async function listProviders(
  deps: ServiceProviderDeps,
  status: ProviderStatus | undefined,
  slice: Slice,
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

/** Active service providers, the best first: by how many messages of theirs were taken, then by the last one, then by id. */
export const recommend = async (
  { serviceProviderStore }: Pick<ServiceProviderDeps, 'serviceProviderStore'>,
  archetype: Archetype | 'all',
  limit: number,
) => recommendationOf(archetype, await serviceProviderStore.ranked(archetype, limit))
