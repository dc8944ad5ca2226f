import { t } from 'elysia'
import { fieldsOf, Instant, instantOf, integer, maybe, nullable, pageOf, pageQuery, text } from '../../../http/schema.ts'
import { addressForm } from '../../../lib/evm.ts'

export const walletsMax = 100
const address = text(42, { ...addressForm, description: 'Of Ethereum, with its checksum or in small letters' })
const from = t.Optional(instantOf('From when it counts; left out, from now on'))
const to = maybe(instantOf('Until when, excluded; left out, until further notice'))
export const WalletBody = t.Object({ address, from, to })
export const WalletBodies = t.Array(WalletBody, {
  maxItems: walletsMax,
  description: 'All of them: what is left out is taken away. No two of an address may cover the same moment',
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
    registryHash: t.String({ description: 'SHA-256 of all grants, in hex; `rule` says of which text' }),
    chains: t.Array(
      t.Object({
        chainId: integer(),
        contract: t.String({ description: 'Of the Ethereum Attestation Service' }),
        schemas: t.Object(fieldsOf(t.String(), 'A', 'B', 'C', 'D'), { description: 'Their uids' }),
        countedTo: nullable(
          t.Object({ number: integer(), hash: t.String() }, { description: 'The last block that is counted; null: none yet' }),
        ),
      }),
    ),
    rule: t.String({ description: 'By which is counted, in words' }),
  },
  { title: 'TrustFabricProof' },
)
