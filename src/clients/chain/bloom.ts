/** The blooms of headers: by the bits of a block's bloom it surely holds no logs of some kind, or it may. */
import type { ChainLog, Header, LogFilter } from '../../core/chain.ts'
import { attestedTopic, revokedTopic } from '../../lib/eas.ts'
import { keccak256 } from '../../lib/keccak.ts'
import { topicOf } from './answers.ts'

/** Three of 2,048: the lowest 11 bits of the first three pairs of bytes of the value's hash (yellow paper, 4.4.1). */
function bitsOf(hex: string): number[] {
  const hashed = keccak256(Buffer.from(hex.slice(2), 'hex'))
  return [0, 4, 8].map((at) => Number.parseInt(hashed.slice(at, at + 4), 16) & 2_047)
}

/** Whether a bloom, as 0x and 512 hex digits, has the bits of a value: surely where it is in it, and by chance where it is not. */
export const mayHold = (bloom: string, hex: string): boolean =>
  bitsOf(hex).every((bit) => (Number.parseInt(bloom.charAt(bloom.length - 1 - (bit >> 2)), 16) >> (bit & 3)) & 1)

/** Whether by its bloom a block may hold logs that a filter lets through. One without a bloom says nothing. */
function mayHoldLogs({ bloom }: Header, { contract, schemaUids, attesters }: LogFilter): boolean {
  const holds = (hex: string) => bloom !== undefined && mayHold(bloom, hex)
  return (
    holds(contract) &&
    [attestedTopic, revokedTopic].some(holds) &&
    schemaUids.some(holds) &&
    (attesters === undefined || attesters.some((address) => holds(topicOf(address))))
  )
}

/** The blocks of a filter's range that may hold such logs by their headers, and of which none are there. */
export function doubtedOf(headers: readonly (Header | undefined)[], filter: LogFilter, logs: readonly ChainLog[]): number[] {
  const within = new Map(headers.flatMap((header) => (header ? [[header.number, header] as const] : [])))
  for (const { blockNumber } of logs) within.delete(blockNumber)
  return [...within.values()]
    .filter((header) => header.number >= filter.from && header.number <= filter.to && mayHoldLogs(header, filter))
    .map(({ number }) => number)
}
