/**
 * Calls of the Ethereum Attestation Service and the content of attestations. Loads viem: import this by `await
 * import()`.
 */
import {
  type AbiParameter,
  type AbiParameterToPrimitiveType,
  BaseError,
  type ContractFunctionReturnType,
  ContractFunctionRevertedError,
  decodeAbiParameters,
  decodeFunctionResult,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  type Hex,
  keccak256,
  type ParseAbiParameters,
  parseAbi,
  parseAbiParameters,
  parseEventLogs,
  stringToBytes,
  type TransactionReceipt,
  zeroHash,
} from 'viem'
import { type SchemaName, schemaTexts, schemaUids, zeroAddress } from '../../lib/eas.ts'
import { type Connection, failureIn } from './client.ts'

const abi = parseAbi([
  'struct RequestData { address recipient; uint64 expirationTime; bool revocable; bytes32 refUID; bytes data; uint256 value; }',
  'struct Request { bytes32 schema; RequestData data; }',
  'struct Attestation { bytes32 uid; bytes32 schema; uint64 time; uint64 expirationTime; uint64 revocationTime; bytes32 refUID; address recipient; address attester; bool revocable; bytes data; }',
  'struct SchemaRecord { bytes32 uid; address resolver; bool revocable; string schema; }',
  'function attest(Request request) payable returns (bytes32)',
  'function getAttestation(bytes32 uid) view returns (Attestation)',
  'function getSchemaRegistry() view returns (address)',
  'function register(string schema, address resolver, bool revocable) returns (bytes32)',
  'function getSchema(bytes32 uid) view returns (SchemaRecord)',
  'event Attested(address indexed recipient, address indexed attester, bytes32 uid, bytes32 indexed schemaUID)',
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

type Named<Parameters> = Extract<Parameters extends readonly unknown[] ? Parameters[number] : never, AbiParameter & { name: string }>
/** The fields of each schema. Times are seconds, amounts are cents. */
export type Statements = {
  [Name in SchemaName]: {
    [Field in Named<ParseAbiParameters<(typeof schemaTexts)[Name]>> as Field['name']]: AbiParameterToPrimitiveType<Field>
  }
}

/** Times are seconds; 0 means never. Addresses are in lower case. */
export type Attestation = ContractFunctionReturnType<typeof abi, 'view', 'getAttestation'>

/** Its `data` is encoded by `encodeStatement`. */
export type AttestationRequest = { schema: Hex; recipient: Hex; data: Hex }

/** Returns the reference of a merchant, lender or loan on the chain: keccak256 of the UTF-8 id. */
export const refOf = (id: string): Hex => keccak256(stringToBytes(id))

/** Computes the uid of a revocable schema without a resolver. */
export const uidOfSchema = (text: string): Hex => keccak256(encodePacked(['string', 'address', 'bool'], [text, zeroAddress, true]))

const parametersOf = (schema: SchemaName): readonly AbiParameter[] => parseAbiParameters(schemaTexts[schema] as string)

/**
 * Encodes the data of an attestation.
 * @throws if a value does not fit its type
 */
export function encodeStatement<Name extends SchemaName>(schema: Name, statement: Statements[Name]): Hex {
  const types = parametersOf(schema)
  const values = types.map(({ name = '' }) => (statement as Readonly<Record<string, unknown>>)[name])
  return encodeAbiParameters(types, values)
}

/** Decodes the data of an attestation; undefined if encoding the result gives other bytes. */
export function decodeStatement<Name extends SchemaName>(schema: Name, data: Hex): Statements[Name] | undefined {
  const types = parametersOf(schema)
  try {
    const values = decodeAbiParameters(types, data)
    const statement = Object.fromEntries(types.map(({ name = '' }, index) => [name, values[index]])) as Statements[Name]
    return encodeStatement(schema, statement) === data.toLowerCase() ? statement : undefined
  } catch {
    return undefined
  }
}

/** Returns the arguments of `attest`. */
export const attestationArgs = ({ schema, recipient, data }: AttestationRequest) =>
  [{ schema, data: { recipient, expirationTime: 0n, revocable: true, refUID: zeroHash, data, value: 0n } }] as const

/** Returns the call data that registers a schema in the SchemaRegistry. */
export const registrationOf = (name: SchemaName): Hex =>
  encodeFunctionData({ abi, functionName: 'register', args: [schemaTexts[name], zeroAddress, true] })

/** Returns the call data that attests. */
export const attestationOf = (request: AttestationRequest): Hex =>
  encodeFunctionData({ abi, functionName: 'attest', args: attestationArgs(request) })

/** Returns the call data that reads an attestation. */
export const attestationCall = (uid: Hex): Hex => encodeFunctionData({ abi, functionName: 'getAttestation', args: [uid] })

/**
 * Decodes the result of `getAttestation`; undefined if there is no such attestation.
 * @throws for a malformed result
 */
export function decodeAttestation(answer: Hex): Attestation | undefined {
  const attestation = decodeFunctionResult({ abi, functionName: 'getAttestation', data: answer })
  const { recipient, attester } = attestation
  return attestation.uid === zeroHash
    ? undefined
    : { ...attestation, recipient: recipient.toLowerCase() as Hex, attester: attester.toLowerCase() as Hex }
}

/**
 * Decodes a repayment (schema C) from the result of `getAttestation`. `NOTHING`: it cannot be decoded. `ABSENT`: the
 * node does not have it. `FORGED`: it does not match its uid.
 */
export function decodeRepayment(result: string, uid: string): Statements['C'] | 'NOTHING' | 'ABSENT' | 'FORGED' {
  try {
    const attestation = decodeAttestation(result as Hex)
    if (!attestation) return 'ABSENT'
    if (attestation.uid !== uid || attestation.schema !== schemaUids.C || !isHashOf(attestation)) return 'FORGED'
    return decodeStatement('C', attestation.data) ?? 'NOTHING'
  } catch {
    return 'FORGED'
  }
}

/** The contract numbers otherwise equal attestations from 0. */
const bumpsMax = 16

/** Returns whether the uid is the hash of the attestation, so that a node cannot forge one. */
const isHashOf = ({ uid, schema, recipient, attester, time, expirationTime, revocable, refUID, data }: Attestation): boolean => {
  const types = ['bytes32', 'address', 'address', 'uint64', 'uint64', 'bool', 'bytes32', 'bytes', 'uint32'] as const
  const values = [schema, recipient, attester, time, expirationTime, revocable, refUID, data] as const
  return Array.from({ length: bumpsMax }, (_, bump) => encodePacked(types, [...values, bump])).some((bytes) => keccak256(bytes) === uid)
}

/**
 * Reads the SchemaRegistry from EAS; undefined if there is no EAS at the address.
 * @throws NodeError
 */
export const registryAt = ({ ask }: Connection, address: Hex): Promise<Hex | undefined> =>
  ask(async (client) => {
    try {
      return (await client.readContract({ address, abi, functionName: 'getSchemaRegistry' })).toLowerCase() as Hex
    } catch (error) {
      if (revertIn(error) || !failureIn(error)) return undefined
      throw error
    }
  })

/**
 * Returns whether the SchemaRegistry at `registry` has the schema.
 * @throws NodeError
 */
export const isRegistered = ({ ask }: Connection, registry: Hex, name: SchemaName): Promise<boolean> =>
  ask(async (client) => {
    const args = [schemaUids[name]] as const
    return (await client.readContract({ address: registry, abi, functionName: 'getSchema', args })).uid === schemaUids[name]
  })

/**
 * Simulates an attestation.
 * @returns the name of the contract's error, '' for one without a name; undefined on success
 */
export const refusalOf = ({ ask }: Connection, address: Hex, account: Hex, request: AttestationRequest): Promise<string | undefined> =>
  ask(async (client) => {
    try {
      await client.simulateContract({ address, account, abi, functionName: 'attest', args: attestationArgs(request) })
      return undefined
    } catch (error) {
      const revert = revertIn(error)
      if (revert) return revert.data?.errorName ?? ''
      throw error
    }
  })

function revertIn(error: unknown): ContractFunctionRevertedError | undefined {
  const cause = error instanceof BaseError ? error.walk((inner) => inner instanceof ContractFunctionRevertedError) : undefined
  return cause instanceof ContractFunctionRevertedError ? cause : undefined
}

/** Returns the uid from the log of an attestation. */
export function uidIn({ logs }: TransactionReceipt, contract: Hex, schema: SchemaName, attester: Hex): Hex | undefined {
  const attested = parseEventLogs({ abi, eventName: 'Attested', logs, args: { attester, schemaUID: schemaUids[schema] } })
  return attested.find(({ address }) => address.toLowerCase() === contract)?.args.uid
}
