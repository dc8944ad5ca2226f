import { expect, test } from 'bun:test'
import { keccak_256 } from '@noble/hashes/sha3'
import { topicOf } from '../../../src/clients/chain/answers.ts'
import { missedBlocksOf } from '../../../src/clients/chain/bloom.ts'
import { attestedTopic, revokedTopic, schemaUids } from '../../../src/lib/eas.ts'

const contract = `0x${'34'.repeat(20)}`
const attester = `0x${'56'.repeat(20)}`
const hash = `0x${'12'.repeat(32)}`
const filter = { contract, schemaUids: [schemaUids.A, schemaUids.B], attesters: undefined, from: 5, to: 9 }

/** Returns a bloom filter as a node computes it: a number of 2,048 bits with three bits for each value. */
function bloomOf(...values: string[]): string {
  let bloom = 0n
  for (const value of values) {
    const hashed = keccak_256(Buffer.from(value.slice(2), 'hex'))
    for (const at of [0, 2, 4]) bloom |= 1n << BigInt(Buffer.from(hashed).readUInt16BE(at) % 2_048)
  }
  return `0x${bloom.toString(16).padStart(512, '0')}`
}
const header = (number: number, bloom?: string) => ({ number, hash, at: 0, bloom })
const log = {
  kind: 'ATTESTED',
  uid: hash,
  schemaUid: schemaUids.A,
  attester,
  recipient: attester,
  blockNumber: 7,
  blockHash: hash,
} as const

test('a block without logs is reported missed if its bloom has the contract, an event and a requested schema', () => {
  const matching = bloomOf(contract, attestedTopic, schemaUids.B)
  expect(missedBlocksOf([header(7, matching)], filter, [])).toEqual([7])
  expect(missedBlocksOf([header(7, bloomOf(contract, revokedTopic, schemaUids.A))], filter, [])).toEqual([7])
  expect(missedBlocksOf([header(7, matching)], filter, [log])).toEqual([])
  expect(
    missedBlocksOf(
      [header(4, matching), header(5, matching), undefined, header(9, matching), header(9, matching), header(10, matching)],
      filter,
      [log],
    ),
  ).toEqual([5, 9])
})

test('a block is not reported missed if its bloom lacks one of these or is absent', () => {
  for (const bloom of [
    undefined,
    bloomOf(),
    bloomOf(attestedTopic, schemaUids.A),
    bloomOf(contract, schemaUids.A),
    bloomOf(contract, attestedTopic, schemaUids.C),
  ])
    expect(missedBlocksOf([header(7, bloom)], filter, [])).toEqual([])
})

test('with an attester filter, a block is reported missed only if its bloom has one of the attesters', () => {
  const others = { ...filter, attesters: [contract, attester] }
  expect(missedBlocksOf([header(7, bloomOf(contract, attestedTopic, schemaUids.A))], others, [])).toEqual([])
  expect(missedBlocksOf([header(7, bloomOf(contract, attestedTopic, schemaUids.A, topicOf(attester)))], others, [])).toEqual([7])
})
