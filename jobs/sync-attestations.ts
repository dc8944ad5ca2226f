/** Reads attestations of every chain on, for as long as there are any, some seconds at most. @throws Error where no node of a chain answers */
export { runSync as syncAttestations } from '../src/modules/trust/attestation/index.ts'
