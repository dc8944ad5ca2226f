import { t } from 'elysia'
import { fieldsOf, Instant, instantOf, integer, maybe, nullable, pageOf, pageQuery, text } from '../../../http/schema.ts'
import { addressForm } from '../../../lib/evm.ts'

const walletsMax = 100
const address = text(42, { ...addressForm, description: 'Ethereum address, with its checksum or in lower case' })
const from = t.Optional(instantOf('When it starts to count. Default: now'))
const to = maybe(instantOf('When it stops to count, exclusive. Default: no end'))
export const WalletBody = t.Object({ address, from, to })
export const WalletBodies = t.Array(WalletBody, {
  maxItems: walletsMax,
  description: 'Replaces the whole list. Periods of the same address must not overlap',
})
export const WalletRecord = t.Object(
  { address: t.String({ description: 'With its checksum (EIP-55)' }), from: Instant, to: nullable(Instant) },
  { title: 'AttesterWallet' },
)

export const PlatformWallet = t.Object(
  { id: t.String(), ...WalletRecord.properties, ...fieldsOf(Instant, 'createdAt', 'updatedAt') },
  { title: 'PlatformWallet' },
)
export const PlatformWallets = pageOf(PlatformWallet)
export const ChangePlatformWallet = t.Partial(WalletBody)
export const ListPlatformWallets = t.Object(pageQuery)

const counted = (...names: string[]) => t.Object(fieldsOf(integer({ minimum: 0 }), ...names))
export const StatsRecord = t.Object(
  {
    lenders: counted('total', 'active'),
    serviceProviders: counted('total', 'active'),
    methodologies: counted('totalLenders', 'activeVersions'),
    attestations: counted('schemaA', 'schemaB', 'schemaC', 'schemaD'),
    asOf: Instant,
  },
  { title: 'TrustFabricStats' },
)
export const ProofRecord = t.Object(
  {
    asOf: Instant,
    registryHash: t.String({ description: 'SHA-256 of all grants, in hex. `rule` defines the hashed text' }),
    chains: t.Array(
      t.Object({
        chainId: integer(),
        contract: t.String({ description: 'Of the Ethereum Attestation Service' }),
        schemas: t.Object(fieldsOf(t.String(), 'A', 'B', 'C', 'D'), { description: 'Schema UIDs' }),
        countedTo: nullable(
          t.Object({ number: integer(), hash: t.String() }, { description: 'The last block that is counted. Null if there is none yet' }),
        ),
      }),
    ),
    rule: t.String({ description: 'The rule of counting, in words' }),
  },
  { title: 'TrustFabricProof' },
)
