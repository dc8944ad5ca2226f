/** The public figures: sums, and the proof by which anyone can verify them. */

import { schemaUids } from '../../../lib/eas.ts'
import { withChecksum } from '../../../lib/evm.ts'
import { type CountName, registryHash } from './domain.ts'
import type { TrustDeps } from './providers.ts'

type Deps = Pick<TrustDeps, 'trustStore' | 'clock' | 'publishedChains'>

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
 * Sums the counts of published chains. Revocations on other chains are unknown, so those chains are left out.
 * @param counts the stored counts, some by chain
 */
function statsOf(counts: readonly { name: CountName; chainId: number; value: number }[], chainIds: ReadonlySet<number>, now: number) {
  const sums = { ...noSums }
  for (const { name, chainId, value } of counts) if (chainIds.has(chainId)) sums[name] += value
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

/** Reads the statistics as of the last commit. */
export const readStats = async ({ trustStore, publishedChains, clock }: Deps): Promise<Stats> =>
  statsOf(await trustStore.counts(), publishedChains, clock.now())

/** Returns the statistics as JSON without waiting; undefined if the engine cannot read synchronously. */
export function statsJsonSync({ trustStore, publishedChains, clock }: Deps): string | undefined {
  const counts = trustStore.countsSync()
  return counts && JSON.stringify(statsOf(counts, publishedChains, clock.now()))
}

/** The rule in words, for the proof. */
export const countingRule =
  'An attestation of the Ethereum Attestation Service counts if it was made under one of the schemas by an address that was granted that schema at the time of its block, and is not revoked by the block up to which is counted; one that has expired counts. Grants: schema A for the wallets of the platform, B of lenders, C of lenders and of the platform, D of service providers, of whom none counts that has itself as its recipient. A wallet is granted its schemas for the part of its period in which its lender or service provider was ACTIVE. registryHash is the SHA-256, in hex, of all grants, each a line of `address schema from to` with one space between and a line feed at its end, sorted by address, schema and from: addresses in lower case, times in milliseconds since 1970 UTC, `to` excluded and `-` where there is none. A schema is known by its uid, which is keccak256 of its text, the zero address and true, packed.'

/** Reads what is needed to verify the statistics (`souk chain verify`). Hash and blocks are of one snapshot. */
export async function readProof({ trustStore, publishedChains, clock }: Deps) {
  const { registryHash, chains } = await readBasis(trustStore)
  return {
    asOf: new Date(clock.now()).toISOString(),
    registryHash,
    chains: chains
      .filter(({ chainId }) => publishedChains.has(chainId))
      .map(({ chainId, contract, countedTo, countedToHash }) => ({
        chainId,
        contract: withChecksum(contract),
        schemas: schemaUids,
        countedTo: countedToHash === null ? null : { number: countedTo, hash: countedToHash },
      })),
    rule: countingRule,
  }
}
export type Proof = Awaited<ReturnType<typeof readProof>>

const hashes = new WeakMap<TrustDeps['trustStore'], { generation: number; registryHash: string }>()

/** Caches the hash until the registry changes, since it may hold many grants. */
async function readBasis(trustStore: TrustDeps['trustStore']) {
  const { generation, chains } = await trustStore.progress()
  const cached = hashes.get(trustStore)
  if (cached?.generation === generation) return { ...cached, chains }
  const now = await trustStore.registry()
  const hashed = { generation: now.generation, registryHash: registryHash(now.grants) }
  hashes.set(trustStore, hashed)
  return { ...hashed, chains: now.chains }
}
