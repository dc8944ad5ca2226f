/** What anybody may read: sums, and by what they may be checked. Neither names anybody. */

import { schemaUids } from '../../../lib/eas.ts'
import { withChecksum } from '../../../lib/evm.ts'
import { type CountName, registryHash } from './domain.ts'
import type { TrustDeps } from './providers.ts'

type Deps = Pick<TrustDeps, 'trustStore' | 'clock' | 'toldChains'>

const noSums: Record<CountName, number> = {
  'lenders.total': 0,
  'lenders.active': 0,
  'serviceProviders.total': 0,
  'serviceProviders.active': 0,
  'methodologies.totalLenders': 0,
  'methodologies.activeVersions': 0,
  'attestations.A': 0,
  'attestations.B': 0,
  'attestations.C': 0,
  'attestations.D': 0,
}

/**
 * What is counted of a chain that is not read any more is left out: nobody sees what is revoked there. It is there again with the chain.
 * @param counts as they are kept: some by chain
 */
function statsOf(counts: readonly { name: CountName; chainId: number; value: number }[], told: ReadonlySet<number>, now: number) {
  const sums = { ...noSums }
  for (const { name, chainId, value } of counts) if (told.has(chainId)) sums[name] += value
  return {
    lenders: { total: sums['lenders.total'], active: sums['lenders.active'] },
    serviceProviders: { total: sums['serviceProviders.total'], active: sums['serviceProviders.active'] },
    methodologies: { totalLenders: sums['methodologies.totalLenders'], activeVersions: sums['methodologies.activeVersions'] },
    attestations: {
      schemaA: sums['attestations.A'],
      schemaB: sums['attestations.B'],
      schemaC: sums['attestations.C'],
      schemaD: sums['attestations.D'],
    },
    asOf: new Date(now).toISOString(),
  }
}
export type Stats = ReturnType<typeof statsOf>

/** The statistics, as of the last commit. */
export const readStats = async ({ trustStore, toldChains, clock }: Deps): Promise<Stats> =>
  statsOf(await trustStore.counts(), toldChains, clock.now())

/** The same as JSON, at once; undefined where an engine does not answer at once. */
export function statsNow({ trustStore, toldChains, clock }: Deps): string | undefined {
  const counts = trustStore.countsNow()
  return counts && JSON.stringify(statsOf(counts, toldChains, clock.now()))
}

/** By which attestations are counted, in words. */
export const rule =
  'An attestation of the Ethereum Attestation Service counts if it was made under one of the schemas by an address that was granted that schema at the time of its block, and is not revoked by the block up to which is counted; one that has expired counts. Grants: schema A for the wallets of the platform, B of lenders, C of lenders and of the platform, D of service providers, of whom none counts that has itself as its recipient. A wallet is granted its schemas for the part of its period in which its lender or service provider was ACTIVE. registryHash is the SHA-256, in hex, of all grants, each a line of `address schema from to` with one space between and a line feed at its end, sorted by address, schema and from: addresses in lower case, times in milliseconds since 1970 UTC, `to` excluded and `-` where there is none. A schema is known by its uid, which is keccak256 of its text, the zero address and true, packed.'

/** By what the statistics may be counted again: see `souk chain verify`. Hash and blocks are of one moment, and of the chains that are read. */
export async function readProof({ trustStore, toldChains, clock }: Deps) {
  const { registryHash, chains } = await basisOf(trustStore)
  return {
    asOf: new Date(clock.now()).toISOString(),
    registryHash,
    chains: chains
      .filter(({ chainId }) => toldChains.has(chainId))
      .map(({ chainId, contract, countedTo, countedToHash }) => ({
        chainId,
        contract: withChecksum(contract),
        schemas: schemaUids,
        countedTo: countedToHash === null ? null : { number: countedTo, hash: countedToHash },
      })),
    rule,
  }
}
export type Proof = Awaited<ReturnType<typeof readProof>>

const hashes = new WeakMap<TrustDeps['trustStore'], { generation: number; registryHash: string }>()

/** The registry may hold many grants: they are read and hashed when it has changed. */
async function basisOf(trustStore: TrustDeps['trustStore']) {
  const { generation, chains } = await trustStore.progress()
  const known = hashes.get(trustStore)
  if (known?.generation === generation) return { ...known, chains }
  const now = await trustStore.registry()
  const hashed = { generation: now.generation, registryHash: registryHash(now.grants) }
  hashes.set(trustStore, hashed)
  return { ...hashed, chains: now.chains }
}
