/**
 * The schemas of attestations: their texts as they are registered with the Ethereum Attestation Service, and their uids, which are
 * `keccak256(encodePacked(text, resolver zero, revocable true))` and so the same on every chain. White space in a text changes its uid.
 */
export const attestationSchemas = {
  /** Brand control. */
  A: {
    text: 'bytes32 merchantRef,string shopUrl,uint8 method,bytes32 evidenceHash,uint64 verifiedAt',
    uid: '0x211416f173e1102df8a359ad0fee86df90b04c0ad65af543f4d38ebce9cf6f03',
  },
  /** Credit underwriting. */
  B: {
    text: 'bytes32 merchantRef,bytes32 lenderRef,bytes32 methodologyHash,uint8 tier,uint64 ceilingUsdCents,uint8 operationalRisk,bytes32 inputsHash,uint64 assessedAt',
    uid: '0x39abc44ed57e59f203b2b43191538698f56522ac8be895062f973aac9d3f007c',
  },
  /** Repayment history. */
  C: {
    text: 'bytes32 merchantRef,bytes32 loanRef,uint8 outcome,uint64 amountUsdCents,uint64 dueAt,uint64 settledAt',
    uid: '0x215a1b6447839a47f9873d51d9c8a9c902da10e369532bcf6cc2fb3ab756de7a',
  },
  /** Peer trust. */
  D: {
    text: 'bytes32 providerRef,bytes32 subjectRef,uint8 archetype,uint8 claimType,uint32 observations,uint64 periodStart,uint64 periodEnd,bytes32 evidenceHash',
    uid: '0xd1f950a8da27a1a2c5049d5970b46406bd9ca2731f93ce1c2586b23bd3f6770a',
  },
} as const

export type AttestationSchema = keyof typeof attestationSchemas
export const attestationSchemaNames = Object.keys(attestationSchemas) as [AttestationSchema, ...AttestationSchema[]]
