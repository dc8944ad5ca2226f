/** Chains whose attestations are counted. */
import { readChains } from '../lib/chain-settings.ts'
import { signingKey } from '../lib/signing-key.ts'
import { secret } from './kinds.ts'

export const chains = {
  CHAINS: secret(
    'chains',
    'JSON',
    'Chains whose attestations are counted: `[{ "chainId": 8453, "rpc": ["https://…"], "contract"?, "startBlock"?, "confirmations"? }]`; contract and first block are known of the main chains. Without `confirmations` a block is read once it is finalized',
    Object.assign(readChains, { whenUnset: [] }),
  ),
  CHAIN_SIGNING_KEY: secret('chainSigningKey', 'hex', 'Private key of `souk chain register` and `attest` without `--key-file`', signingKey),
} as const
