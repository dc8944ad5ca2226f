/** Records loan repayments that lenders attest, and reverses those that no longer count. */
export { recordAttestedRepayments } from '../src/modules/trust/attestation/index.ts'
