import { expect, test } from 'bun:test'
import { createBackgroundTasks } from '../../src/core/background-tasks.ts'

const logged: unknown[] = []
const log = { error: (event: string, fields: unknown) => void logged.push([event, fields]) }

test('a lane runs at most eight tasks at once, and a slot is free again when its task ends', async () => {
  const tasks = createBackgroundTasks({ log })
  const release = Promise.withResolvers<void>()
  const started: string[] = []
  const start = (lane: string) =>
    tasks.start(lane, () => {
      started.push(lane)
      return release.promise
    })
  for (let nth = 0; nth < 9; nth++) start('a')
  start('b')
  expect(started.join('')).toBe('aaaaaaaab')
  release.resolve()
  await tasks.whenIdle()
  start('a')
  expect(started.join('')).toBe('aaaaaaaaba')
})

test('whenIdle waits for tasks that tasks start, and a failing task is logged without affecting the others', async () => {
  const tasks = createBackgroundTasks({ log })
  const completed: string[] = []
  tasks.start('a', async () => {
    await Promise.resolve()
    tasks.start('a', async () => void completed.push('second'))
    completed.push('first')
    throw new Error('a fault')
  })
  await tasks.whenIdle()
  expect(completed.toSorted()).toEqual(['first', 'second'])
  expect(logged).toMatchObject([['errand.failed', { lane: 'a' }]])
})
