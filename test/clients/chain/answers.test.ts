import { describe, expect, test } from 'bun:test'
import { errorIn, headerOf, logReader } from '../../../src/clients/chain/answers.ts'
import { attestedTopic, schemaUids } from '../../../src/lib/eas.ts'

const hash = `0x${'12'.repeat(32)}`
const contract = `0x${'34'.repeat(20)}`
const padded = `0x${'0'.repeat(24)}${'56'.repeat(20)}`
const log = {
  address: contract,
  topics: [attestedTopic, padded, padded, schemaUids.A],
  data: hash,
  blockNumber: '0x7',
  blockHash: hash,
}

describe('validation of node responses', () => {
  test.each([[undefined], [null], [''], ['0x'], ['0x8'], [7], ['0x20000000000000']])(
    'a log with the block number %p is refused, also as the first one',
    (blockNumber) => {
      const read = () => logReader({ contract, schemaUids: [schemaUids.A], from: 5, to: 7 })
      expect(read()(log)).toMatchObject({ blockNumber: 7 })
      expect(() => read()({ ...log, blockNumber })).toThrow('its answer is not valid')
    },
  )

  test('a block with a time outside the calendar is refused', () => {
    const block = (timestamp: number) => headerOf({ number: '0x7', hash, timestamp: `0x${timestamp.toString(16)}` }, 7)
    expect(block(8_640_000_000_000)).toEqual({ number: 7, hash, at: 8_640_000_000_000_000 })
    expect(() => block(8_640_000_000_001)).toThrow('a block without a time')
  })

  test('the message of a node error is always text and at most 2,000 characters', () => {
    expect(errorIn({ error: { code: 3, message: { toString: 1, valueOf: 1 } } })).toEqual({ code: 3, message: '', data: undefined })
    expect(errorIn({ error: { code: 3, message: 'x'.repeat(1_000_000) } })?.message).toHaveLength(2_000)
  })
})
