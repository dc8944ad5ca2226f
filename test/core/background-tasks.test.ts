import { expect, test } from 'bun:test'
import { createBackgroundTasks } from '../../src/core/background-tasks.ts'

const logged: unknown[] = []
const log = { error: (event: string, fields: unknown) => void logged.push([event, fields]) }

test('a lane runs eight tasks at once, other lanes have slots of their own, and a slot is free again when its task ends', async () => {
  const tasks = createBackgroundTasks({ log })
  const held = Promise.withResolvers<void>()
  const started: string[] = []
  const start = (lane: string) =>
    tasks.start(lane, () => {
      started.push(lane)
      return held.promise
    })
  for (let nth = 0; nth < 9; nth++) start('a')
  start('b')
  expect(started.join('')).toBe('aaaaaaaab')
  held.resolve()
  await tasks.whenIdle()
  start('a')
  expect(started.join('')).toBe('aaaaaaaaba')
})

test('idle waits for tasks that tasks start, and a task that fails is logged and disturbs no other', async () => {
  const tasks = createBackgroundTasks({ log })
  const done: string[] = []
  tasks.start('a', async () => {
    await Promise.resolve()
    tasks.start('a', async () => void done.push('second'))
    done.push('first')
    throw new Error('a fault')
  })
  await tasks.whenIdle()
  expect(done.toSorted()).toEqual(['first', 'second'])
  expect(logged).toMatchObject([['errand.failed', { lane: 'a' }]])
})
