import { describe, expect, test } from 'bun:test'
import { schemaUids } from '../../../../src/lib/eas.ts'
import {
  type Attestation,
  type Backfill,
  blocksMax,
  Contradiction,
  changesOfLogs,
  initialRangeSize,
  nextBackfillRange,
  nextRangeSize,
  type RangeSize,
  rangeSizeAfterRefusal,
  type TimedLog,
} from '../../../../src/modules/trust/attestation/domain.ts'

const smallResponse = { logs: 0, bytes: 1_000, ms: 10, isContended: false }

describe('the range size', () => {
  test('the range size grows by half up to a bound while responses are small and quick', () => {
    const sizes: number[] = []
    let size = initialRangeSize
    for (let nth = 0; nth < 9; nth++) {
      size = nextRangeSize(size, { ...smallResponse, blocks: size.blocks })
      sizes.push(size.blocks)
    }
    expect(sizes.slice(0, 3)).toEqual([1_500, 2_250, 3_375])
    expect(sizes.at(-1)).toBe(blocksMax)
  })

  test('the range size shrinks if responses are large, at once if requests wait, and stays if they are slow or truncated', () => {
    const size: RangeSize = { blocks: 1_000, ceiling: blocksMax, isStatedByNode: false }
    expect(nextRangeSize(size, { ...smallResponse, blocks: 1_000, logs: 100_000 }).blocks).toBe(500)
    expect(nextRangeSize(size, { ...smallResponse, blocks: 1_000, logs: 8_000, isContended: true }).blocks).toBe(100)
    expect(nextRangeSize(size, { ...smallResponse, blocks: 1_000, bytes: 12 * 1024 * 1024 }).blocks).toBeLessThan(1_000)
    expect(nextRangeSize(size, { ...smallResponse, blocks: 1_000, ms: 30_000 }).blocks).toBe(1_000)
    expect(nextRangeSize(size, { ...smallResponse, blocks: 3 }).blocks).toBe(1_000)
    expect(nextRangeSize({ ...size, blocks: 1 }, { ...smallResponse, blocks: 1, logs: 1_000_000 }).blocks).toBe(1)
  })

  test('the range size follows a limit that a node states permanently; otherwise it is halved and grows back slowly', () => {
    const stated = rangeSizeAfterRefusal(5_000, 800)
    expect(stated).toEqual({ blocks: 800, ceiling: 800, isStatedByNode: true })
    expect(nextRangeSize(stated, { ...smallResponse, blocks: 800 }).blocks).toBe(800)
    let size = rangeSizeAfterRefusal(4_000, undefined)
    expect(size.blocks).toBe(2_000)
    size = nextRangeSize(size, { ...smallResponse, blocks: 2_000 })
    expect(size.blocks).toBe(3_000)
    for (let nth = 0; nth < 10; nth++) size = nextRangeSize(size, { ...smallResponse, blocks: size.blocks })
    expect(size.blocks).toBeLessThan(4_000)
    expect(rangeSizeAfterRefusal(2, 7).blocks).toBe(1)
  })
})

const attester = `0x${'ab'.repeat(20)}`
const uid = `0x${'01'.repeat(32)}`
const log = (more: Partial<TimedLog> = {}): TimedLog => ({
  kind: 'ATTESTED',
  uid,
  schemaUid: schemaUids.A,
  attester,
  recipient: `0x${'00'.repeat(20)}`,
  blockNumber: 7,
  blockAt: 7_000,
  ...more,
})
const registry = { grants: new Map([[attester, [{ address: attester, schema: 'A' as const, fromAt: 5_000, toAt: 9_000 }]]]) }
const row: Attestation = {
  chainId: 1,
  uid,
  schema: 'A',
  attester,
  isOfSelf: false,
  blockNumber: 7,
  blockAt: 7_000,
  revokedBlock: null,
  isCounted: true,
  isDemo: false,
}
const none = new Map<string, never>()
const knownAs = (attestation: Attestation) => new Map([[uid, attestation]])

describe('the changes of logs', () => {
  test('a new attestation counts if it was granted at its time', () => {
    expect(changesOfLogs(1, [log()], none, none, registry)).toEqual({
      inserted: [row],
      changed: [],
      pendingRevocations: [],
      resolvedRevocations: [],
      deltas: { A: 1 },
    })
    expect(changesOfLogs(1, [log({ blockAt: 9_000 })], none, none, registry).deltas).toEqual({})
  })

  test('a repeated log is ignored, and one in another block is moved', () => {
    expect(changesOfLogs(1, [log()], knownAs(row), none, registry)).toMatchObject({ inserted: [], changed: [], deltas: {} })
    const movedLog = changesOfLogs(1, [log({ blockNumber: 9, blockAt: 9_500 })], knownAs(row), none, registry)
    expect(movedLog).toMatchObject({ changed: [{ blockNumber: 9, isCounted: false }], deltas: { A: -1 } })
  })

  test('a revoked attestation does not count, whether the revocation comes before, with or after it', () => {
    const revoked = log({ kind: 'REVOKED', blockNumber: 8, blockAt: 8_000 })
    expect(changesOfLogs(1, [revoked], knownAs(row), none, registry)).toMatchObject({
      changed: [{ revokedBlock: 8, isCounted: false }],
      deltas: { A: -1 },
    })
    expect(changesOfLogs(1, [revoked, log()], none, none, registry)).toMatchObject({ inserted: [{ revokedBlock: 8 }], deltas: {} })
    const pending = changesOfLogs(1, [revoked], none, none, registry)
    expect(pending).toMatchObject({ inserted: [], pendingRevocations: [{ chainId: 1, uid, attester, blockNumber: 8 }] })
    const pendingByUid = new Map(pending.pendingRevocations.map((one) => [one.uid, one]))
    expect(changesOfLogs(1, [log()], none, pendingByUid, registry)).toMatchObject({
      inserted: [{ revokedBlock: 8 }],
      resolvedRevocations: [uid],
      deltas: {},
    })
  })

  test('impossible logs are refused', () => {
    const other = `0x${'cd'.repeat(20)}`
    expect(() => changesOfLogs(1, [log({ kind: 'REVOKED', attester: other })], knownAs(row), none, registry)).toThrow(Contradiction)
    expect(() => changesOfLogs(1, [log({ attester: other })], knownAs(row), none, registry)).toThrow(Contradiction)
    expect(() => changesOfLogs(1, [log({ schemaUid: schemaUids.B })], knownAs(row), none, registry)).toThrow(Contradiction)
    expect(() => changesOfLogs(1, [log({ schemaUid: uid })], none, none, registry)).toThrow(Contradiction)
  })
})

test('backfills at the same block continue together, up to where one ends or another joins', () => {
  const backfill = (id: string, readTo: number, lastBlock: number) =>
    ({ id, readTo, lastBlock }) as Backfill & { readTo: number; lastBlock: number }
  const [a, b, c] = [backfill('a', 10, 100), backfill('b', 10, 50), backfill('c', 30, 100)]
  expect(nextBackfillRange([], 1_000)).toBeUndefined()
  expect(nextBackfillRange([a, b, c], 1_000)).toEqual({ group: [a, b], from: 11, to: 30 })
  expect(nextBackfillRange([a, b], 1_000)).toEqual({ group: [a, b], from: 11, to: 50 })
  expect(nextBackfillRange([a, b], 5)).toEqual({ group: [a, b], from: 11, to: 15 })
})
