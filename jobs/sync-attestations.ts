/**
 * Reads new attestations of every chain for half a minute at most.
 * @throws Error if no node of a chain responds
 */
export { runSync as syncAttestations } from '../src/modules/trust/attestation/index.ts'
