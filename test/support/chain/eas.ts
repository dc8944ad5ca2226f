/**
 * The Ethereum Attestation Service (EAS) on a node of the test: its real bytecode, souk's four schemas, and attesters.
 */
import easArtifact from '@ethereum-attestation-service/eas-contracts/artifacts/contracts/EAS.sol/EAS.json'
import registryArtifact from '@ethereum-attestation-service/eas-contracts/artifacts/contracts/SchemaRegistry.sol/SchemaRegistry.json'
import { encodeAbiParameters, encodeFunctionData, getContractAddress, parseAbi } from 'viem'
import {
  type Attestation,
  type AttestationRequest,
  attestationArgs,
  attestationCall,
  decodeAttestation,
  encodeStatement,
  refOf,
  registrationOf,
  type Statements,
} from '../../../src/clients/chain/eas.ts'
import { attestedTopic, type SchemaName, schemaNames, schemaUids, zeroAddress } from '../../../src/lib/eas.ts'
import { type Anvil, hexOf, startAnvil } from './anvil.ts'

type Hex = `0x${string}`

const abi = parseAbi([
  'struct RequestData { address recipient; uint64 expirationTime; bool revocable; bytes32 refUID; bytes data; uint256 value; }',
  'struct Requests { bytes32 schema; RequestData[] data; }',
  'struct RevocationData { bytes32 uid; uint256 value; }',
  'struct Revocation { bytes32 schema; RevocationData data; }',
  'function multiAttest(Requests[] requests) payable returns (bytes32[])',
  'function revoke(Revocation request) payable',
])

/** Encodes one transaction for all requests. Consecutive requests of a schema share an entry. */
function multiAttestOf(requests: readonly AttestationRequest[]): Hex {
  const groups: { schema: Hex; data: ReturnType<typeof attestationArgs>[0]['data'][] }[] = []
  for (const request of requests) {
    const [{ schema, data }] = attestationArgs(request)
    const last = groups.at(-1)
    if (last?.schema === schema) last.data.push(data)
    else groups.push({ schema, data: [data] })
  }
  return encodeFunctionData({ abi, functionName: 'multiAttest', args: [groups] })
}

const revocationOf = (schema: Hex, uid: Hex): Hex =>
  encodeFunctionData({ abi, functionName: 'revoke', args: [{ schema, data: { uid, value: 0n } }] })

/** The first account of anvil, which deploys the contracts and registers the schemas. */
export const deployer: Hex = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
/** The public test key of that account. */
export const deployerKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

/** More would exceed the gas limit of a transaction. */
const attestationsPerTransaction = 50
const gas = hexOf(16_000_000)

export type AttestationInput = {
  schema: SchemaName
  attester: Hex
  recipient?: Hex
  /** The data; by default different for each attestation. */
  data?: Hex
}
/** A period, in milliseconds, in which attestations of an address count for a schema, as souk stores it. */
export type Grant = { address: string; schema: SchemaName; fromAt: number; toAt: number | null }
export type Counts = Record<SchemaName, number>
export type Chain = Awaited<ReturnType<typeof startChain>>

/** Deploys EAS and its SchemaRegistry in one block. @param schemas whether the four schemas are registered */
export async function deployEas(anvil: Anvil, { schemas = true } = {}): Promise<{ contract: Hex; registry: Hex; startBlock: number }> {
  const nonce = Number(await anvil.rpc<Hex>('eth_getTransactionCount', deployer, 'latest'))
  const registry = getContractAddress({ from: deployer, nonce: BigInt(nonce) })
  const contract = getContractAddress({ from: deployer, nonce: BigInt(nonce) + 1n })
  const code = easArtifact.bytecode + encodeAbiParameters([{ type: 'address' }], [registry]).slice(2)
  const registering = schemas ? schemaNames.map((name) => ({ to: registry, data: registrationOf(name) })) : []
  const sent = [{ data: registryArtifact.bytecode }, { data: code }, ...registering]
  const hashes = await anvil.batch<Hex>(
    sent.map((one, at) => ['eth_sendTransaction', [{ from: deployer, nonce: hexOf(nonce + at), gas, gasPrice: '0x0', ...one }]]),
  )
  await anvil.mine()
  const startBlock = await succeeded(anvil, hashes)
  return { contract: lower(contract), registry: lower(registry), startBlock }
}

/** Returns the last block that contains one of the transactions. @throws Error if one failed or is in no block */
async function succeeded(anvil: Anvil, hashes: readonly Hex[]): Promise<number> {
  const receipts = await anvil.batch<{ status: Hex; blockNumber: Hex } | null>(hashes.map((hash) => ['eth_getTransactionReceipt', [hash]]))
  const failed = receipts.findIndex((receipt) => receipt?.status !== '0x1')
  if (failed >= 0) throw new Error(`transaction ${failed} of ${hashes.length} ${receipts[failed] ? 'failed' : 'is in no block'}`)
  return Math.max(...receipts.map((receipt) => Number(receipt?.blockNumber)))
}

/** Starts a node with EAS and the schemas. Only attestations made through this object are in `countsOfChain`. */
export async function startChain(options: Parameters<typeof startAnvil>[0] = {}) {
  const anvil = await startAnvil(options)
  const eas = await deployEas(anvil)
  const known = new Set<Hex>()
  let sampleCount = 0

  const send = (from: Hex, data: Hex) => ['eth_sendTransaction', [{ from, to: eas.contract, data, gas, gasPrice: '0x0' }]] as const
  const requestOf = ({ schema, recipient = zeroAddress, data = sampleData(schema, sampleCount++) }: AttestationInput) => ({
    schema: schemaUids[schema],
    recipient,
    data,
  })

  /** Sends attestations without mining. Returns the transactions in order, each with up to 50 of one attester. */
  async function sendAttests(all: readonly AttestationInput[]): Promise<Hex[]> {
    const groups: AttestationInput[][] = []
    for (const one of all) {
      const last = groups.at(-1)
      if (last?.[0]?.attester === one.attester && last.length < attestationsPerTransaction) last.push(one)
      else groups.push([one])
    }
    return anvil.batch<Hex>(groups.map((group) => send(group[0]?.attester ?? deployer, multiAttestOf(group.map(requestOf)))))
  }

  /** Returns the uids that mined transactions created, in order. @throws Error if one failed or is in no block */
  async function uidsOf(transactions: readonly Hex[]): Promise<Hex[]> {
    const receipts = await anvil.batch<{ status: Hex; logs: { topics: Hex[]; data: Hex }[] } | null>(
      transactions.map((hash) => ['eth_getTransactionReceipt', [hash]]),
    )
    const uids = receipts.flatMap((receipt, at) => {
      if (receipt?.status !== '0x1') throw new Error(`attesting transaction ${at} ${receipt ? 'failed' : 'is in no block'}`)
      return receipt.logs.filter(({ topics }) => topics[0] === attestedTopic).map(({ data }) => data)
    })
    for (const uid of uids) known.add(uid)
    return uids
  }

  /** Attests in one block. Returns the uids in order. */
  async function attest(all: readonly AttestationInput[]): Promise<Hex[]> {
    const transactions = await sendAttests(all)
    await anvil.mine()
    return uidsOf(transactions)
  }

  /** Sends revocations without mining. */
  async function sendRevokes(uids: readonly Hex[]): Promise<Hex[]> {
    const found = await attestationsOf(anvil, eas.contract, uids)
    return anvil.batch<Hex>(found.map(({ uid, schema, attester }) => send(attester, revocationOf(schema, uid))))
  }

  /** Revokes attestations by their attesters, in one block. */
  async function revoke(uids: readonly Hex[]): Promise<void> {
    const transactions = await sendRevokes(uids)
    await anvil.mine()
    if (transactions.length > 0) await succeeded(anvil, transactions)
  }

  return {
    ...anvil,
    ...eas,
    sendAttests,
    uidsOf,
    attest,
    sendRevokes,
    revoke,
    /** Returns the uids of all attestations made through this object, also of those that a reorganisation removed. */
    known: (): Hex[] => [...known],
    /** Returns those attestations that exist at the newest or an older block. */
    attestations: (uids: Iterable<Hex> = known, block?: number) => attestationsOf(anvil, eas.contract, [...uids], block),
    /** Returns the expected counts under these grants. Reads each attestation from the contract, without logs. */
    countsOfChain: async (grants: readonly Grant[], block?: number): Promise<Counts> =>
      countsOf(await attestationsOf(anvil, eas.contract, [...known], block), grants),
    async [Symbol.asyncDispose]() {
      await anvil[Symbol.asyncDispose]()
    },
  }
}

const callsPerBatch = 500

/** Returns the attestations that the contract has at a block, in the order of the uids. */
async function attestationsOf(anvil: Anvil, contract: Hex, uids: readonly Hex[], block?: number): Promise<Attestation[]> {
  const tag = block === undefined ? 'latest' : hexOf(block)
  const found: Attestation[] = []
  for (let at = 0; at < uids.length; at += callsPerBatch) {
    const some = uids.slice(at, at + callsPerBatch)
    const answers = await anvil.batch<Hex>(some.map((uid) => ['eth_call', [{ to: contract, data: attestationCall(uid) }, tag]]))
    for (const answer of answers) {
      const attestation = decodeAttestation(answer)
      if (attestation) found.push(attestation)
    }
  }
  return found
}

/** Counts attestations by the rule of souk's contract, implemented independently. */
function countsOf(attestations: readonly Attestation[], grants: readonly Grant[]): Counts {
  const counts: Counts = { A: 0, B: 0, C: 0, D: 0 }
  for (const { schema, attester, recipient, time, revocationTime } of attestations) {
    const name = schemaNames.find((one) => schemaUids[one] === schema)
    if (name === undefined || revocationTime !== 0n || (name === 'D' && attester === recipient)) continue
    const at = Number(time) * 1000
    const covers = (grant: Grant) =>
      grant.schema === name && grant.address.toLowerCase() === attester && grant.fromAt <= at && (grant.toAt === null || at < grant.toAt)
    if (grants.some(covers)) counts[name]++
  }
  return counts
}

/** Returns valid data of the schema, different for each number. */
export function sampleData(schema: SchemaName, number: number): Hex {
  const [at, hash] = [BigInt(1_700_000_000 + number), refOf(`document ${number}`)]
  const says: Statements = {
    A: {
      merchantRef: refOf(`merchant ${number}`),
      shopUrl: `https://shop-${number}.example`,
      method: 1,
      evidenceHash: hash,
      verifiedAt: at,
    },
    B: {
      merchantRef: refOf(`merchant ${number}`),
      lenderRef: refOf('lender'),
      methodologyHash: refOf('methodology'),
      tier: 2,
      ceilingUsdCents: 5_000_000n,
      operationalRisk: 0,
      inputsHash: hash,
      assessedAt: at,
    },
    C: { merchantRef: refOf(`merchant ${number}`), loanRef: hash, outcome: 0, amountUsdCents: 123_456n, dueAt: at, settledAt: at },
    D: {
      providerRef: refOf('provider'),
      subjectRef: refOf(`merchant ${number}`),
      archetype: 1,
      claimType: 3,
      observations: number,
      periodStart: at,
      periodEnd: at + 86_400n,
      evidenceHash: hash,
    },
  }
  return encodeStatement(schema, says[schema])
}

const lower = (address: Hex): Hex => address.toLowerCase() as Hex
