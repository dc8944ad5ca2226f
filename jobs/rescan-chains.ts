/** Starts a rescan of every chain, once a day. */
export { beginRescans as rescanChains } from '../src/modules/trust/attestation/index.ts'
