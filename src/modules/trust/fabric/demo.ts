import type { Writer } from '../../../../db/engine.ts'
import { type Attestation, type CountName, isCounted } from './domain.ts'
import type { TrustDeps } from './providers.ts'
import { addCounts } from './registry.ts'

/** An attestation that no chain has, of an address that has a wallet. */
export type DemoAttestation = Pick<Attestation, 'chainId' | 'uid' | 'schema' | 'attester' | 'isOfSelf' | 'blockNumber' | 'blockAt'>

/** Puts attestations there that are made up, marked as such, and counts them by the grants that there are. What is there already is left. */
export function insertDemoAttestations(deps: TrustDeps, made: readonly DemoAttestation[]): Promise<void> {
  const { trustStore: store } = deps
  return deps.db.write(async (tx: Writer) => {
    // No change of the registry comes between.
    await store.raise(tx)
    const grants = await store.grantsOfAddresses([...new Set(made.map(({ attester }) => attester))], tx)
    const ofAddress = Map.groupBy(grants, ({ address }) => address)
    const deltas: Partial<Record<CountName, number>> = {}
    const [chainId] = made.map((one) => one.chainId)
    for (const one of made) {
      const row = { ...one, revokedBlock: null, isDemo: true }
      const counts = isCounted(row, ofAddress.get(one.attester) ?? [])
      if (!(await store.insertAttestation(tx, { ...row, isCounted: counts })) || !counts) continue
      deltas[`attestations.${one.schema}`] = (deltas[`attestations.${one.schema}`] ?? 0) + 1
    }
    if (chainId !== undefined) await addCounts(tx, deps, chainId, deltas)
  })
}
