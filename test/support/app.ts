/** Runs the program in this process, with its own database, clock and settings. */
import { createHash } from 'node:crypto'
import { closeOrders, resumeInterrupted, sweep, workInbox } from '../../jobs/resume-orders.ts'
import { parseConfig } from '../../src/config.ts'
import { system } from '../../src/core/command-context.ts'
import type { Passwords } from '../../src/core/deps.ts'
import { type InstanceOptions, openInstance } from '../../src/instance.ts'
import type { Log } from '../../src/lib/log.ts'
import { startSession } from '../../src/modules/identity/auth/service.ts'
import { createMerchant, createSuperAdmin } from '../../src/modules/identity/merchant/service.ts'
import { mailAbandonedCarts } from '../../src/modules/selling/abandoned-cart/index.ts'
import { keySeal } from '../../src/modules/shop/shop/domain.ts'
import { type TestDatabase, testDatabase } from './database.ts'
import { sharedRoutes } from './shared-routes.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
export type Json = any
export type Answer = { status: number; headers: Headers; body: Json; text: string }
export type CallOptions = {
  token?: string
  key?: string
  body?: unknown
  raw?: string | Uint8Array
  headers?: Record<string, string>
  from?: string
}
export type LogLine = { level: string; event: string; fields: Record<string, unknown> }

/** A Tuesday. Tests move it with `clock.advance`. */
export const startTime = Date.UTC(2026, 0, 6, 12)

/** A fast hash instead of argon2id, which has its own tests. */
const cheapPasswords: Passwords = {
  hash: async (password) => createHash('sha256').update(password).digest('hex'),
  verify: async (password, hash) => createHash('sha256').update(password).digest('hex') === hash,
}

const secrets = {
  JWT_SECRET: 'test-only-jwt-secret-0123456789abcdef',
  ENCRYPTION_KEY: 'test-only-encryption-key-0123456789ab',
  INTEGRATION_API_KEY: 'test-only-integration-key',
}

export type TestApp = Awaited<ReturnType<typeof testApp>>

export type TestAppOptions = Partial<InstanceOptions> & {
  realPasswords?: boolean
  /** An existing database, which stays when the app closes. */
  database?: TestDatabase
  /** The clock's first value, in milliseconds. */
  startAt?: number
}

export async function testApp(
  settings: Record<string, string> = {},
  { database: existingDatabase, startAt, ...options }: TestAppOptions = {},
) {
  const database = existingDatabase ?? (await testDatabase())
  const drop = async () => (existingDatabase ? undefined : database.drop())
  let now = startAt ?? startTime
  let elapsed = 0
  const clock = {
    now: () => now,
    monotonic: () => elapsed,
    advance(ms: number) {
      now += ms
      elapsed += Math.max(0, ms)
    },
    /** Sets the wall clock without advancing the monotonic clock. */
    set(to: number) {
      now = to
    },
  }
  const logged: LogLine[] = []
  const at =
    (level: string) =>
    (event: string, fields: Record<string, unknown> = {}) =>
      void logged.push({ level, event, fields })
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  const slept: number[] = []
  const { realPasswords, ...rest } = options
  let releaseRoutes = () => {}
  const instance = await openInstance({
    config: parseConfig({ ...secrets, DATA_DIR: database.dataDir, DATABASE_URL: database.url, ...settings }),
    as: 'server',
    clock,
    log,
    sleep: async (ms) => void slept.push(ms),
    ...(realPasswords ? {} : { passwords: cheapPasswords }),
    routes(appDeps) {
      const shared = sharedRoutes(appDeps)
      releaseRoutes = shared.release
      return shared
    },
    ...rest,
  })
  const { deps } = instance
  async function end(): Promise<void> {
    await instance.close()
    releaseRoutes()
    releaseRoutes = () => {}
  }

  async function call(
    method: string,
    path: string,
    { token, key, body, raw, headers = {}, from = '127.0.0.1' }: CallOptions = {},
  ): Promise<Answer> {
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(key === undefined ? {} : { 'x-service-api-key': key }),
        ...headers,
      },
      ...(body === undefined ? (raw === undefined ? {} : { body: raw as string }) : { body: JSON.stringify(body) }),
    })
    const response = await instance.edge.fetch(request, { requestIP: () => ({ address: from }) })
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    // An event stream does not end on its own.
    if (isStream) await response.body?.cancel()
    const text = isStream ? '' : await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') && text !== ''
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : text }
  }

  let merchants = 0
  /** Creates a logged-in merchant with a shop and its keys. */
  async function merchant({ shopName, currency = 'USD', country = 'US' }: { shopName?: string; currency?: string; country?: string } = {}) {
    const nth = ++merchants
    const email = `merchant${nth}@example.com`
    const password = `password-of-${nth}`
    const { user, shop } = await createMerchant(deps, { email, password }, { name: shopName ?? `shop-${nth}`, currency, country }, system)
    const { data } = await startSession(deps, { id: user.id, role: 'MERCHANT' }, system)
    const [publishable, secret] = await Promise.all([
      deps.shopStore.currentKey(shop.id, 'PUBLISHABLE', 'TEST'),
      deps.shopStore.currentKey(shop.id, 'SECRET', 'TEST'),
    ])
    return {
      id: user.id,
      email,
      password,
      shop,
      token: data.accessToken,
      refreshToken: data.refreshToken,
      publishableKey: publishable?.publicValue ?? '',
      secretKey: secret?.sealed ? deps.keyring.unseal(secret.sealed, keySeal(shop.id, secret.id)) : '',
    }
  }

  /** Returns a logged-in super admin, the same at each call. */
  const superAdmin = () => {
    admin ??= newSuperAdmin()
    return admin
  }
  let admin: ReturnType<typeof newSuperAdmin> | undefined
  async function newSuperAdmin() {
    const email = 'root@example.com'
    const password = 'password-of-root'
    const user = await createSuperAdmin(deps, { email, password })
    const { data } = await startSession(deps, { id: user.id, role: 'SUPER_ADMIN' }, system)
    return { id: user.id, email, password, token: data.accessToken }
  }

  return {
    deps,
    get edge() {
      return instance.edge
    },
    /** The route table, also before the first request. */
    get routeTable() {
      void instance.edge
      return deps.routeTable
    },
    clock,
    logged,
    slept,
    database,
    call,
    merchant,
    superAdmin,
    /** Runs jobs. `messages` also waits for the background work that messages of processors start. */
    jobs: {
      resume: () => resumeInterrupted(deps),
      closeOrders: () => closeOrders(deps),
      sweep: () => sweep(deps),
      mailAbandonedCarts: () => mailAbandonedCarts(deps),
      async messages() {
        await deps.backgroundTasks.whenIdle()
        await workInbox(deps)
      },
    },
    /** Closes files and connections without waiting for running work, as a kill would. */
    abandon: end,
    async close() {
      await deps.backgroundTasks.whenIdle()
      await end()
      await drop()
    },
    async [Symbol.asyncDispose]() {
      await deps.backgroundTasks.whenIdle()
      await end()
      await drop()
    },
  }
}
