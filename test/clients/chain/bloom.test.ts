import { expect, test } from 'bun:test'
import { keccak_256 } from '@noble/hashes/sha3'
import { topicOf } from '../../../src/clients/chain/answers.ts'
import { missedBlocksOf } from '../../../src/clients/chain/bloom.ts'
import { attestedTopic, revokedTopic, schemaUids } from '../../../src/lib/eas.ts'

const contract = `0x${'34'.repeat(20)}`
const attester = `0x${'56'.repeat(20)}`
const hash = `0x${'12'.repeat(32)}`
const filter = { contract, schemaUids: [schemaUids.A, schemaUids.B], attesters: undefined, from: 5, to: 9 }

/** As a node makes it: bits of a number of 2,048 bits, which is written with the highest first. */
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
  const ours = bloomOf(contract, attestedTopic, schemaUids.B)
  expect(missedBlocksOf([header(7, ours)], filter, [])).toEqual([7])
  expect(missedBlocksOf([header(7, bloomOf(contract, revokedTopic, schemaUids.A))], filter, [])).toEqual([7])
  expect(missedBlocksOf([header(7, ours)], filter, [log])).toEqual([])
  expect(
    missedBlocksOf([header(4, ours), header(5, ours), undefined, header(9, ours), header(9, ours), header(10, ours)], filter, [log]),
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
