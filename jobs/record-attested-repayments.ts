/** Records what lenders attest of loans as repayments, and reverses what counts no more. */
export { recordAttestedRepayments } from '../src/modules/trust/attestation/index.ts'
