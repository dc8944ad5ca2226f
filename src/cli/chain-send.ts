/** `souk chain register` and `souk chain attest`: what they would send, what it may cost, and, once told to, what became of it. */
import { readFileSync, statSync } from 'node:fs'
import { type Caller, NotTaken, Reverted } from '../clients/chain/calls.ts'
import type { Quote, Receipt, Signer, Transaction } from '../clients/chain/transactions.ts'
import { NodeError } from '../core/chain.ts'
import { OperatorError } from '../core/errors.ts'
import { attestedTopic, type SchemaName, schemaNames, schemaTexts, schemaUids, zeroAddress } from '../lib/eas.ts'
import { withChecksum } from '../lib/evm.ts'
import { isConfirmed } from './ask.ts'
import { callerOf, type Target, targetOf } from './chain-target.ts'
import type { Input } from './command.ts'
import { UsageError } from './failure.ts'
import { onInterruption } from './interruption.ts'
import { signingKeyOf } from './signing-key.ts'
import { fieldsOf, readStatement, type Written } from './statement.ts'

type Hex = `0x${string}`

const failedStatus = 1
const fileMaxBytes = 64 * 1024
/** Of a transaction that was sent: chains take from a second to some minutes. */
const blockWithinMs = 5 * 60_000
const lookEveryMs = 500

const say = (line: string) => void process.stdout.write(`${line}\n`)

/** viem, and all that is made with it: loaded here, when it is needed. */
const signing = async () => ({ ...(await import('../clients/chain/eas.ts')), ...(await import('../clients/chain/transactions.ts')) })

/** Registers those of the four schemas that a chain does not have. */
export async function register(input: Input): Promise<number> {
  const target = targetOf(input)
  const key = signingKeyOf(input)
  const { signerOf, callData, quote } = await signing()
  const signer = key && signerOf(key)
  const caller = await callerOf(target)
  const registry = await registryOf(caller, target.contract)
  say(`Chain ${target.chainId} by ${caller.host}: EAS ${withChecksum(target.contract)}, SchemaRegistry ${withChecksum(registry)}`)
  const missing: { name: SchemaName; transaction: Transaction; quoted: Quote }[] = []
  for (const name of schemaNames) {
    if (await isRegistered(caller, registry, name)) {
      say(`${name} ${schemaUids[name]} is registered`)
      continue
    }
    const transaction = { to: registry, data: callData.register(schemaTexts[name]) }
    const quoted = await quote(caller, signer?.address ?? zeroAddress, transaction)
    say(`${name} ${schemaUids[name]} is not registered; to do it ${await costText(quoted)}`)
    missing.push({ name, transaction, quoted })
  }
  if (missing.length === 0) return 0
  const together = missing.reduce((sum, { quoted }) => sum + quoted.costMax, 0n)
  if (!(await mayGoOn(input, caller, signer, together)) || !signer) return 0
  for (const { name, transaction, quoted } of missing) {
    const receipt = await sent(caller, signer, target.chainId, transaction, quoted)
    // Somebody else may have been faster: then this one has failed, and the schema is there.
    if (!receipt.succeeded && !(await isRegistered(caller, registry, name))) {
      process.stderr.write(`${name} was not registered: the transaction failed in block ${receipt.blockNumber}\n`)
      return failedStatus
    }
    say(`${name} ${schemaUids[name]} is registered, since block ${receipt.blockNumber}`)
  }
  return 0
}

/** Makes an attestation of what a file says. */
export async function attest(input: Input, file: string): Promise<number> {
  const schema = schemaOf(input)
  const target = targetOf(input)
  const written = readFile(file, schema)
  if (!written) return failedStatus
  const key = signingKeyOf(input)
  if (!key) throw new UsageError('Name the file that holds the private key by --key-file, or set CHAIN_SIGNING_KEY')
  const { signerOf, callData, encodeStatement, quote, view, decodeAttest } = await signing()
  const signer = signerOf(key)
  if (schema === 'D' && written.recipient === signer.address)
    throw new OperatorError('The recipient is the wallet that signs: what a provider attests of itself by schema D is never counted')
  const caller = await callerOf(target)
  const registry = await registryOf(caller, target.contract)
  if (!(await isRegistered(caller, registry, schema)))
    throw new OperatorError(`Schema ${schema} is not registered on chain ${target.chainId}: \`souk chain register\` does that`)
  const data = encodeStatement(schema, written.statement)
  const request = callData.attest({ schema: schemaUids[schema], recipient: written.recipient, data })
  const transaction = { to: target.contract, data: request }
  const quoted = await simulated(async () => {
    decodeAttest(await view(caller, target.contract, request, signer.address))
    return quote(caller, signer.address, transaction)
  })
  say(`Chain ${target.chainId} by ${caller.host}: EAS ${withChecksum(target.contract)}, from ${withChecksum(signer.address)}`)
  say(`An attestation of schema ${schema}; to make it ${await costText(quoted)}`)
  if (!(await mayGoOn(input, caller, signer, quoted.costMax))) return 0
  const receipt = await sent(caller, signer, target.chainId, transaction, quoted)
  const uid = receipt.succeeded ? uidIn(receipt, target, schema, signer.address) : undefined
  if (uid === undefined) {
    process.stderr.write(`Nothing was attested: the transaction failed in block ${receipt.blockNumber}\n`)
    return failedStatus
  }
  say(`uid ${uid}`)
  say(`block ${receipt.blockNumber} ${receipt.blockHash}`)
  return 0
}

function schemaOf({ values }: Input): SchemaName {
  const schema = schemaNames.find((name) => name === values.get('schema'))
  if (!schema) throw new UsageError(`--schema must be one of ${schemaNames.join(', ')}`)
  return schema
}

/** What a file says; undefined where it does not fit its schema, and then what is wrong with it is said. */
function readFile(file: string, schema: SchemaName): Written | undefined {
  const found = statSync(file)
  if (!found.isFile() || found.size > fileMaxBytes) throw new OperatorError(`${file} is no file of at most ${fileMaxBytes / 1024} KB`)
  const read = readStatement(schema, readFileSync(file, 'utf8'))
  if ('written' in read) return read.written
  const wanted = `Schema ${schema} has: ${fieldsOf(schema).join(', ')}; and recipient, an address, if it is about one`
  process.stderr.write(
    `${file} holds nothing that can be attested:\n${read.problems.map((problem) => `  ${problem}\n`).join('')}${wanted}\n`,
  )
  return undefined
}

/** The SchemaRegistry, as EAS itself names it. @throws OperatorError where there is no EAS at the address */
async function registryOf(caller: Caller, contract: Hex): Promise<Hex> {
  const { callData, decodeSchemaRegistry, hasCode, view } = await signing()
  try {
    if (await hasCode(caller, contract)) return decodeSchemaRegistry(await view(caller, contract, callData.getSchemaRegistry()))
  } catch (error) {
    if (error instanceof NodeError) throw toldOf(caller, error)
  }
  throw new OperatorError(`There is no Ethereum Attestation Service at ${withChecksum(contract)}`)
}

async function isRegistered(caller: Caller, registry: Hex, name: SchemaName): Promise<boolean> {
  const { callData, decodeSchema, view } = await signing()
  const record = decodeSchema(await view(caller, registry, callData.getSchema(schemaUids[name])))
  return record?.uid === schemaUids[name]
}

/** @throws OperatorError with the name of what a contract says no by */
async function simulated<T>(work: () => Promise<T>): Promise<T> {
  const { refusalOf } = await signing()
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Reverted)) throw error
    const name = error.data && refusalOf(error.data)
    throw new OperatorError(`The contract would refuse it${name === undefined ? '' : `: ${name}`}. Nothing was sent`)
  }
}

async function costText({ gas, costMax }: Quote): Promise<string> {
  const { coins } = await signing()
  return `costs at most ${coins(costMax)} of the chain's coin (${gas} gas)`
}

/** Whether to send: told so by --yes or on the terminal, and with enough in the wallet. Says why not. */
async function mayGoOn(input: Input, caller: Caller, signer: Signer | undefined, costMax: bigint): Promise<boolean> {
  if (!signer) {
    if (input.switches.has('yes')) throw new UsageError('Name the file that holds the private key by --key-file, or set CHAIN_SIGNING_KEY')
    say('Dry run: nothing was sent, and no key was named')
    return false
  }
  const { balanceOf, coins } = await signing()
  const balance = await balanceOf(caller, signer.address)
  if (balance < costMax)
    throw new OperatorError(`The wallet ${withChecksum(signer.address)} holds ${coins(balance)}: too little. Nothing was sent`)
  if (input.switches.has('yes')) return true
  if (!input.switches.has('dry-run') && (await isConfirmed('Send it?'))) return true
  say('Dry run: nothing was sent. --yes sends it')
  return false
}

/**
 * Signs a transaction, sends it, and waits until it is in a block. Its hash is said before: whatever happens, it can be looked for.
 * @throws OperatorError where it was not taken, or is in no block in time
 */
async function sent(caller: Caller, signer: Signer, chainId: number, transaction: Transaction, quoted: Quote): Promise<Receipt> {
  const { nonceOf, receiptOf, sendRaw } = await signing()
  const { raw, hash } = await signer.sign(chainId, await nonceOf(caller, signer.address), transaction, quoted)
  process.stderr.write(`Sending transaction ${hash}\n`)
  const look = `look for transaction ${hash} before you send it again`
  const interruption = onInterruption(() => `Stopped while it was on its way: ${look}`)
  const until = performance.now() + blockWithinMs
  try {
    await sendRaw(caller, raw).catch((error: unknown) => {
      if (error instanceof NotTaken || error instanceof Reverted) throw new OperatorError(`It was not sent: ${error.message}`)
      // No answer is none: it may have been taken.
      if (!(error instanceof NodeError)) throw error
    })
    while (performance.now() < until) {
      const receipt = await receiptOf(caller, hash).catch(onlyNodes)
      if (receipt) return receipt
      await Bun.sleep(lookEveryMs)
    }
  } finally {
    interruption.end()
  }
  throw new OperatorError(`It is in no block after ${blockWithinMs / 60_000} minutes: ${look}`)
}

/** A node that does not answer is asked again. */
function onlyNodes(error: unknown): undefined {
  if (!(error instanceof NodeError)) throw error
}

const toldOf = ({ host }: Caller, { message }: NodeError) => new OperatorError(`${host}: ${message}`)

/** The uid in the log of what was attested. */
function uidIn({ logs }: Receipt, { contract }: Target, schema: SchemaName, attester: Hex): Hex | undefined {
  const topic = `0x${'0'.repeat(24)}${attester.slice(2)}`
  return logs.find(
    ({ address, topics }) =>
      address.toLowerCase() === contract && topics[0] === attestedTopic && topics[2] === topic && topics[3] === schemaUids[schema],
  )?.data
}
