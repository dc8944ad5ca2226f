import { expect, test } from 'bun:test'
import { createBackgroundTasks } from '../../src/core/background-tasks.ts'

const logged: unknown[] = []
const log = { error: (event: string, fields: unknown) => void logged.push([event, fields]) }

test('errands of one lane have eight places, those of another lane have theirs, and a place is free again when its errand is done or given up', async () => {
  const errands = createBackgroundTasks({ log })
  const held = Promise.withResolvers<void>()
  for (let nth = 0; nth < 8; nth++) errands.reserveSlot('a')?.start(() => held.promise)
  expect(errands.reserveSlot('a')).toBeUndefined()
  const other = errands.reserveSlot('b')
  expect(other).toBeDefined()
  other?.release()
  held.resolve()
  await errands.whenIdle()
  const places = Array.from({ length: 9 }, () => errands.reserveSlot('a'))
  expect(places.map((place) => place !== undefined)).toEqual([...Array<boolean>(8).fill(true), false])
})

test('idle waits for what errands begin besides, and one that fails is in the log and fails nobody else', async () => {
  const errands = createBackgroundTasks({ log })
  const done: string[] = []
  errands.reserveSlot('a')?.start(async () => {
    await Promise.resolve()
    errands.reserveSlot('a')?.start(async () => void done.push('second'))
    done.push('first')
    throw new Error('a fault')
  })
  await errands.whenIdle()
  expect(done.toSorted()).toEqual(['first', 'second'])
  expect(logged).toMatchObject([['errand.failed', { lane: 'a' }]])
})
