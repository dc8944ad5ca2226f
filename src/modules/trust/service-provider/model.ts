import { t } from 'elysia'
import { fieldsOf, Instant, integer, nullable, oneOf, pageOf, pageQuery, publicName, text } from '../../../http/schema.ts'
import { WalletBodies, WalletRecord } from '../fabric/model.ts'
import { archetypes, displayNameMax, providerStatuses } from './domain.ts'

export const ProviderRecord = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'displayName'),
    archetype: oneOf(archetypes),
    status: oneOf(providerStatuses),
    wallets: t.Array(WalletRecord, { description: 'By address and time' }),
    statusHistory: t.Array(
      t.Object({ status: oneOf(providerStatuses), at: Instant, actor: t.String({ description: 'Id of the person who did it' }) }),
      { description: 'History of the status, oldest first' },
    ),
    successfulIngestionCount: integer({ minimum: 0, description: 'Number of accepted messages' }),
    lastSuccessfulIngestionAt: nullable(Instant),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'ServiceProvider' },
)
export const CreatedProvider = t.Object(
  { ...ProviderRecord.properties, webhookSecret: t.String({ description: 'Secret for signing its messages. Returned only once' }) },
  { title: 'CreatedServiceProvider' },
)
export const Providers = pageOf(ProviderRecord)
export const RotatedSecret = t.Object(
  {
    webhookSecret: t.String({ description: 'Returned only once' }),
    previousUntil: t.String({ format: 'date-time', maxLength: 40, description: 'When the previous secret expires' }),
  },
  { title: 'RotatedSecret' },
)

const displayName = text(displayNameMax, { ...publicName, description: 'Public' })
export const CreateProvider = t.Object({ displayName, archetype: oneOf(archetypes), wallets: t.Optional(WalletBodies) })
export const ChangeProvider = t.Object({
  displayName: t.Optional(displayName),
  archetype: t.Optional(oneOf(archetypes)),
  status: t.Optional(oneOf(providerStatuses)),
  wallets: t.Optional(WalletBodies),
})
export const ListProviders = t.Object({ ...pageQuery, status: t.Optional(oneOf(providerStatuses)) })

const archetypeFilter = ['all', ...archetypes] as const
export const RecommendQuery = t.Object({
  archetype: t.Optional(oneOf(archetypeFilter, { description: 'Default: all' })),
  limit: t.Optional(t.String({ ...pageQuery.limit, description: 'Default: 10. Clamped to 1 to 50' })),
})
export const Recommendation = t.Object(
  {
    archetype: oneOf(archetypeFilter),
    count: integer({ minimum: 0, description: 'Number in this response' }),
    recommendations: t.Array(
      t.Object({
        ...fieldsOf(t.String(), 'providerId', 'displayName'),
        archetype: oneOf(archetypes),
        successfulIngestionCount: integer({ minimum: 0 }),
        lastSuccessfulIngestionAt: nullable(Instant),
        rank: integer({ minimum: 1 }),
      }),
    ),
  },
  { title: 'ServiceProviderRecommendation' },
)

/** Any length: an unknown provider is refused as such. */
export const IngestionParam = t.Object({ providerId: t.String() })
export const Ingested = t.Object({ received: t.Literal(true) }, { title: 'IngestionReceipt' })
