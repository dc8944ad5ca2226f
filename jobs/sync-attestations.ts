/** Reads attestations of every chain on, for as long as there are any, some seconds at most. */
export { syncChains as syncAttestations } from '../src/modules/attestation/index.ts'
