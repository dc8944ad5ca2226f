/**
 * Calls of the Ethereum Attestation Service, and what its answers and attestations hold.
 * Loads viem: import this by `await import()`, so that a start does not.
 */
import {
  type AbiParameter,
  type ContractFunctionReturnType,
  decodeAbiParameters,
  decodeFunctionResult,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  type Hex,
  keccak256,
  parseAbi,
  parseAbiParameters,
  stringToBytes,
  zeroHash,
} from 'viem'
import { type SchemaName, schemaTexts, zeroAddress } from '../../lib/eas.ts'

export const easAbi = parseAbi([
  'struct RequestData { address recipient; uint64 expirationTime; bool revocable; bytes32 refUID; bytes data; uint256 value; }',
  'struct Request { bytes32 schema; RequestData data; }',
  'struct Requests { bytes32 schema; RequestData[] data; }',
  'struct RevocationData { bytes32 uid; uint256 value; }',
  'struct Revocation { bytes32 schema; RevocationData data; }',
  'struct Attestation { bytes32 uid; bytes32 schema; uint64 time; uint64 expirationTime; uint64 revocationTime; bytes32 refUID; address recipient; address attester; bool revocable; bytes data; }',
  'struct SchemaRecord { bytes32 uid; address resolver; bool revocable; string schema; }',
  'function attest(Request request) payable returns (bytes32)',
  'function multiAttest(Requests[] requests) payable returns (bytes32[])',
  'function revoke(Revocation request) payable',
  'function getAttestation(bytes32 uid) view returns (Attestation)',
  'function isAttestationValid(bytes32 uid) view returns (bool)',
  'function getSchemaRegistry() view returns (address)',
  'function register(string schema, address resolver, bool revocable) returns (bytes32)',
  'function getSchema(bytes32 uid) view returns (SchemaRecord)',
  'event Attested(address indexed recipient, address indexed attester, bytes32 uid, bytes32 indexed schemaUID)',
  'event Revoked(address indexed recipient, address indexed attester, bytes32 uid, bytes32 indexed schemaUID)',
  'error AccessDenied()',
  'error AlreadyExists()',
  'error AlreadyRevoked()',
  'error InsufficientValue()',
  'error InvalidExpirationTime()',
  'error InvalidSchema()',
  'error Irrevocable()',
  'error NotFound()',
  'error NotPayable()',
])

/** What an attestation of each schema says, in the order of its text. Times are seconds, amounts are cents. */
export type Statements = {
  A: { merchantRef: Hex; shopUrl: string; method: number; evidenceHash: Hex; verifiedAt: bigint }
  B: {
    merchantRef: Hex
    lenderRef: Hex
    methodologyHash: Hex
    tier: number
    ceilingUsdCents: bigint
    operationalRisk: number
    inputsHash: Hex
    assessedAt: bigint
  }
  C: { merchantRef: Hex; loanRef: Hex; outcome: number; amountUsdCents: bigint; dueAt: bigint; settledAt: bigint }
  D: {
    providerRef: Hex
    subjectRef: Hex
    archetype: number
    claimType: number
    observations: number
    periodStart: bigint
    periodEnd: bigint
    evidenceHash: Hex
  }
}

/** Times are seconds; 0 means never. Addresses are in lower case. */
export type Attestation = ContractFunctionReturnType<typeof easAbi, 'view', 'getAttestation'>

export type AttestationRequest = {
  schema: Hex
  recipient: Hex
  /** Encoded by `encodeStatement`. */
  data: Hex
  /** Seconds; 0, the default: never. */
  expirationTime?: bigint
  /** The attestation that this one is about; none by default. */
  refUID?: Hex
}

/** How merchants, lenders, loans and the like are named on the chain: keccak256 of the UTF-8 id. */
export const refOf = (id: string): Hex => keccak256(stringToBytes(id))

/** The uid of a revocable schema without a resolver, from its text. */
export const uidOfSchema = (text: string): Hex => keccak256(encodePacked(['string', 'address', 'bool'], [text, zeroAddress, true]))

const parameters: Readonly<Record<SchemaName, readonly AbiParameter[]>> = {
  A: parseAbiParameters(schemaTexts.A),
  B: parseAbiParameters(schemaTexts.B),
  C: parseAbiParameters(schemaTexts.C),
  D: parseAbiParameters(schemaTexts.D),
}

/** @throws where a value does not fit its type */
export const encodeStatement = <Name extends SchemaName>(schema: Name, statement: Statements[Name]): Hex =>
  encode(parameters[schema], statement)

const encode = (types: readonly AbiParameter[], values: Readonly<Record<string, unknown>>): Hex =>
  encodeAbiParameters(
    types,
    types.map(({ name = '' }) => values[name]),
  )

/** What the data of an attestation say; undefined where they are not, to the byte, what `encodeStatement` makes of it. */
export function decodeStatement<Name extends SchemaName>(schema: Name, data: Hex): Statements[Name] | undefined {
  const types = parameters[schema]
  try {
    const values = decodeAbiParameters(types, data)
    const statement = Object.fromEntries(types.map(({ name = '' }, at) => [name, values[at]])) as Statements[Name]
    return encode(types, statement) === data.toLowerCase() ? statement : undefined
  } catch {
    return undefined
  }
}

/** What `attest` is called with. */
export const attestationArgs = ({ schema, recipient, data, expirationTime = 0n, refUID = zeroHash }: AttestationRequest) =>
  [{ schema, data: { recipient, expirationTime, revocable: true, refUID, data, value: 0n } }] as const

/** The call that registers a schema, for the SchemaRegistry. */
export const registrationOf = (name: SchemaName): Hex =>
  encodeFunctionData({ abi: easAbi, functionName: 'register', args: [schemaTexts[name], zeroAddress, true] })

export const attestationOf = (request: AttestationRequest): Hex =>
  encodeFunctionData({ abi: easAbi, functionName: 'attest', args: attestationArgs(request) })

/** The call that reads an attestation. */
export const readingOf = (uid: Hex): Hex => encodeFunctionData({ abi: easAbi, functionName: 'getAttestation', args: [uid] })

/** What `getAttestation` answered; undefined where there is none of that uid. @throws where the answer is none of the kind */
export function decodeAttestation(answer: Hex): Attestation | undefined {
  const attestation = decodeFunctionResult({ abi: easAbi, functionName: 'getAttestation', data: answer })
  const { recipient, attester } = attestation
  return attestation.uid === zeroHash
    ? undefined
    : { ...attestation, recipient: recipient.toLowerCase() as Hex, attester: attester.toLowerCase() as Hex }
}

/** Attestations that are the same in all else are told apart by a number, from 0. */
const bumpsMax = 16

/** Whether an attestation is what its uid is the hash of: whoever answers with it cannot have made it up. */
export const isHashOf = ({ uid, schema, recipient, attester, time, expirationTime, revocable, refUID, data }: Attestation): boolean =>
  Array.from({ length: bumpsMax }, (_, bump) => bump).some(
    (bump) =>
      uid ===
      keccak256(
        encodePacked(
          ['bytes32', 'address', 'address', 'uint64', 'uint64', 'bool', 'bytes32', 'bytes', 'uint32'],
          [schema, recipient, attester, time, expirationTime, revocable, refUID, data, bump],
        ),
      ),
  )
