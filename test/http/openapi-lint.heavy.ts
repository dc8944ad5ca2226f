/** Lints docs/openapi.json without a network. `bun run openapi:lint` runs this file alone. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { engine } from '../../db/columns.ts'
import checkedIn from '../../docs/openapi.json'
import { temporaryDir } from '../support/database.ts'
import { typesOf } from '../support/openapi-types.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const runsHere = engine === 'sqlite'
if (!runsHere) process.stderr.write('skipped on Postgres: linters, because the document does not depend on the engine\n')

const root = join(import.meta.dir, '../..')
const quiet = {
  PATH: Bun.env['PATH'] ?? '',
  HOME: temporaryDir(),
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  NO_COLOR: '1',
}

/** Runs a tool of node_modules under Bun. Returns its exit code and output. */
async function run(tool: string, ...args: string[]): Promise<{ exitCode: number; output: string }> {
  const child = Bun.spawn([process.execPath, '--bun', join(root, 'node_modules/.bin', tool), ...args], {
    cwd: root,
    env: quiet,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, exitCode] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited])
  return { exitCode, output: out + err }
}

test.skipIf(!runsHere)('redocly finds no error and no warning', async () => {
  const { exitCode, output } = await run('redocly', 'lint', 'docs/openapi.json', '--config', 'docs/redocly.yaml')
  expect(output).toContain('Your API description is valid')
  expect(output).not.toMatch(/warning/i)
  expect(exitCode).toBe(0)
})

test.skipIf(!runsHere)('spectral finds no error and no warning', async () => {
  const { exitCode, output } = await run(
    'spectral',
    'lint',
    'docs/openapi.json',
    '--ruleset',
    'docs/spectral.yaml',
    '--fail-severity',
    'hint',
  )
  expect(output).toContain("No results with a severity of 'hint' or higher found!")
  expect(exitCode).toBe(0)
})

test.skipIf(!runsHere)('the linters find the problems of a faulty document', async () => {
  const dir = temporaryDir()
  const file = join(dir, 'broken.json')
  await Bun.write(file, JSON.stringify({ ...checkedIn, paths: { '/a': { get: { responses: { 200: {} } } } } }))
  const [redocly, spectral] = await Promise.all([
    run('redocly', 'lint', file, '--config', 'docs/redocly.yaml'),
    run('spectral', 'lint', file, '--ruleset', 'docs/spectral.yaml'),
  ])
  expect(redocly.exitCode).not.toBe(0)
  expect(spectral.exitCode).not.toBe(0)
})

/** Uses the types as a client does. A field that is missing, `never` or `unknown` does not compile. */
const client = `import type { operations, paths } from './types.ts'

type Json<Answer> = Answer extends { content: { 'application/json': infer Body } } ? Body : never
type Shop = Json<paths['/shops/v2']['get']['responses']['200']>
type Refusal = Json<operations['getOwnShop']['responses']['401']>

export const body: paths['/merchant/login']['post']['requestBody']['content']['application/json'] = { email: 'a@example.com', password: 'secret' }
export const titleOf = (shop: Shop): string => shop.title
export const modeOf = (shop: Shop): 'TEST' | 'LIVE' => shop.mode
export const emailOf = (shop: Shop): string | null => shop.contact.email
export const statusOf = (refusal: Refusal): number => refusal.statusCode
// @ts-expect-error there is no such field
export const nothingOf = (shop: Shop) => shop.nothing
`
const strict = {
  compilerOptions: { strict: true, noEmit: true, target: 'esnext', module: 'preserve', allowImportingTsExtensions: true, types: [] },
  include: ['*.ts'],
}

test.skipIf(!runsHere)('openapi-typescript generates client types that compile', async () => {
  const dir = join(temporaryDir(), 'client')
  mkdirSync(dir)
  await Bun.write(join(dir, 'types.ts'), await typesOf(checkedIn))
  await Bun.write(join(dir, 'client.ts'), client)
  await Bun.write(join(dir, 'tsconfig.json'), JSON.stringify(strict))
  const { exitCode, output } = await run('tsc', '--project', dir)
  expect(output).toBe('')
  expect(exitCode).toBe(0)
})
