import type { Writer } from '../../../../db/engine.ts'
import { type Attestation, type CountName, isCounted } from './domain.ts'
import type { TrustDeps } from './providers.ts'
import { addCounts } from './registry.ts'

/** A demo attestation that is on no chain. */
export type DemoAttestation = Pick<Attestation, 'chainId' | 'uid' | 'schema' | 'attester' | 'isOfSelf' | 'blockNumber' | 'blockAt'>

/** Inserts demo attestations and counts them by the current grants. Existing ones are left. */
export function insertDemoAttestations(deps: TrustDeps, attestations: readonly DemoAttestation[]): Promise<void> {
  const { trustStore: store } = deps
  return deps.db.write(async (tx: Writer) => {
    // Locks the registry.
    await store.raise(tx)
    const grants = await store.grantsOfAddresses([...new Set(attestations.map(({ attester }) => attester))], tx)
    const ofAddress = Map.groupBy(grants, ({ address }) => address)
    const deltas: Partial<Record<CountName, number>> = {}
    const [chainId] = attestations.map((one) => one.chainId)
    for (const attestation of attestations) {
      const row = { ...attestation, revokedBlock: null, isDemo: true }
      const counts = isCounted(row, ofAddress.get(attestation.attester) ?? [])
      if (!(await store.insertAttestation(tx, { ...row, isCounted: counts })) || !counts) continue
      deltas[`attestations.${attestation.schema}`] = (deltas[`attestations.${attestation.schema}`] ?? 0) + 1
    }
    if (chainId !== undefined) await addCounts(tx, deps, chainId, deltas)
  })
}
