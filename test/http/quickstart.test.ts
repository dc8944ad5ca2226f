/** Runs the examples of docs/api.md ("Get started", "Orders") against the demo, in curl and in TypeScript. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import checkedIn from '../../docs/openapi.json'
import { fillDemo } from '../../src/demo/fill.ts'
import { pastProcessors } from '../../src/demo/processors.ts'
import { type TestApp, testApp } from '../support/app.ts'
import { temporaryDir } from '../support/database.ts'
import { typesOf } from '../support/openapi-types.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const root = join(import.meta.dir, '../..')
const introduction = readFileSync(join(root, 'src/http/api-introduction.md'), 'utf8')
const [, orders = ''] = /## Orders\n(.*?)\n## /s.exec(readFileSync(join(root, 'docs/api.md'), 'utf8')) ?? []
/** Returns the code blocks of a language. */
const blocksOf = (language: string) =>
  [...`${introduction}${orders}`.matchAll(/```(\w+)\n(.*?)```/gs)].flatMap(([, kind, code]) => (kind === language ? [code] : []))

let app: TestApp
let server: Bun.Server<unknown>
beforeAll(async () => {
  app = await testApp({}, { processors: pastProcessors })
  await fillDemo(app.deps)
  server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request, self) => app.edge.fetch(request, self) })
})
afterAll(async () => {
  await server?.stop(true)
  await app?.[Symbol.asyncDispose]()
})

const withServerUrl = (code: string) => code.replaceAll('http://127.0.0.1:3000', server.url.origin)

async function run(command: string[], cwd: string): Promise<{ output: string; exitCode: number }> {
  const child = Bun.spawn(command, { cwd, env: process.env, stdout: 'pipe', stderr: 'pipe' })
  const [out, error, exitCode] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited])
  return { output: out + error, exitCode }
}

test('docs/api.md begins with the introduction of the OpenAPI document', () => {
  expect(readFileSync(join(root, 'docs/api.md'), 'utf8')).toContain(introduction.trim())
  expect(checkedIn.info.description).toContain(introduction.trim())
})

test.skipIf(!Bun.which('curl'))('the curl examples buy a product, create a webhook endpoint and refund the order', async () => {
  // The first block installs packages.
  const [, ...steps] = blocksOf('sh')
  const { output, exitCode } = await run(['bash', '-euc', withServerUrl(steps.join('\n'))], temporaryDir())
  expect(output).toContain('"title":"Brass Coffee Scoop"')
  expect(output).toContain('"quantity":1')
  expect(output).toContain('"status":"CONFIRMED"')
  expect(output).toContain('"secret":"whsec_')
  expect(output).toMatch(/"reason":"returned","status":"SUCCEEDED"/)
  expect(exitCode).toBe(0)
})

test('the TypeScript examples compile, buy a product and refund it', async () => {
  const dir = join(temporaryDir(), 'client')
  mkdirSync(dir)
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  await Bun.write(join(dir, 'souk.d.ts'), await typesOf(checkedIn))
  await Bun.write(join(dir, 'main.ts'), withServerUrl(blocksOf('ts').join('\n')))
  const options = {
    strict: true,
    noEmit: true,
    target: 'esnext',
    module: 'preserve',
    types: ['bun-types'],
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
  }
  await Bun.write(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['main.ts'] }))
  const compiler = join(root, 'node_modules/typescript-5/bin/tsc')
  expect(await run([process.execPath, compiler, '--project', dir], dir)).toEqual({ output: '', exitCode: 0 })
  const { body: login } = await app.call('POST', '/merchant/login', { body: { email: 'merchant@demo.example', password: 'demo-merchant' } })
  const { body: keys } = await app.call('GET', '/shops/v2/private-key', { token: login.data.accessToken })
  // The import below runs the examples, too.
  process.env['SOUK_SECRET_KEY'] = keys.privateKey
  const { output, exitCode } = await run([process.execPath, join(dir, 'main.ts')], dir)
  expect(output).toContain('currency: "USD"')
  expect(output).toContain('CONFIRMED\nSUCCEEDED')
  expect(exitCode).toBe(0)
  const { receive } = await import(join(dir, 'main.ts'))
  const secret = `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`
  const body = JSON.stringify({ type: 'order.confirmed', timestamp: new Date().toISOString(), data: {} })
  const signature = new Webhook(secret).sign('msg_1', new Date(), body)
  const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': String(Math.floor(Date.now() / 1_000)), 'webhook-signature': signature }
  const request = new Request('https://shop.example.com/souk', { method: 'POST', headers, body })
  expect((await receive(request, secret)).status).toBe(204)
})
