/** Has every chain read once more from its beginning, once a day, to compare. */
export { beginRescans as rescanChains } from '../src/modules/trust/attestation/index.ts'
