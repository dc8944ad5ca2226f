/**
 * Calls of the Ethereum Attestation Service, and what its answers and attestations hold.
 * Loads viem: import this by `await import()`, so that a start does not.
 */
import {
  type AbiParameter,
  decodeAbiParameters,
  decodeErrorResult,
  decodeFunctionResult,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  type Hex,
  keccak256,
  parseAbi,
  parseAbiParameters,
  stringToBytes,
} from 'viem'
import { type SchemaName, schemaTexts, zeroAddress } from '../../lib/eas.ts'

const abi = parseAbi([
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

/** As `getAttestation` has it. Times are seconds; 0 means never. */
export type Attestation = {
  uid: Hex
  schema: Hex
  time: bigint
  expirationTime: bigint
  revocationTime: bigint
  refUID: Hex
  recipient: Hex
  attester: Hex
  revocable: boolean
  data: Hex
}

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

const noUid: Hex = `0x${'0'.repeat(64)}`

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

const dataOf = ({ recipient, data, expirationTime = 0n, refUID = noUid }: AttestationRequest) => ({
  recipient,
  expirationTime,
  revocable: true,
  refUID,
  data,
  value: 0n,
})

/** Call data. `register`, `getSchema` are of the SchemaRegistry, all others of EAS. */
export const callData = {
  register: (text: string): Hex => encodeFunctionData({ abi, functionName: 'register', args: [text, zeroAddress, true] }),
  getSchema: (uid: Hex): Hex => encodeFunctionData({ abi, functionName: 'getSchema', args: [uid] }),
  getSchemaRegistry: (): Hex => encodeFunctionData({ abi, functionName: 'getSchemaRegistry' }),
  attest: (request: AttestationRequest): Hex =>
    encodeFunctionData({ abi, functionName: 'attest', args: [{ schema: request.schema, data: dataOf(request) }] }),
  /** All in one transaction; those of a schema that follow each other share an entry. */
  multiAttest: (requests: readonly AttestationRequest[]): Hex =>
    encodeFunctionData({ abi, functionName: 'multiAttest', args: [requestsOf(requests)] }),
  revoke: (schema: Hex, uid: Hex): Hex => encodeFunctionData({ abi, functionName: 'revoke', args: [{ schema, data: { uid, value: 0n } }] }),
  getAttestation: (uid: Hex): Hex => encodeFunctionData({ abi, functionName: 'getAttestation', args: [uid] }),
  isAttestationValid: (uid: Hex): Hex => encodeFunctionData({ abi, functionName: 'isAttestationValid', args: [uid] }),
}

function requestsOf(requests: readonly AttestationRequest[]) {
  const groups: { schema: Hex; data: ReturnType<typeof dataOf>[] }[] = []
  for (const request of requests) {
    const last = groups.at(-1)
    if (last?.schema === request.schema) last.data.push(dataOf(request))
    else groups.push({ schema: request.schema, data: [dataOf(request)] })
  }
  return groups
}

/** What `getAttestation` answered; undefined where there is none of that uid. @throws where the answer is none of the kind */
export function decodeAttestation(answer: Hex): Attestation | undefined {
  const attestation = decodeFunctionResult({ abi, functionName: 'getAttestation', data: answer })
  return attestation.uid === noUid
    ? undefined
    : { ...attestation, recipient: lower(attestation.recipient), attester: lower(attestation.attester) }
}

/** What `isAttestationValid` answered: whether there is one, revoked or not. */
export const decodeIsAttestationValid = (answer: Hex): boolean =>
  decodeFunctionResult({ abi, functionName: 'isAttestationValid', data: answer })

/** What `getSchemaRegistry` answered. */
export const decodeSchemaRegistry = (answer: Hex): Hex =>
  lower(decodeFunctionResult({ abi, functionName: 'getSchemaRegistry', data: answer }))

/** What `getSchema` answered; undefined where there is none of that uid. */
export function decodeSchema(answer: Hex): { uid: Hex; resolver: Hex; revocable: boolean; schema: string } | undefined {
  const record = decodeFunctionResult({ abi, functionName: 'getSchema', data: answer })
  return record.uid === noUid ? undefined : { ...record, resolver: lower(record.resolver) }
}

/** What `attest` answered: the uid. */
export const decodeAttest = (answer: Hex): Hex => decodeFunctionResult({ abi, functionName: 'attest', data: answer })

/** The name of the error by which a contract refused, from the data of the refusal; undefined where it is none of EAS's. */
export function refusalOf(data: Hex): string | undefined {
  try {
    return decodeErrorResult({ abi, data }).errorName
  } catch {
    return undefined
  }
}

const lower = (address: Hex): Hex => address.toLowerCase() as Hex

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
