/** The Ethereum Attestation Service itself, on a node of the test: its own bytecode, our four schemas, and whoever attests. */
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

/** All in one transaction; those of a schema that follow each other share an entry. */
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

/** The first of anvil's accounts; it deploys and registers. */
export const deployer: Hex = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
/** Its key, which the whole world knows. */
export const deployerKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

/** More would pass the most gas that a transaction may use. */
const attestationsPerTransaction = 50
const gas = hexOf(16_000_000)

export type AttestationInput = {
  schema: SchemaName
  attester: Hex
  recipient?: Hex
  /** What it says; by default something that no other of the test says. */
  data?: Hex
}
/** For which schema an address counts, in milliseconds, as souk keeps it. */
export type Grant = { address: string; schema: SchemaName; fromAt: number; toAt: number | null }
export type Counts = Record<SchemaName, number>
export type Chain = Awaited<ReturnType<typeof startChain>>

/** EAS and its SchemaRegistry, with the four schemas unless told otherwise, in one block. */
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

/** @returns the last block that holds one of them. @throws where one failed or is in no block */
async function succeeded(anvil: Anvil, hashes: readonly Hex[]): Promise<number> {
  const receipts = await anvil.batch<{ status: Hex; blockNumber: Hex } | null>(hashes.map((hash) => ['eth_getTransactionReceipt', [hash]]))
  const failed = receipts.findIndex((receipt) => receipt?.status !== '0x1')
  if (failed >= 0) throw new Error(`transaction ${failed} of ${hashes.length} ${receipts[failed] ? 'failed' : 'is in no block'}`)
  return Math.max(...receipts.map((receipt) => Number(receipt?.blockNumber)))
}

/** A node with EAS and the schemas. What is attested through it, `countsOfChain` knows of. */
export async function startChain(options: Parameters<typeof startAnvil>[0] = {}) {
  const anvil = await startAnvil(options)
  const eas = await deployEas(anvil)
  const known = new Set<Hex>()
  let said = 0

  const send = (from: Hex, data: Hex) => ['eth_sendTransaction', [{ from, to: eas.contract, data, gas, gasPrice: '0x0' }]] as const
  const requestOf = ({ schema, recipient = zeroAddress, data = sampleData(schema, said++) }: AttestationInput) => ({
    schema: schemaUids[schema],
    recipient,
    data,
  })

  /** Hands them to the node and mines nothing. @returns the transactions: one for up to 50 of an attester, in the order given */
  async function sendAttests(all: readonly AttestationInput[]): Promise<Hex[]> {
    const groups: AttestationInput[][] = []
    for (const one of all) {
      const last = groups.at(-1)
      if (last?.[0]?.attester === one.attester && last.length < attestationsPerTransaction) last.push(one)
      else groups.push([one])
    }
    return anvil.batch<Hex>(groups.map((group) => send(group[0]?.attester ?? deployer, multiAttestOf(group.map(requestOf)))))
  }

  /** The uids that transactions have made, in their order. @throws where one failed or is in no block */
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

  /** In one block. @returns the uids, in the order given */
  async function attest(all: readonly AttestationInput[]): Promise<Hex[]> {
    const transactions = await sendAttests(all)
    await anvil.mine()
    return uidsOf(transactions)
  }

  /** Hands them to the node and mines nothing. */
  async function sendRevokes(uids: readonly Hex[]): Promise<Hex[]> {
    const found = await attestationsOf(anvil, eas.contract, uids)
    return anvil.batch<Hex>(found.map(({ uid, schema, attester }) => send(attester, revocationOf(schema, uid))))
  }

  /** By whoever attested them, in one block. */
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
    /** The uids of all that was ever attested through this, whether or not they are still there. */
    known: (): Hex[] => [...known],
    /** What of these the chain has, as of the newest block or an older one. */
    attestations: (uids: Iterable<Hex> = known, block?: number) => attestationsOf(anvil, eas.contract, [...uids], block),
    /** What is to be counted by these grants, as the contract itself says of every single one: no log is asked. */
    countsOfChain: async (grants: readonly Grant[], block?: number): Promise<Counts> =>
      countsOf(await attestationsOf(anvil, eas.contract, [...known], block), grants),
    async [Symbol.asyncDispose]() {
      await anvil[Symbol.asyncDispose]()
    },
  }
}

const callsPerBatch = 500

/** Those that the contract has at a block, in the order of their uids given. */
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

/** The rule of the contract of souk, written a second time. */
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

/** What an attestation of the schema may say, another for every number. */
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
