/** Tests restore plans and removable files, by the names of shipped files. */
import { expect, test } from 'bun:test'
import {
  generationName,
  generationStartName,
  pagesName,
  parseShippedName,
  planRestore,
  removableFiles,
  resumableGeneration,
  type ShippedFile,
  segmentName,
  snapshotName,
} from '../../../../src/modules/operations/log-shipping/domain.ts'
import { segmentHeadOf, splitHeader, withHeader } from '../../../../src/modules/operations/log-shipping/file-headers.ts'

const generationAt = (at: number) => generationName('0a1b2c3d', at, new Uint8Array([1, 2, 3, 4]))
/** Creates the files of a generation that began at `at`: a segment every 10 ms, and snapshots at segment ends. */
function createFiles(at: number, segments: number, snapshots: readonly { first: number; last: number }[]): ShippedFile[] {
  const generation = generationAt(at)
  const names = [generationStartName(generation)]
  for (let index = 0; index < segments; index++) names.push(segmentName({ generation, index, at: at + 10 * (index + 1) }))
  for (const { first, last } of snapshots) {
    const begunAt = at + 10 * last + 5
    names.push(pagesName({ generation, begunAt }), snapshotName({ generation, first, last, at: at + 10 * (last + 1), begunAt }))
  }
  return names.map((name) => parseShippedName(name) as ShippedFile)
}

test('a name is parsed into its meaning, and other names are ignored', () => {
  const generation = generationAt(1_000)
  expect(parseShippedName(segmentName({ generation, index: 41, at: 7 }))).toMatchObject({ kind: 'segment', generation, index: 41, at: 7 })
  expect(parseShippedName(snapshotName({ generation, first: 0, last: -1, at: 8, begunAt: 9 }))).toMatchObject({
    first: 0,
    last: -1,
    at: 8,
    begunAt: 9,
  })
  for (const name of ['wal/x', 'wal/0a1b2c3d/begun', 'documents/segment-1-1', `${segmentName({ generation, index: 1, at: 1 })}.tmp`])
    expect(parseShippedName(name)).toBeUndefined()
})

test('a restore to a moment uses the last valid snapshot before it, and every segment committed before it', () => {
  const all = createFiles(1_000, 9, [
    { first: 0, last: 1 },
    { first: 4, last: 5 },
  ])
  const planAt = (to: number) => {
    const plan = planRestore(all, to)
    return plan && { from: plan.segments[0]?.index, to: plan.segments.at(-1)?.index, upTo: plan.upTo }
  }
  expect(planAt(1_019)).toBeUndefined()
  expect(planAt(1_020)).toEqual({ from: 0, to: 1, upTo: 1_020 })
  expect(planAt(1_059)).toEqual({ from: 0, to: 4, upTo: 1_050 })
  expect(planAt(1_060)).toEqual({ from: 4, to: 5, upTo: 1_060 })
  expect(planAt(9_999)).toEqual({ from: 4, to: 8, upTo: 1_090 })
})

test('a missing segment ends the restorable range; a snapshot that needs it is replaced by an earlier one', () => {
  const all = createFiles(1_000, 9, [
    { first: 0, last: 1 },
    { first: 4, last: 5 },
  ])
  const without = (index: number) => all.filter((one) => !(one.kind === 'segment' && one.index === index))
  expect(planRestore(without(7), 9_999)).toMatchObject({ missing: 7, upTo: 1_070 })
  expect(planRestore(without(5), 9_999)).toMatchObject({ missing: 5, snapshot: { first: 0 }, upTo: 1_050 })
  expect(planRestore(without(1), 1_059)).toBeUndefined()
  const noPages = all.filter((one) => one.kind !== 'pages')
  expect(planRestore(noPages, 9_999)).toBeUndefined()
})

test('of two segments with one index the later one counts: a killed process may write late', () => {
  const all = createFiles(1_000, 5, [{ first: 0, last: 1 }])
  const late = parseShippedName(segmentName({ generation: generationAt(1_000), index: 3, at: 1_033 })) as ShippedFile
  const plan = planRestore([...all, late], 9_999)
  expect([plan?.missing, plan?.upTo, plan?.segments.map(({ at }) => at)]).toEqual([undefined, 1_050, [1_010, 1_020, 1_030, 1_040, 1_050]])
  expect(planRestore([...all, late], 1_035)?.upTo).toBe(1_033)
})

test('the last generation is continued if it has a snapshot and no gaps', () => {
  const all = createFiles(1_000, 3, [{ first: 0, last: 0 }])
  expect(resumableGeneration(all)).toMatchObject({ snapshot: { first: 0 }, last: { index: 2 } })
  for (const others of [
    all.filter((one) => one.kind !== 'snapshot'),
    all.filter((one) => !(one.kind === 'segment' && one.index === 1)),
    [...all, ...createFiles(5_000, 0, [])],
    [],
  ])
    expect(resumableGeneration(others)).toBeUndefined()
})

test('a time before the first snapshot of new shipping is refused with the reason', () => {
  const all = [...createFiles(1_000, 3, [{ first: 0, last: 0 }]), ...createFiles(5_000, 3, [{ first: 0, last: 1 }])]
  expect(planRestore(all, 5_015)).toMatchObject({ upTo: 1_030, resumedAt: 5_000 })
  expect(planRestore(all, 5_020)).toMatchObject({ upTo: 5_020 })
  expect(planRestore(all, 5_020)?.resumedAt).toBeUndefined()
})

test('everything within the retention stays, and the last snapshot of any age', () => {
  const old = createFiles(1_000, 3, [{ first: 0, last: 0 }])
  const now = createFiles(5_000, 9, [
    { first: 0, last: 1 },
    { first: 4, last: 5 },
  ])
  const all = [...old, ...now]
  const current = generationAt(5_000)
  const remainingAfter = (keepFrom: number, begunAt?: number) => {
    const removed = new Set(removableFiles(all, { keepFrom, current, begunAt }))
    return all.filter(({ name }) => !removed.has(name))
  }
  expect(remainingAfter(1_000)).toEqual(all)
  expect(remainingAfter(5_019)).toEqual(all)
  expect(remainingAfter(5_030)).toEqual(now)
  const remaining = remainingAfter(99_999)
  expect(remaining.filter(({ kind }) => kind === 'segment').map((one) => one.kind === 'segment' && one.index)).toEqual([4, 5, 6, 7, 8])
  expect(planRestore(remaining, 99_999)).toEqual(planRestore(all, 99_999) as never)
  // Until the new generation has a snapshot, only the earlier files can be restored.
  const withNewGeneration = [...now, ...createFiles(9_000, 2, [])]
  expect(removableFiles(withNewGeneration, { keepFrom: 99_999, current: generationAt(9_000), begunAt: undefined })).not.toContain(
    generationStartName(generationAt(9_000)),
  )
  expect(
    planRestore(
      withNewGeneration.filter(
        ({ name }) =>
          !removableFiles(withNewGeneration, { keepFrom: 99_999, current: generationAt(9_000), begunAt: undefined }).includes(name),
      ),
      9_999,
    ),
  ).toMatchObject({ upTo: 5_090 })
})

test('a head is separated from its content in any chunks', async () => {
  async function* byteByByte(text: string) {
    for (const byte of Buffer.from(text)) yield Uint8Array.of(byte)
  }
  const pieces = await Array.fromAsync(withHeader({ format: 1 }, byteByByte('the rest\n')))
  const found = await splitHeader(byteByByte(Buffer.concat(pieces).toString()))
  expect(found?.head).toEqual({ format: 1 })
  expect(Buffer.concat(await Array.fromAsync(found?.rest ?? [])).toString()).toBe('the rest\n')
  for (const other of ['', 'no line', '{"format":1}', 'not json\n']) expect(await splitHeader(byteByByte(other))).toBeUndefined()
})

test('a segment head with an impossible page size is refused', () => {
  const segment = { generation: generationAt(1_000), index: 0, at: 7 }
  const head = (pageSize: number) => ({
    format: 1,
    ...segment,
    from: 0,
    to: 1,
    sum: [1, 2],
    header: { salt1: 1, salt2: 2, sum: [1, 2], pageSize },
  })
  for (const size of [512, 4_096, 65_536]) expect(segmentHeadOf(head(size), segment)).toBeDefined()
  for (const size of [0, -24, 1_000, 4_096.5, 131_072]) expect(segmentHeadOf(head(size), segment)).toBeUndefined()
})
