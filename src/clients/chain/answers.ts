/** Holds what nodes answer against what was asked. What does not fit is a fault of the node, said in our words, and nothing of it is used. */
import { type Block, type ChainLog, type Header, type LogFilter, NodeError } from '../../core/chain.ts'
import { attestedTopic, revokedTopic } from '../../lib/eas.ts'

const hash = /^0x[0-9a-f]{64}$/
const anyHash = /^0x[0-9a-f]{64}$/i
const bloom = /^0x[0-9a-f]{512}$/i
const quantity = /^0x[0-9a-f]{1,14}$/i
/** The last moment that `Date` can say, in milliseconds. */
const timeMax = 8_640_000_000_000_000
/** Of an error's message; more of it is not looked at. */
const messageMax = 2_000
const paddedAddress = /^0x0{24}[0-9a-f]{40}$/

export const hexOf = (value: number): string => `0x${value.toString(16)}`
export const topicOf = (address: string): string => `0x${'0'.repeat(24)}${address.slice(2)}`

const fault = (what: string): never => {
  throw new NodeError('FAULT', `it answered what was not asked for: ${what}`)
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A hash in lower case. Nearly all come so, and what is looked at so often had better cost little. */
function hashOf(value: unknown, what: string): string {
  if (typeof value !== 'string') return fault(what)
  if (hash.test(value)) return value
  return anyHash.test(value) ? value.toLowerCase() : fault(what)
}

export function numberOf(value: unknown, what: string): number {
  const number = typeof value === 'string' && quantity.test(value) ? Number(value) : Number.NaN
  return Number.isSafeInteger(number) ? number : fault(what)
}

/** @returns undefined where the node has no such block */
export function headerOf(result: unknown, asked: Block): Header | undefined {
  if (result === null || result === undefined) return undefined
  if (!isRecord(result)) return fault('a block that is no object')
  const number = numberOf(result['number'], 'a block without a number')
  if (typeof asked === 'number' && number !== asked) fault('another block')
  const at = numberOf(result['timestamp'], 'a block without a time') * 1_000
  if (at > timeMax) fault('a block without a time')
  const { logsBloom } = result
  return { number, hash: hashOf(result['hash'], 'a block without a hash'), at, bloom: isBloom(logsBloom) ? logsBloom : undefined }
}

const isBloom = (value: unknown): value is string => typeof value === 'string' && bloom.test(value)

/** What is asked of a node for these logs. */
export const filterOf = ({ contract, schemaUids, attesters, from, to }: LogFilter) => ({
  address: contract,
  fromBlock: hexOf(from),
  toBlock: hexOf(to),
  topics: [[attestedTopic, revokedTopic], null, attesters ? attesters.map(topicOf) : null, [...schemaUids]],
})

/** Makes what checks the logs of an answer, one at a time. */
export function logReader({ contract, schemaUids, attesters, from, to }: LogFilter): (log: unknown) => ChainLog {
  const uids = new Set(schemaUids)
  const topics = attesters && new Set(attesters.map(topicOf))
  const seen = new Set<string>()
  // Logs of a block come together: what is the same as of the one before is looked at once.
  let [numberText, blockNumber]: [unknown, number] = [Symbol('of none yet'), 0]
  return (log) => {
    if (!isRecord(log)) return fault('a log that is no object')
    if (log['removed'] === true) fault('a log that was removed')
    const { address, topics: given, data } = log
    if (address !== contract && (typeof address !== 'string' || address.toLowerCase() !== contract)) fault('a log of another contract')
    if (!Array.isArray(given) || given.length !== 4) return fault('a log without its topics')
    const kind = given[0] === attestedTopic ? 'ATTESTED' : given[0] === revokedTopic ? 'REVOKED' : fault('a log of another event')
    const [, recipient, attester, schemaUid] = given as [string, string, string, string]
    if (!isPadded(recipient) || !isPadded(attester)) fault('a log whose addresses are none')
    if (topics && !topics.has(attester)) fault('a log of another attester')
    if (!uids.has(schemaUid)) fault('a log of another schema')
    const uid = hashOf(data, 'a log whose data is of another length')
    if (log['blockNumber'] !== numberText) {
      blockNumber = numberOf(log['blockNumber'], 'a log without a block')
      if (blockNumber < from || blockNumber > to) fault('a log of another block')
      numberText = log['blockNumber']
    }
    const key = kind === 'ATTESTED' ? uid : `${uid}-`
    if (seen.has(key)) fault('the same log twice')
    seen.add(key)
    return {
      kind,
      uid,
      schemaUid,
      attester: `0x${attester.slice(26)}`,
      recipient: `0x${recipient.slice(26)}`,
      blockNumber,
      blockHash: hashOf(log['blockHash'], 'a log without the hash of its block'),
    }
  }
}

const isPadded = (value: unknown): boolean => typeof value === 'string' && paddedAddress.test(value)

/**
 * The answers of a batch in the order of its calls, whose ids count from 0.
 * @returns undefined for what is no batch's answer
 */
export function inOrder(answer: unknown, count: number): Record<string, unknown>[] | undefined {
  if (!Array.isArray(answer) || answer.length !== count) return undefined
  const ordered: Record<string, unknown>[] = []
  for (const one of answer as unknown[]) {
    if (!isRecord(one)) return undefined
    const id = one['id']
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= count || ordered[id] !== undefined) return undefined
    ordered[id] = one
  }
  return ordered
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
