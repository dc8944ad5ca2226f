/** Tests the commands for incidents, with a running server and where no server starts. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { engine } from '../../db/columns.ts'
import { health } from '../../src/cli/health.ts'
import { order, orders } from '../../src/cli/order.ts'
import { publishNew, redact, secretsOf, settingsOf, supportBundle } from '../../src/cli/support-bundle.ts'
import { ProcessorUnavailable } from '../../src/clients/processors/processor.ts'
import { settings as known, parseConfig } from '../../src/config.ts'
import { recordHeartbeat, recordStart } from '../../src/modules/operations/deploy-status/index.ts'
import { type TestApp, testApp } from '../support/app.ts'
import { type TestDatabase, temporaryDir, testDatabase } from '../support/database.ts'
import { address, customerOf, ok } from '../support/selling.ts'
import { paymentAnswer, sellingWithProcessor } from '../support/test-processor.ts'
import { longTestMs } from '../support/timeouts.ts'
import { describeProcesses, serve, souk } from './souk.ts'

setDefaultTimeout(longTestMs)

const testSecrets = {
  JWT_SECRET: 'test-only-jwt-secret-0123456789abcdef',
  ENCRYPTION_KEY: 'test-only-encryption-key-0123456789ab',
  INTEGRATION_API_KEY: 'test-only-integration-key',
}

/** Returns values with PLANTED (or its hexadecimal form) in them. Each secret setting accepts one of them. */
const candidates = (name: string): string[] => [
  `PLANTED-${name}-0123456789-abcdefgh`,
  `redis://user:PLANTED-${name}@127.0.0.1:1/0`,
  `https://127.0.0.1:1/rates?key=PLANTED-${name}`,
  `smtps://user:PLANTED-${name}@127.0.0.1:1`,
  `[{ "chainId": 8453, "rpc": ["https://127.0.0.1:1/PLANTED-${name}"] }]`,
  `0x${'5eed'.repeat(16)}`,
  `sk_test_PLANTED_${name}`,
  `whsec_PLANTED_${name}`,
]
const planted = /PLANTED|5eed5eed|test-only/

/** Returns a value for every secret setting, and the other settings that a store with a secret requires. */
function plantedSettings(): Record<string, string> {
  const secrets = Object.entries(known).flatMap(([name, setting]) => {
    if (!('secret' in setting) || name in testSecrets) return []
    const value = candidates(name).find((text) => {
      try {
        setting.read(text)
        return true
      } catch {
        return false
      }
    })
    if (value === undefined) throw new Error(`no planted value fits ${name}: add one to the candidates`)
    return [[name, value]]
  })
  const stores = ['DOCUMENTS', 'MEDIA', 'BACKUP'].flatMap((store) => [
    [`${store}_S3_ENDPOINT`, 'http://127.0.0.1:1'],
    [`${store}_S3_BUCKET`, 'bucket'],
    [`${store}_S3_KEY_ID`, 'PLANTED-key-id'],
  ])
  return Object.fromEntries([...secrets, ...stores, ['MAIL_FROM', 'souk@souk.example']])
}

/** Creates a shop with personal data, a stuck order, and errors that contain the personal data. */
async function createIncident(app: TestApp) {
  const shop = await sellingWithProcessor(app, {
    create: async () => paymentAnswer('CAPTURED', { authorized: 1_000, captured: 1_000 }),
    async refund() {
      throw new ProcessorUnavailable('away')
    },
  })
  await customerOf(app, shop.shop.name, 'PLANTED@example.com')
  const person = { email: 'PLANTED.guest@example.com', shippingAddress: { ...address, name: 'PLANTED Haddad', phone: '+12075550137' } }
  const { order } = ok(await shop.checkout(await shop.cart(person), { processor: 'scripted' })).body
  ok(await shop.refund(order.id, { all: true, reason: 'PLANTED reason' }), 200, 201, 202)
  const { jobRunner, log } = app.deps
  log.error('request.failed', { error: new Error('PLANTED@example.com is taken'), route: '/customer/signup' })
  await recordStart(app.deps)
  await recordHeartbeat(app.deps)
  await jobRunner.start([{ name: 'forget', perform: async () => ({ result: 'FAILED', error: new Error('row of PLANTED@example.com') }) }])
  await jobRunner.runScheduled('forget')
  await jobRunner.stop()
  return { orderId: order.id as string, number: order.number as number, shopName: shop.shop.name }
}

describe('operator commands', () => {
  test('a support bundle has no secrets or personal data, stuck orders are found and shown, and nothing is written', async () => {
    const database = await testDatabase()
    const app = await testApp({}, { database, startAt: Date.now() - 30 * 60_000 })
    const { orderId, number, shopName } = await createIncident(app)
    await app.close()
    const url = engine === 'sqlite' ? database.url : database.url.replace('//souk@', '//souk:PLANTED-password@')
    const settings = { ...testSecrets, DATABASE_URL: url, ...plantedSettings(), LOG_LEVEL: 'debug' }
    const file = join(temporaryDir(), 'bundle.json')
    const before = contentOf(database)

    const bundled = await souk(['support-bundle', file], database.dataDir, { settings })
    expect(bundled).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(/^\/.*bundle\.json created/) })
    const text = readFileSync(file, 'utf8')
    expect(text).not.toMatch(planted)
    expect(text).not.toMatch(/Haddad|Quay|2075550137|@example|reason/)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const bundle = JSON.parse(text)
    expect(Object.entries(bundle).flatMap(([name, section]) => (JSON.stringify(section).startsWith('{"failed"') ? [name] : []))).toEqual([
      // The port is random in this test, so the bundle has no figures of the server.
      ...['server', 'metrics'],
    ])
    expect(bundle.settings).toMatchObject({
      STRIPE_SECRET_KEY: 'set, not shown',
      CHAINS: 'set, not shown',
      LOG_LEVEL: 'debug',
      DNS_SERVER: null,
    })
    for (const [name, setting] of Object.entries(known))
      if ('secret' in setting) expect([name, bundle.settings[name]]).toEqual([name, 'set, not shown'])
    expect(bundle.errors).toEqual([
      {
        title: expect.stringContaining('request.failed /customer/signup Error'),
        count: 1,
        hour: expect.any(String),
        lastSeen: expect.any(String),
      },
    ])
    expect(bundle.jobs.find(({ name }: { name: string }) => name === 'forget').lastRun).toMatchObject({ result: 'FAILED', error: 'Error' })
    expect(bundle.stuckOrders).toMatchObject({ total: 1, orders: [{ id: orderId }] })
    expect(bundle.rows).toMatchObject({ orders: 1, customers: 1 })
    expect(bundle.queues).toMatchObject({ refundsToTakeUp: 1, ordersUnpaid: 0 })
    expect(bundle.migrations).toMatchObject({ pending: [], unknown: [] })
    expect(bundle.check.find(({ subject }: { subject: string }) => subject === 'money of orders')).toMatchObject({ result: 'ok' })

    const input = {
      config: () => parseConfig(settings),
      env: settings,
      positionals: [file],
      switches: new Set<string>(),
      values: new Map(),
    }
    await expect(supportBundle(input)).rejects.toThrow(`${file} already exists. Choose another name`)
    expect(readFileSync(file, 'utf8')).toBe(text)

    const orderShown = await souk(['order', 'show', `#${number}`, '--shop', shopName], database.dataDir, { settings })
    expect(orderShown).toMatchObject({ status: 0, stderr: '' })
    expect(orderShown.stdout).toStartWith(`${orderId}  #${number} of ${shopName} (shop_`)
    for (const part of [
      'total       10.00 USD',
      '\nNEXT\n  because  overdue since',
      '\nPAYMENTS\n  pay_',
      '\nREFUNDS\n  ref_',
      'REFUND_REQUESTED  by ',
    ])
      expect(orderShown.stdout).toContain(part)
    expect(orderShown.stdout).not.toMatch(/PLANTED|Haddad|example/)
    const stuck = await souk(['orders', 'stuck', '--json'], database.dataDir, { settings })
    expect([stuck.status, stuck.stderr, JSON.parse(stuck.stdout)]).toEqual([
      1,
      '',
      { total: 1, orders: [expect.objectContaining({ id: orderId })] },
    ])
    expect(contentOf(database)).toEqual(before)
    await database.drop()
  })
})

/** Returns a hash of a SQLite database file, or undefined on PostgreSQL. */
function contentOf({ url }: TestDatabase): string | undefined {
  const file = url.replace(/^file:/, '')
  return existsSync(file) ? Bun.SHA256.hash(readFileSync(file), 'hex') : undefined
}

test('a support bundle redacts secrets, e-mail addresses and wallets at every depth', () => {
  const secretsByDepth = {
    check: [{ problems: [`0x${'Ab1'.repeat(13)}c is no registered address`] }],
    failed: 'user "ada@example.com" said s3cr3t-s3cr3t',
    n: 1,
  }
  expect(redact(secretsByDepth, ['s3cr3t-s3cr3t'])).toEqual({
    check: [{ problems: ['[wallet] is no registered address'] }],
    failed: 'user "[e-mail]" said ***',
    n: 1,
  })
})

test('a support bundle shows database hosts, and redacts the password and query values of the URL', () => {
  const env = { DATABASE_URL: 'postgresql://souk:PLANTED%2Fword@10.0.0.1:5432,[::1]:5433/shop?sslkey=PLANTED-key', ...testSecrets }
  const config = parseConfig(env)
  expect(settingsOf(config)['DATABASE_URL']).toBe('postgresql://10.0.0.1:5432,[::1]:5433/shop')
  for (const settings of [config, undefined])
    expect(redact(`${env.DATABASE_URL} PLANTED/word`, secretsOf(settings, env))).toBe(
      'postgresql://souk:***@10.0.0.1:5432,[::1]:5433/shop?sslkey=*** ***',
    )
})

test('a support bundle waits once for silent database servers, and removes leftovers of a killed run', async () => {
  const dataDir = temporaryDir()
  const file = join(dataDir, 'bundle.json')
  // The first file belongs to an ended process, the second to a running one.
  const ended = Bun.spawn(['true'])
  await ended.exited
  writeFileSync(`${file}.${ended.pid}.tmp`, '{')
  writeFileSync(`${file}.${process.pid}.tmp`, '{')
  // The server accepts connections and never responds.
  let connections = 0
  using silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { open: () => void connections++, data: () => undefined } })
  const at = `127.0.0.1:${silent.port}`
  const settings = { ...testSecrets, DATABASE_URL: `postgres://souk@${at},${at}/shop` }
  expect((await souk(['support-bundle', file], dataDir, { settings })).status).toBe(0)
  // Only one section retries both servers. Ten sections would open more connections.
  expect(connections).toBeLessThan(20)
  const bundle = JSON.parse(readFileSync(file, 'utf8'))
  const failed = ['database', 'migrations', 'rows', 'queues', 'processors', 'jobs', 'processes', 'errors', 'stuckOrders', 'check']
  expect(new Set(failed.map((name) => bundle[name].failed))).toEqual(new Set([bundle.database.failed]))
  expect(bundle.database.failed).toMatch(/database server does not answer/)
  expect(bundle.files.dataDir).toBeArray()
  expect([existsSync(`${file}.${ended.pid}.tmp`), existsSync(`${file}.${process.pid}.tmp`)]).toEqual([false, true])
}, 900_000)

test('publishNew works without hard links and never overwrites a file', () => {
  const dir = temporaryDir()
  const [source, file] = [join(dir, 'made'), join(dir, 'bundle.json')]
  writeFileSync(source, 'ours', { mode: 0o600 })
  const without = () => {
    throw Object.assign(new Error('no second names'), { code: 'EPERM' })
  }
  publishNew(source, file, without)
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['ours', 0o600])
  for (const link of [without, undefined]) expect(() => publishNew(source, file, link)).toThrow('EEXIST')
  const full = () => {
    throw Object.assign(new Error('full'), { code: 'ENOSPC' })
  }
  expect(() => publishNew(source, join(dir, 'other'), full)).toThrow('full')
})

test('invalid arguments are explained before anything is opened', async () => {
  const values = new Map([['older-than', 'x']])
  const input = { config: () => parseConfig({}), env: {}, switches: new Set<string>(), values }
  await expect(order({ ...input, positionals: ['show', '12'] })).rejects.toThrow('Add --shop NAME')
  await expect(order({ ...input, positionals: ['show', 'ada@example.com'] })).rejects.toThrow("Use the order's id")
  await expect(order({ ...input, positionals: ['find', '12'] })).rejects.toThrow('Use `souk order show`')
  await expect(orders({ ...input, positionals: ['stuck'] })).rejects.toThrow('--older-than must be a whole number from 0 to 1000000')
  await expect(health({ ...input, values: new Map([['url', 'x']]), positionals: [] })).rejects.toThrow('--url must be')
})

/** A stand-in for systemd's socket. It closes the descriptor of `BARRIER=1`, which systemd-notify waits for. */
const listener = `
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('listening', flush=True)
while True:
    message, fds, _, _ = socket.recv_fds(s, 4096, 8)
    for fd in fds: os.close(fd)
    print(message.decode().strip().replace('\\n', '\\t'), flush=True)
`

/** Starts the stand-in for systemd's socket. If a program is missing, prints the reason and notifies nothing. */
async function systemdAt(socket: string) {
  const missing = ['python3', 'systemd-notify'].filter((name) => !Bun.which(name))
  if (missing.length > 0) {
    process.stderr.write(`skipped: what systemd is told (${missing.join(' and ')} not found)\n`)
    return { settings: {}, untilNotified: async () => undefined, [Symbol.asyncDispose]: async () => undefined }
  }
  const child = Bun.spawn(['python3', '-c', listener, socket], { stdout: 'pipe', stderr: 'inherit' })
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  let received = ''
  const until = async (text: string) => {
    while (!received.split('\n').slice(0, -1).includes(text)) {
      const { value, done } = await lines.read()
      if (done) throw new Error(`systemd was not told ${text}: ${received}`)
      received += value
    }
  }
  await until('listening')
  return {
    settings: { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '600000' },
    untilNotified: (...words: string[]) => until(words.join('\t')),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

describeProcesses('operator commands as processes', () => {
  test('souk health reports readiness by exit status, and the server notifies systemd', async () => {
    const dataDir = temporaryDir()
    await using systemd = await systemdAt(join(dataDir, 'notify'))
    await using server = await serve(dataDir, { ALLOWED_HOSTS: 'shop.example', ...systemd.settings })
    const { port } = new URL(server.url)
    const settings = { PORT: port, ALLOWED_HOSTS: 'shop.example' }
    const ready = await souk(['health'], dataDir, { settings })
    expect(ready).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringMatching(/^ok {4}souk \S+ at http:\/\/127\.0\.0\.1:\d+ is ready\n$/),
    })
    await systemd.untilNotified('READY=1', `STATUS=serving at ${server.url}`)
    await systemd.untilNotified('WATCHDOG=1')
    expect(await server.end('SIGTERM')).toBe(0)
    await systemd.untilNotified('STOPPING=1', 'STATUS=finishing requests in flight')
    const ended = await souk(['health', '--json', '--url', server.url], dataDir)
    expect([ended.status, ended.stderr, JSON.parse(ended.stdout).ready]).toEqual([1, '', false])

    const noOrders = await souk(['orders', 'stuck'], dataDir, { settings })
    expect(noOrders).toEqual({ status: 0, stderr: '', stdout: 'No stuck orders.\n' })
  })

  test('a support bundle is written despite invalid settings and a damaged database', async () => {
    const dataDir = temporaryDir()
    writeFileSync(join(dataDir, 'souk.db'), 'this is no database')
    symlinkSync('nowhere', join(dataDir, 'dangling'))
    const file = join(dataDir, 'bundle.json')
    expect((await souk(['support-bundle', file], dataDir)).status).toBe(0)
    const damaged = JSON.parse(readFileSync(file, 'utf8'))
    expect(damaged.files.dataDir).toContainEqual(expect.objectContaining({ name: 'dangling' }))
    expect([damaged.settings.PORT, damaged.rows.failed, damaged.check]).toEqual([0, expect.stringContaining('damaged'), expect.anything()])
    rmSync(file)
    expect((await souk(['support-bundle', file], dataDir, { settings: { PORT: 'PLANTED' } })).status).toBe(0)
    const invalidSettings = JSON.parse(readFileSync(file, 'utf8'))
    expect(invalidSettings.settings).toMatchObject({
      problems: [expect.stringContaining('PORT must be')],
      PORT: 'set, invalid',
      HOST: '127.0.0.1',
    })
    expect([invalidSettings.rows.failed, invalidSettings.check]).toEqual([expect.stringContaining('damaged'), expect.anything()])
    rmSync(file)
    const withoutDatabase = await souk(['support-bundle', file], dataDir, { settings: { DATABASE_URL: 'PLANTED' } })
    expect([withoutDatabase.status, withoutDatabase.stdout]).toEqual([0, expect.stringContaining('only the problems of the settings')])
    expect(readFileSync(file, 'utf8')).not.toContain('PLANTED')
  })
})
