/** Bloom filters of block headers: whether a block may contain certain logs. */
import type { BlockHeader, ChainLog, LogFilter } from '../../core/chain.ts'
import { attestedTopic, revokedTopic } from '../../lib/eas.ts'
import { keccak256 } from '../../lib/keccak.ts'
import { topicOf } from './answers.ts'

/** Three of 2,048 bits: the lowest 11 bits of the first three byte pairs of the hash (yellow paper, 4.4.1). */
function bitsOf(hex: string): number[] {
  const hashed = keccak256(Buffer.from(hex.slice(2), 'hex'))
  return [0, 4, 8].map((offset) => Number.parseInt(hashed.slice(offset, offset + 4), 16) & 2_047)
}

/** Returns whether a bloom (0x and 512 hex digits) has the bits of a value. False positives are possible. */
const mayHold = (bloom: string, hex: string): boolean =>
  bitsOf(hex).every((bit) => (Number.parseInt(bloom.charAt(bloom.length - 1 - (bit >> 2)), 16) >> (bit & 3)) & 1)

/** Returns whether a block may contain logs that match the filter; false without a bloom. */
function mayHoldLogs({ bloom }: BlockHeader, { contract, schemaUids, attesters }: LogFilter): boolean {
  const holds = (hex: string) => bloom !== undefined && mayHold(bloom, hex)
  return (
    holds(contract) &&
    [attestedTopic, revokedTopic].some(holds) &&
    schemaUids.some(holds) &&
    (attesters === undefined || attesters.some((address) => holds(topicOf(address))))
  )
}

/** Returns the blocks in the filter's range that may contain logs but have none in the response. */
export function missedBlocksOf(headers: readonly (BlockHeader | undefined)[], filter: LogFilter, logs: readonly ChainLog[]): number[] {
  const candidates = new Map(headers.flatMap((header) => (header ? [[header.number, header] as const] : [])))
  for (const { blockNumber } of logs) candidates.delete(blockNumber)
  return [...candidates.values()]
    .filter((header) => header.number >= filter.from && header.number <= filter.to && mayHoldLogs(header, filter))
    .map(({ number }) => number)
}
