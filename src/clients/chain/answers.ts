/** Holds what nodes answer against what was asked. What does not fit is a fault of the node, said in our words, and nothing of it is used. */
import { decodeAbiParameters, type Hex, pad, parseAbiParameters } from 'viem'
import { type Block, type ChainLog, type Header, type LogFilter, NodeError } from '../../core/chain.ts'
import { attestedTopic, revokedTopic } from '../../lib/eas.ts'

const anyHash = /^0x[0-9a-f]{64}$/i
const bloom = /^0x[0-9a-f]{512}$/i
const quantity = /^0x[0-9a-f]{1,14}$/i
/** The last moment that `Date` can say, in milliseconds. */
const timeMax = 8_640_000_000_000_000
/** Of an error's message; more of it is not looked at. */
const messageMax = 2_000
const addressParameter = parseAbiParameters('address')

export const topicOf = (address: string): Hex => pad(address as Hex)

const fault = (what: string): never => {
  throw new NodeError('FAULT', `it answered what was not asked for: ${what}`)
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

const hashOf = (value: unknown, what: string): string =>
  typeof value === 'string' && anyHash.test(value) ? value.toLowerCase() : fault(what)

export function numberOf(value: unknown, what: string): number {
  const number = typeof value === 'string' && quantity.test(value) ? Number(value) : Number.NaN
  return Number.isSafeInteger(number) ? number : fault(what)
}

export function headerOf(block: unknown, asked: Block): Header {
  if (!isRecord(block)) return fault('a block that is no object')
  const number = numberOf(block['number'], 'a block without a number')
  if (typeof asked === 'number' && number !== asked) fault('another block')
  const at = numberOf(block['timestamp'], 'a block without a time') * 1_000
  if (at > timeMax) fault('a block without a time')
  const { logsBloom } = block
  const isBloom = typeof logsBloom === 'string' && bloom.test(logsBloom)
  return { number, hash: hashOf(block['hash'], 'a block without a hash'), at, bloom: isBloom ? logsBloom : undefined }
}

/** Makes what checks the logs of an answer, one at a time. */
export function logReader({ contract, schemaUids, attesters, from, to }: LogFilter): (log: unknown) => ChainLog {
  const uids = new Set(schemaUids)
  const wanted = attesters && new Set(attesters)
  const seen = new Set<string>()
  const addresses = new Map<Hex, string>()
  // Attesters are few, and viem hashes each address that it decodes.
  const addressIn = (topic: Hex): string =>
    addresses.getOrInsertComputed(topic, () => decodeAbiParameters(addressParameter, topic)[0].toLowerCase())
  return (log) => {
    if (!isRecord(log)) return fault('a log that is no object')
    if (log['removed'] === true) fault('a log that was removed')
    const { address, topics, data } = log
    if (typeof address !== 'string' || address.toLowerCase() !== contract) fault('a log of another contract')
    if (!Array.isArray(topics) || topics.length !== 4) return fault('a log without its topics')
    const [topic, ...indexed] = topics as Hex[]
    const kind = topic === attestedTopic ? 'ATTESTED' : topic === revokedTopic ? 'REVOKED' : fault('a log of another event')
    const uid = hashOf(data, 'a log whose data is of another length')
    if (!indexed.every((one) => anyHash.test(one))) fault('a log without its topics')
    const [recipient, attester, schemaUid] = [addressIn(indexed[0] as Hex), addressIn(indexed[1] as Hex), String(indexed[2])]
    if (wanted && !wanted.has(attester)) fault('a log of another attester')
    if (!uids.has(schemaUid)) fault('a log of another schema')
    const blockNumber = numberOf(log['blockNumber'], 'a log without a block')
    if (blockNumber < from || blockNumber > to) fault('a log of another block')
    const key = `${kind} ${uid}`
    if (seen.has(key)) fault('the same log twice')
    seen.add(key)
    return {
      ...{ kind, uid, schemaUid, attester, recipient, blockNumber },
      blockHash: hashOf(log['blockHash'], 'a log without the hash of its block'),
    }
  }
}

/** Whether a batch response has one entry per request id. viem sorts entries and does not check for missing ones. */
export function isAnswerTo(requests: unknown, answer: unknown): boolean {
  if (!Array.isArray(requests)) return isRecord(answer) && ('result' in answer || 'error' in answer)
  if (!Array.isArray(answer) || answer.length !== requests.length) return false
  const ids = new Set(answer.map((one: unknown) => (isRecord(one) ? one['id'] : undefined)))
  return requests.every((request: { readonly id?: unknown }) => ids.has(request.id))
}

/** What a node calls an error. */
export type RpcError = { readonly code: unknown; readonly message: string; readonly data: unknown }

/** The error of an answer, or of a batch that was refused as a whole. */
export function errorIn(answer: unknown): RpcError | undefined {
  const error = isRecord(answer) ? answer['error'] : undefined
  if (!isRecord(error)) return undefined
  const { code, message, data } = error
  return { code, message: typeof message === 'string' ? message.slice(0, messageMax) : '', data }
}
