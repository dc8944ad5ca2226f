/** Opens an instance as a command that runs beside the server, on the same database. */
import { engine } from '../../db/columns.ts'
import { openInstance } from '../../src/instance.ts'
import type { TestApp } from './app.ts'

export async function openCommandInstance(app: TestApp) {
  const { deps, close } = await openInstance({
    config: app.deps.config,
    as: 'command',
    clock: app.clock,
    log: app.deps.log,
    ...(engine === 'sqlite' ? { sqlite: { besideServer: true } } : {}),
  })
  return { deps, [Symbol.asyncDispose]: close }
}
