import type { serviceProviderStatusHistory, serviceProviders } from '../../../../db/schema/trust.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { assertReachable, statesOf, type Transitions } from '../../../lib/transitions.ts'
import { type Difference, differenceOf, redacted } from '../../operations/audit/domain.ts'
import { type Wallet, walletView } from '../fabric/domain.ts'

export type ServiceProvider = typeof serviceProviders.$inferSelect
export type ProviderStatus = ServiceProvider['status']
export type Archetype = ServiceProvider['archetype']
export type ProviderStatusEntry = typeof serviceProviderStatusHistory.$inferSelect

export const providerTransitions = assertReachable('PENDING_REVIEW', {
  PENDING_REVIEW: ['ACTIVE'],
  ACTIVE: ['SUSPENDED'],
  SUSPENDED: ['ACTIVE', 'ARCHIVED'],
  ARCHIVED: [],
} as const satisfies Transitions<ProviderStatus>)
export const providerStatuses = statesOf(providerTransitions)

export const archetypes = ['generic', 'warehouse', 'third_party_logistics', 'cross_border'] as const satisfies readonly Archetype[]
export const displayNameMax = 200

/** Returns the context that a provider's secrets are sealed with. */
export const providerSecretSeal = (providerId: string): string => `${providerId}/ingestion`

/** How long a replaced secret stays valid. */
export const previousSecretMs = 24 * 60 * 60 * 1_000

/** Joins the secrets for sealing, newest first. */
export const joinSecrets = (newest: string, previous: string | undefined): string =>
  previous === undefined ? newest : `${newest} ${previous}`
/**
 * Returns the valid secrets, newest first.
 * @param unsealed the text of `joinSecrets`
 */
export function validSecrets(unsealed: string, previousSecretUntil: number | null, now: number): string[] {
  const [newest = '', previous] = unsealed.split(' ')
  return previous !== undefined && previousSecretUntil !== null && now < previousSecretUntil ? [newest, previous] : [newest]
}

/** Returns the difference for the audit trail. All of it is public. */
export const providerDifference = (
  before: (ServiceProvider & { wallets: readonly Wallet[] }) | undefined,
  after: ServiceProvider & { wallets: readonly Wallet[] },
): Difference => differenceOf(before && auditedFields(before), auditedFields(after), ['displayName', 'archetype', 'status', 'wallets'])
const auditedFields = ({ displayName, archetype, status, wallets }: ServiceProvider & { wallets: readonly Wallet[] }) => ({
  displayName,
  archetype,
  status,
  ...(wallets.length > 0 ? { wallets: wallets.map(walletView) } : {}),
})

/** 0 means none yet. */
const lastIngestion = ({ lastSuccessfulIngestionAt: at }: Pick<ServiceProvider, 'lastSuccessfulIngestionAt'>) =>
  isoTimes({ lastSuccessfulIngestionAt: at === 0 ? null : at })

/** The difference of a replaced secret. */
export const secretDifference: Difference = { before: { webhookSecret: redacted }, after: { webhookSecret: redacted } }

/** Renders a service provider as operators see it. */
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

export type RankedProvider = Pick<
  ServiceProvider,
  'id' | 'displayName' | 'archetype' | 'successfulIngestionCount' | 'lastSuccessfulIngestionAt'
>

const recommendedDefault = 10
const recommendedMax = 50
/** Clamps the requested number of recommendations. */
export const recommendationLimit = (limit: string | undefined): number =>
  limit === undefined ? recommendedDefault : Math.min(recommendedMax, Math.max(1, Number(limit)))

/**
 * Builds the recommendation.
 * @param providers in order
 */
export const recommendationOf = (archetype: Archetype | 'all', providers: readonly RankedProvider[]) => ({
  archetype,
  count: providers.length,
  recommendations: providers.map((provider, nth) => ({
    providerId: provider.id,
    ...pick(provider, 'displayName', 'archetype', 'successfulIngestionCount'),
    ...lastIngestion(provider),
    rank: nth + 1,
  })),
})
