/** Validates the responses of nodes. An invalid response counts as a fault of the node, and no part of it is used. */
import { type Hex, pad } from 'viem'
import { type BlockHeader, type BlockTag, type ChainLog, type LogFilter, NodeError } from '../../core/chain.ts'
import { attestedTopic, revokedTopic } from '../../lib/eas.ts'
import { isRecord } from '../../lib/json.ts'

const anyHash = /^0x[0-9a-f]{64}$/i
const bloom = /^0x[0-9a-f]{512}$/i
const quantity = /^0x[0-9a-f]{1,14}$/i
/** The largest time of `Date`, in milliseconds. */
const timeMax = 8_640_000_000_000_000
/** The part of an error's message that is read. */
const messageMax = 2_000

/** Returns an address as an indexed log argument: padded to 32 bytes. */
export const topicOf = (address: string): Hex => pad(address as Hex)
const addressIn = (topic: string): string => `0x${topic.slice(-40).toLowerCase()}`

const throwFault = (what: string): never => {
  throw new NodeError('FAULT', `its answer is not valid: ${what}`)
}

const hashOf = (value: unknown, what: string): string =>
  typeof value === 'string' && anyHash.test(value) ? value.toLowerCase() : throwFault(what)

/**
 * Parses a hexadecimal quantity of JSON-RPC.
 * @param what completes the error message "its answer is not valid: …"
 * @throws NodeError if it is not a quantity, or above 2^53 - 1
 */
export function numberOf(value: unknown, what: string): number {
  const number = typeof value === 'string' && quantity.test(value) ? Number(value) : Number.NaN
  return Number.isSafeInteger(number) ? number : throwFault(what)
}

/**
 * Validates a block, and reads its time, which is seconds on the chain, as milliseconds.
 * @throws NodeError for an invalid block, or one with another number than requested
 */
export function headerOf(block: unknown, requested: BlockTag): BlockHeader {
  if (!isRecord(block)) return throwFault('a block that is no object')
  const number = numberOf(block['number'], 'a block without a number')
  if (typeof requested === 'number' && number !== requested) throwFault('another block')
  const at = numberOf(block['timestamp'], 'a block without a time') * 1_000
  if (at > timeMax) throwFault('a block without a time')
  const { logsBloom } = block
  const isBloom = typeof logsBloom === 'string' && bloom.test(logsBloom)
  return { number, hash: hashOf(block['hash'], 'a block without a hash'), at, bloom: isBloom ? logsBloom : undefined }
}

/** Returns a function that validates one log of a response. */
export function logReader({ contract, schemaUids, attesters, from, to }: LogFilter): (log: unknown) => ChainLog {
  const uids = new Set(schemaUids)
  const attesterSet = attesters && new Set(attesters)
  const seen = new Set<string>()
  return (log) => {
    if (!isRecord(log)) return throwFault('a log that is no object')
    if (log['removed'] === true) throwFault('a log that was removed')
    const { address, topics, data } = log
    if (typeof address !== 'string' || address.toLowerCase() !== contract) throwFault('a log of another contract')
    if (!Array.isArray(topics) || topics.length !== 4) return throwFault('a log without its topics')
    const [topic, ...indexed] = topics as Hex[]
    const kind = topic === attestedTopic ? 'ATTESTED' : topic === revokedTopic ? 'REVOKED' : throwFault('a log of another event')
    const uid = hashOf(data, 'a log whose data is of another length')
    if (!indexed.every((topicHash) => anyHash.test(topicHash))) throwFault('a log without its topics')
    const [recipient, attester, schemaUid] = [addressIn(indexed[0] as Hex), addressIn(indexed[1] as Hex), String(indexed[2])]
    if (attesterSet && !attesterSet.has(attester)) throwFault('a log of another attester')
    if (!uids.has(schemaUid)) throwFault('a log of another schema')
    const blockNumber = numberOf(log['blockNumber'], 'a log without a block')
    if (blockNumber < from || blockNumber > to) throwFault('a log of another block')
    const key = `${kind} ${uid}`
    if (seen.has(key)) throwFault('the same log twice')
    seen.add(key)
    return {
      ...{ kind, uid, schemaUid, attester, recipient, blockNumber },
      blockHash: hashOf(log['blockHash'], 'a log without the hash of its block'),
    }
  }
}

/**
 * Returns whether a batch response has one entry per request id. viem sorts entries and does not check for missing
 * ones.
 */
export function isAnswerTo(requests: unknown, answer: unknown): boolean {
  if (!Array.isArray(requests)) return isRecord(answer) && ('result' in answer || 'error' in answer)
  if (!Array.isArray(answer) || answer.length !== requests.length) return false
  const ids = new Set(answer.map((entry: unknown) => (isRecord(entry) ? entry['id'] : undefined)))
  return requests.every((request: { readonly id?: unknown }) => ids.has(request.id))
}

/** The error of a node. */
type RpcError = { readonly code: unknown; readonly message: string; readonly data: unknown }

/**
 * Returns the error of a response, or of a batch that was refused. Some gateways send the error as a text, or its
 * fields without an envelope.
 */
export function errorIn(answer: unknown): RpcError | undefined {
  if (!isRecord(answer)) return undefined
  const isBare = !('result' in answer) && typeof answer['message'] === 'string'
  const error = answer['error'] ?? (isBare ? answer : undefined)
  if (typeof error === 'string') return { code: undefined, message: error.slice(0, messageMax), data: undefined }
  if (!isRecord(error)) return undefined
  const { code, message, data } = error
  return { code, message: typeof message === 'string' ? message.slice(0, messageMax) : '', data }
}
