import type { serviceProviderStatusHistory, serviceProviders } from '../../../../db/schema/trust.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { reachable, statesOf, type Transitions } from '../../../lib/transitions.ts'
import { type Difference, differenceOf, redacted } from '../../operations/audit/domain.ts'
import { type Wallet, walletView } from '../fabric/domain.ts'

export type ServiceProvider = typeof serviceProviders.$inferSelect
export type ProviderStatus = ServiceProvider['status']
export type Archetype = ServiceProvider['archetype']
export type ProviderStatusEntry = typeof serviceProviderStatusHistory.$inferSelect

/** What may become of a service provider. One that is archived stays so. */
export const providerTransitions = reachable('PENDING_REVIEW', {
  PENDING_REVIEW: ['ACTIVE'],
  ACTIVE: ['SUSPENDED'],
  SUSPENDED: ['ACTIVE', 'ARCHIVED'],
  ARCHIVED: [],
} as const satisfies Transitions<ProviderStatus>)
export const providerStatuses = statesOf(providerTransitions)

export const archetypes = ['generic', 'warehouse', 'third_party_logistics', 'cross_border'] as const satisfies readonly Archetype[]
export const displayNameMax = 200

/** What the sealed secrets of a service provider are bound to. */
export const providerSecretSeal = (providerId: string): string => `${providerId}/ingestion`

/** How long a secret is heard after another took its place. */
export const previousSecretMs = 24 * 60 * 60 * 1_000

/** The secrets of a provider as they are sealed, newest first. */
export const joinSecrets = (newest: string, previous: string | undefined): string =>
  previous === undefined ? newest : `${newest} ${previous}`
/**
 * The secrets that are heard, newest first.
 * @param opened what was sealed
 */
export function heardSecrets(opened: string, previousSecretUntil: number | null, now: number): string[] {
  const [newest = '', previous] = opened.split(' ')
  return previous !== undefined && previousSecretUntil !== null && now < previousSecretUntil ? [newest, previous] : [newest]
}

/** What of a service provider is on record when it changes: its name is public, and its wallets stand on a public chain. */
export const providerDifference = (
  before: (ServiceProvider & { wallets: readonly Wallet[] }) | undefined,
  after: ServiceProvider & { wallets: readonly Wallet[] },
): Difference => differenceOf(before && open(before), open(after), ['displayName', 'archetype', 'status', 'wallets'])
const open = ({ displayName, archetype, status, wallets }: ServiceProvider & { wallets: readonly Wallet[] }) => ({
  displayName,
  archetype,
  status,
  ...(wallets.length > 0 ? { wallets: wallets.map(walletView) } : {}),
})

/** 0 is none yet. */
const lastIngestion = ({ lastSuccessfulIngestionAt: at }: Pick<ServiceProvider, 'lastSuccessfulIngestionAt'>) =>
  isoTimes({ lastSuccessfulIngestionAt: at === 0 ? null : at })

/** Of one whose secret was replaced. */
export const secretDifference: Difference = { before: { webhookSecret: redacted }, after: { webhookSecret: redacted } }

/** A service provider as operators see it. */
export const providerView = (provider: ServiceProvider, history: readonly ProviderStatusEntry[], wallets: readonly Wallet[]) => ({
  ...pick(provider, 'id', 'displayName', 'archetype', 'status'),
  wallets: wallets.map(walletView),
  statusHistory: history.map(({ status, at, actor }) => ({ status, ...isoTimes({ at }), actor })),
  successfulIngestionCount: provider.successfulIngestionCount,
  ...lastIngestion(provider),
  ...isoTimes(pick(provider, 'createdAt', 'updatedAt')),
  version: provider.version,
})
export type ProviderView = ReturnType<typeof providerView>

export type Ranked = Pick<ServiceProvider, 'id' | 'displayName' | 'archetype' | 'successfulIngestionCount' | 'lastSuccessfulIngestionAt'>

export const recommendedByDefault = 10
export const recommendedMax = 50
/** How many are recommended where so many are asked for. */
export const recommendedOf = (limit: string | undefined): number =>
  limit === undefined ? recommendedByDefault : Math.min(recommendedMax, Math.max(1, Number(limit)))

/** What is recommended of an archetype. @param providers in their order */
export const recommendationOf = (archetype: Archetype | 'all', providers: readonly Ranked[]) => ({
  archetype,
  count: providers.length,
  recommendations: providers.map((provider, nth) => ({
    providerId: provider.id,
    ...pick(provider, 'displayName', 'archetype', 'successfulIngestionCount'),
    ...lastIngestion(provider),
    rank: nth + 1,
  })),
})
