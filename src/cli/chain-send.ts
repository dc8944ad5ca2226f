/** `souk chain register` and `souk chain attest`: show transaction and cost, then send and report the result. */
import { readFileSync, statSync } from 'node:fs'
import type { Connection } from '../clients/chain/client.ts'
import type { Quote, Receipt, Signer, Transaction } from '../clients/chain/transactions.ts'
import { NodeError } from '../core/chain.ts'
import { OperatorError } from '../core/errors.ts'
import { type SchemaName, schemaNames, schemaUids, zeroAddress } from '../lib/eas.ts'
import { withChecksum } from '../lib/evm.ts'
import { connectTo, print, targetOf } from './chain-target.ts'
import type { Input } from './command.ts'
import { failureStatus, UsageError } from './failure.ts'
import { onInterruption } from './interruption.ts'
import { isConfirmed } from './prompt.ts'
import { signingKeyOf } from './signing-key.ts'
import { fieldsOf, type ParsedStatement, readStatement } from './statement.ts'

type Hex = `0x${string}`

const fileMaxBytes = 64 * 1024
/** Chains take from a second to some minutes for a transaction. */
const receiptTimeoutMs = 5 * 60_000
const pollEveryMs = 500

/** Loads viem and what depends on it on demand. */
const loadSigning = async () => ({ ...(await import('../clients/chain/eas.ts')), ...(await import('../clients/chain/transactions.ts')) })

/** Registers the schemas that a chain does not have yet. */
export async function register(input: Input): Promise<number> {
  const target = targetOf(input)
  const key = signingKeyOf(input)
  const { isRegistered, quote, registrationOf, signerOf } = await loadSigning()
  const signer = key && signerOf(key)
  const node = await connectTo(target)
  const registry = await registryOf(node, target.contract as Hex)
  print(`Chain ${target.chainId} via ${node.host}: EAS ${withChecksum(target.contract)}, SchemaRegistry ${withChecksum(registry)}`)
  const missing: { name: SchemaName; transaction: Transaction; quoted: Quote }[] = []
  for (const name of schemaNames) {
    if (await isRegistered(node, registry, name)) {
      print(`${name} ${schemaUids[name]} is registered`)
      continue
    }
    const transaction = { to: registry, data: registrationOf(name) }
    const quoted = await quote(node, signer?.address ?? zeroAddress, transaction)
    print(`${name} ${schemaUids[name]} is not registered; registering ${await costText(quoted)}`)
    missing.push({ name, transaction, quoted })
  }
  if (missing.length === 0) return 0
  const together = missing.reduce((sum, { quoted }) => sum + quoted.costMax, 0n)
  if (!(await confirmSending(input, node, signer, together)) || !signer) return 0
  for (const { name, transaction, quoted } of missing) {
    const receipt = await sendAndWait(node, signer, target.chainId, transaction, quoted)
    // Somebody else may have registered it first: then this transaction failed, but the schema exists.
    if (receipt.status !== 'success' && !(await isRegistered(node, registry, name))) {
      process.stderr.write(`${name} not registered: the transaction failed in block ${receipt.blockNumber}\n`)
      return failureStatus
    }
    print(`${name} ${schemaUids[name]} registered in block ${receipt.blockNumber}`)
  }
  return 0
}

/** Makes an attestation from a file. */
export async function attest(input: Input, file: string): Promise<number> {
  const schema = schemaOf(input)
  const target = targetOf(input)
  const written = readStatementFile(file, schema)
  if (!written) return failureStatus
  const key = signingKeyOf(input)
  if (!key) throw new UsageError('The private key is missing: use --key-file, or set CHAIN_SIGNING_KEY')
  const { attestationOf, encodeStatement, isRegistered, quote, refusalOf, signerOf, uidIn } = await loadSigning()
  const signer = signerOf(key)
  if (schema === 'D' && written.recipient === signer.address)
    throw new OperatorError('The recipient is the signing wallet. Attestations of schema D by a wallet about itself never count')
  const node = await connectTo(target)
  const contract = target.contract as Hex
  const registry = await registryOf(node, contract)
  if (!(await isRegistered(node, registry, schema)))
    throw new OperatorError(`Schema ${schema} is not registered on chain ${target.chainId}. Run \`souk chain register\``)
  const data = encodeStatement(schema, written.statement)
  const request = { schema: schemaUids[schema], recipient: written.recipient, data }
  const refusal = await refusalOf(node, contract, signer.address, request)
  if (refusal !== undefined)
    throw new OperatorError(`The contract would reject the attestation${refusal && `: ${refusal}`}. Nothing was sent`)
  const transaction = { to: contract, data: attestationOf(request) }
  const quoted = await quote(node, signer.address, transaction)
  print(`Chain ${target.chainId} via ${node.host}: EAS ${withChecksum(target.contract)}, from ${withChecksum(signer.address)}`)
  print(`Attestation of schema ${schema}; sending it ${await costText(quoted)}`)
  if (!(await confirmSending(input, node, signer, quoted.costMax))) return 0
  const receipt = await sendAndWait(node, signer, target.chainId, transaction, quoted)
  const uid = receipt.status === 'success' ? uidIn(receipt, contract, schema, signer.address) : undefined
  if (uid === undefined) {
    process.stderr.write(`Attestation failed: the transaction failed in block ${receipt.blockNumber}\n`)
    return failureStatus
  }
  print(`uid ${uid}`)
  print(`block ${receipt.blockNumber} ${receipt.blockHash}`)
  return 0
}

function schemaOf({ values }: Input): SchemaName {
  const schema = schemaNames.find((name) => name === values.get('schema'))
  if (!schema) throw new UsageError(`--schema must be one of ${schemaNames.join(', ')}`)
  return schema
}

/** Returns undefined and prints the problems if the file does not fit its schema. */
function readStatementFile(file: string, schema: SchemaName): ParsedStatement | undefined {
  const stats = statSync(file)
  if (!stats.isFile() || stats.size > fileMaxBytes) throw new OperatorError(`${file} must be a file of at most ${fileMaxBytes / 1024} KB`)
  const read = readStatement(schema, readFileSync(file, 'utf8'))
  if ('written' in read) return read.written
  const expected = `Fields of schema ${schema}: ${fieldsOf(schema).join(', ')}; and recipient (an address) if it is about an address`
  process.stderr.write(`${file} is not a valid attestation:\n${read.problems.map((problem) => `  ${problem}\n`).join('')}${expected}\n`)
  return undefined
}

/**
 * Returns the SchemaRegistry that EAS names.
 * @throws OperatorError if there is no EAS at the address
 */
async function registryOf(node: Connection, contract: Hex): Promise<Hex> {
  const { registryAt } = await loadSigning()
  const registry = await registryAt(node, contract).catch((error: unknown) => {
    throw error instanceof NodeError ? new OperatorError(`${node.host}: ${error.report}`) : error
  })
  if (registry !== undefined) return registry
  throw new OperatorError(`No Ethereum Attestation Service found at ${withChecksum(contract)}`)
}

async function costText({ gas, costMax }: Quote): Promise<string> {
  const { coins } = await loadSigning()
  return `costs at most ${coins(costMax)} in the chain's currency (${gas} gas)`
}

/** Returns whether to send: confirmed by --yes or on the terminal, with enough funds. Prints the reason if not. */
async function confirmSending(input: Input, node: Connection, signer: Signer | undefined, costMax: bigint): Promise<boolean> {
  if (!signer) {
    if (input.switches.has('yes')) throw new UsageError('The private key is missing: use --key-file, or set CHAIN_SIGNING_KEY')
    print('Dry run without a key: nothing was sent')
    return false
  }
  const { coins } = await loadSigning()
  const balance = await node.ask((client) => client.getBalance({ address: signer.address }))
  if (balance < costMax)
    throw new OperatorError(`The wallet ${withChecksum(signer.address)} has ${coins(balance)}, which is not enough. Nothing was sent`)
  if (input.switches.has('yes')) return true
  if (!input.switches.has('dry-run') && (await isConfirmed('Send it?'))) return true
  print('Nothing was sent. Use --yes to send it')
  return false
}

/**
 * Signs and sends a transaction and waits for its block. Prints its hash first, so that it can be found after any
 * failure.
 * @throws OperatorError if it was rejected or not included in time
 */
async function sendAndWait(node: Connection, signer: Signer, chainId: number, transaction: Transaction, quoted: Quote): Promise<Receipt> {
  const { receiptOf, sendRaw } = await loadSigning()
  const { raw, hash } = await signer.sign(node, chainId, transaction, quoted)
  process.stderr.write(`Sending transaction ${hash}\n`)
  const look = `check transaction ${hash} before you send it again`
  const interruption = onInterruption(() => `Stopped while the transaction was pending: ${look}`)
  const until = performance.now() + receiptTimeoutMs
  try {
    const problem = await sendRaw(node, raw)
    if (problem !== undefined) throw new OperatorError(`The transaction was not sent: ${problem}`)
    while (performance.now() < until) {
      const receipt = await receiptOf(node, hash)
      if (receipt) return receipt
      await Bun.sleep(pollEveryMs)
    }
  } finally {
    interruption.end()
  }
  throw new OperatorError(`No block contains the transaction after ${receiptTimeoutMs / 60_000} minutes: ${look}`)
}
