/** Chains whose attestations are counted. */
import { readChains } from '../lib/chain-settings.ts'
import { signingKey } from '../lib/signing-key.ts'
import { secret } from './kinds.ts'

export const chains = {
  CHAINS: secret(
    'chains',
    'JSON',
    'Chains whose attestations count: `[{ "chainId": 8453, "rpc": ["https://…"], "contract"?, "startBlock"?, "confirmations"? }]`. Contract and first block of the main chains are built in. Without `confirmations`, blocks are read when they are finalized',
    Object.assign(readChains, { whenUnset: [] }),
  ),
  CHAIN_SIGNING_KEY: secret('chainSigningKey', 'hex', 'Private key of `souk chain register` and `attest` without `--key-file`', signingKey),
} as const
