/** Schemas and events of the Ethereum Attestation Service as constants, so that a start computes no hashes. */

export const schemaNames = ['A', 'B', 'C', 'D'] as const
export type SchemaName = (typeof schemaNames)[number]
/** Returns whether a value of any type is one of the schemas A to D. */
export const isSchemaName = (value: unknown): value is SchemaName => schemaNames.some((name) => name === value)

/** The registered schema texts. A schema's uid is the hash of its text. */
export const schemaTexts = {
  A: 'bytes32 merchantRef,string shopUrl,uint8 method,bytes32 evidenceHash,uint64 verifiedAt',
  B: 'bytes32 merchantRef,bytes32 lenderRef,bytes32 methodologyHash,uint8 tier,uint64 ceilingUsdCents,uint8 operationalRisk,bytes32 inputsHash,uint64 assessedAt',
  C: 'bytes32 merchantRef,bytes32 loanRef,uint8 outcome,uint64 amountUsdCents,uint64 dueAt,uint64 settledAt',
  D: 'bytes32 providerRef,bytes32 subjectRef,uint8 archetype,uint8 claimType,uint32 observations,uint64 periodStart,uint64 periodEnd,bytes32 evidenceHash',
} as const satisfies Record<SchemaName, string>

/**
 * keccak256 of the packed text, no resolver, revocable: equal on every chain. A test compares them with the registry.
 */
export const schemaUids: Readonly<Record<SchemaName, `0x${string}`>> = {
  A: '0x211416f173e1102df8a359ad0fee86df90b04c0ad65af543f4d38ebce9cf6f03',
  B: '0x39abc44ed57e59f203b2b43191538698f56522ac8be895062f973aac9d3f007c',
  C: '0x215a1b6447839a47f9873d51d9c8a9c902da10e369532bcf6cc2fb3ab756de7a',
  D: '0xd1f950a8da27a1a2c5049d5970b46406bd9ca2731f93ce1c2586b23bd3f6770a',
}

/**
 * Topic of `Attested(address indexed recipient, address indexed attester, bytes32 uid, bytes32 indexed schemaUID)`.
 * `Revoked` has the same parameters.
 */
export const attestedTopic = '0x8bf46bf4cfd674fa735a3d63ec1c9ad4153f033c290341f3a588b75685141b35'
export const revokedTopic = '0xf930a6e2523c9cc298691873087a740550b8fc85a0680830414c148ed927f615'

/** Stands for no recipient and no resolver. */
export const zeroAddress = '0x0000000000000000000000000000000000000000'

/** An attestation event or a revocation event. */
export type EasLog = {
  readonly kind: 'ATTESTED' | 'REVOKED'
  readonly uid: string
  readonly schemaUid: string
  readonly attester: string
  readonly recipient: string
  readonly blockNumber: number
}
