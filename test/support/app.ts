/** The whole program in process, on a database, a clock and settings of its own. */
import { createHash } from 'node:crypto'
import { mailAbandonedCarts } from '../../jobs/mail-abandoned-carts.ts'
import { closeOrders, resumeInterrupted, sweep, workInbox } from '../../jobs/resume-orders.ts'
import { parseConfig } from '../../src/config.ts'
import { system } from '../../src/core/command-context.ts'
import type { Passwords } from '../../src/core/deps.ts'
import { type InstanceOptions, openInstance } from '../../src/instance.ts'
import type { Log } from '../../src/lib/log.ts'
import { startSession } from '../../src/modules/identity/auth/service.ts'
import { createMerchant, createSuperAdmin } from '../../src/modules/identity/merchant/service.ts'
import { keySeal } from '../../src/modules/shop/shop/domain.ts'
import { type TestDatabase, testDatabase } from './database.ts'
import { sharedRoutes } from './shared-routes.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
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

/** Costs nothing, unlike argon2id, which has tests of its own. */
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
  /** One that is there already, and is left there. */
  database?: TestDatabase
  /** Where the clock begins. */
  startAt?: number
}

export async function testApp(settings: Record<string, string> = {}, { database: given, startAt, ...options }: TestAppOptions = {}) {
  const database = given ?? (await testDatabase())
  const drop = async () => (given ? undefined : database.drop())
  let now = startAt ?? startTime
  let elapsed = 0
  const clock = {
    now: () => now,
    monotonic: () => elapsed,
    advance(ms: number) {
      now += ms
      elapsed += Math.max(0, ms)
    },
    /** As if somebody set it. */
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
  let giveBack = () => {}
  const instance = await openInstance({
    config: parseConfig({ ...secrets, DATA_DIR: database.dataDir, DATABASE_URL: database.url, ...settings }),
    as: 'server',
    clock,
    log,
    sleep: async (ms) => void slept.push(ms),
    ...(realPasswords ? {} : { passwords: cheapPasswords }),
    routes(appDeps) {
      const shared = sharedRoutes(appDeps)
      giveBack = shared.release
      return shared
    },
    ...rest,
  })
  const { deps } = instance
  async function end(): Promise<void> {
    await instance.close()
    giveBack()
    giveBack = () => {}
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
    // A stream does not end by itself.
    if (isStream) await response.body?.cancel()
    const text = isStream ? '' : await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') && text !== ''
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : text }
  }

  let merchants = 0
  /** A merchant who is logged in, with a shop and its keys. */
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

  /** A super admin who is logged in: the same one, however often. */
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
    /** Filled, whether anything was asked of the app before or not. */
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
    /** The jobs, run by hand. `messages` ends when what processors' messages have begun is done. */
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
    /** Closes what the system would of a process that was killed: nothing that is under way is waited for. */
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
