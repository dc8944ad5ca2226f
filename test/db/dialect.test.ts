/** Tests that a program started for one engine refuses the other. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../support/database.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const root = join(import.meta.dir, '..', '..')

/** Evaluates `code` in a process with this DATABASE_URL, and returns its output. */
async function evaluate(databaseUrl: string, code: string): Promise<string> {
  const child = Bun.spawn(
    [process.execPath, '--eval', `try { ${code}; console.log('opened') } catch (error) { console.log(error.name + ': ' + error.message) }`],
    {
      cwd: root,
      env: { ...process.env, DATABASE_URL: databaseUrl },
      stdout: 'pipe',
    },
  )
  return (await new Response(child.stdout).text()).trim()
}

const open = (url: string, dataDir: string) =>
  `const { openDatabase } = await import('./db/open.ts');
   await openDatabase({ url: '${url}', dataDir: '${dataDir}', as: 'server', now: 0, random: Math.random })`

test('a program started for PostgreSQL refuses a file and creates nothing', async () => {
  const dir = temporaryDir()
  const refusal = 'DatabaseRefused: souk was started for PostgreSQL, but opens a SQLite file: set DATABASE_URL in its environment'
  const url = `file:${join(dir, 'souk.db')}`
  expect(await evaluate('postgres://souk@127.0.0.1:1/nowhere', open(url, join(dir, 'data')))).toBe(refusal)
  const openScript = `const { openSqlite } = await import('./db/sqlite/engine.ts'); openSqlite('${join(dir, 'souk.db')}')`
  expect(await evaluate('postgres://souk@127.0.0.1:1/nowhere', openScript)).toBe(refusal)
  expect(readdirSync(dir)).toEqual([])
  expect(await evaluate(url, open(url, join(dir, 'data')))).toBe('opened')
})

test('a program started for SQLite refuses PostgreSQL before it connects', async () => {
  const dir = temporaryDir()
  const refusal = 'DatabaseRefused: souk was started for a SQLite file, but opens PostgreSQL: set DATABASE_URL in its environment'
  const url = 'postgres://souk@127.0.0.1:1/nowhere'
  expect(await evaluate(`file:${join(dir, 'souk.db')}`, open(url, dir))).toBe(refusal)
  const openScript = `const { openPostgres } = await import('./db/postgres/engine.ts'); openPostgres('${url}', Math.random)`
  expect(await evaluate('', openScript)).toBe(refusal)
})
