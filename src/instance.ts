import { randomBytes } from 'node:crypto'
import { statfsSync } from 'node:fs'
import { directoriesOf, openDatabase } from '../db/open.ts'
import type { SqliteOptions } from '../db/sqlite/engine.ts'
import { type AppDeps, createApp } from './app.ts'
import { createPasswords } from './clients/passwords.ts'
import type { Processor } from './clients/processors/processor.ts'
import { createSandboxProcessor } from './clients/processors/sandbox.ts'
import { createSandboxServer, type SandboxServer } from './clients/processors/sandbox-server.ts'
import { createSafeFetch } from './clients/safe-fetch.ts'
import { createTokens } from './clients/tokens.ts'
import type { Config } from './config.ts'
import type { Clock, Deps, Passwords } from './core/deps.ts'
import { AppError } from './core/errors.ts'
import type { SafeFetch } from './core/outgoing.ts'
import type { Identity, KeyPrincipal } from './core/principal.ts'
import { createAnswerCache } from './http/caching.ts'
import { createClientAddress, limitKeyOf } from './http/client-ip.ts'
import { createEdge, type Edge, type Peer } from './http/edge.ts'
import { createHotReads } from './http/hot.ts'
import { createRequestCounts } from './http/metrics.ts'
import { createKeyring } from './keys.ts'
import { createNewId } from './lib/ids.ts'
import { createLog, type Log } from './lib/log.ts'
import { createTurns } from './lib/turns.ts'
import { createAffiliateStore } from './modules/affiliate/store.ts'
import { type AuthDeps, subjectOfToken } from './modules/auth/service.ts'
import { createAuthStore } from './modules/auth/store.ts'
import { createBlogStore } from './modules/blog/store.ts'
import { createCartStore } from './modules/cart/store.ts'
import { createCollectionStore } from './modules/catalog/collections-store.ts'
import { createDocuments } from './modules/catalog/documents.ts'
import { createListings } from './modules/catalog/reads.ts'
import { createFolds } from './modules/catalog/service.ts'
import { createCatalogStore } from './modules/catalog/store.ts'
import { createCustomerStore } from './modules/customer/store.ts'
import { createGiftCardStore } from './modules/gift-card/store.ts'
import { createIdempotency } from './modules/idempotency/service.ts'
import { createInstanceKeys, type InstanceKeys } from './modules/instance-key/service.ts'
import { confirmMasterKeys, hasSealedSecrets } from './modules/master-key/service.ts'
import { createUserStore } from './modules/merchant/store.ts'
import { createOrderCache, createOrderDocuments } from './modules/order/documents.ts'
import { createOrderStore } from './modules/order/store.ts'
import { sandboxTokens, signatureHeader } from './modules/sandbox/domain.ts'
import { sandboxReply, sandboxSignature } from './modules/sandbox/service.ts'
import { createSandboxStore, type SandboxStore } from './modules/sandbox/store.ts'
import { contextOf, keyAndShop, keyAndShopNow, type ShopDeps, touchKey } from './modules/shop/service.ts'
import { createShopStore, type KnownKey } from './modules/shop/store.ts'
import { createWebhooks } from './modules/webhook/dispatch.ts'
import { version } from './version.ts'

export type InstanceOptions = {
  config: Config
  /** A `server` holds the data directory; a `command` works beside a running server. */
  as: 'server' | 'command'
  clock?: Clock
  log?: Log
  sleep?: (ms: number) => Promise<void>
  passwords?: Passwords
  safeFetch?: SafeFetch
  diskFree?: () => number | undefined
  sqlite?: SqliteOptions
  /** Besides those that the instance has by itself. */
  processors?: readonly Processor[]
}

export type Instance = { deps: AppDeps; edge: Edge; migrated: string[]; backup: string | undefined; close(): Promise<void> }

const loginsWaitingMax = 100
const systemClock: Clock = { now: () => Date.now() }
const randomFraction = () => randomBytes(4).readUInt32BE() / 2 ** 32

/** Puts an instance together out of its settings: database, keys, stores, services, app. The one place that knows all parts. */
export async function openInstance({
  config,
  as,
  clock = systemClock,
  sleep = Bun.sleep,
  sqlite,
  ...given
}: InstanceOptions): Promise<Instance> {
  const log = given.log ?? createLog(config.logLevel, clock.now, writeToStderr)
  const { db, migrated, backup } = await openDatabase({
    url: config.databaseUrl,
    dataDir: config.dataDir,
    as,
    now: clock.now(),
    random: randomFraction,
    ...(sqlite ? { sqlite } : {}),
  })
  try {
    const keyring = createKeyring(config, !(await hasSealedSecrets(db)))
    await confirmMasterKeys({ db, clock }, keyring)
    const deps: Deps = {
      config,
      db,
      clock,
      randomBytes,
      newId: createNewId(() => Bun.randomUUIDv7('buffer', clock.now())),
      log,
      keyring,
      passwords: given.passwords ?? createPasswords(() => new AppError('UNAVAILABLE', 'Too many logins at once: try again', undefined, 1)),
      safeFetch: given.safeFetch ?? createSafeFetch({ allowedNetworks: config.outgoingAllowedNetworks }),
      sleep,
      diskFree: given.diskFree ?? (() => freeBytes(config)),
      build: { version, startedAt: clock.now() },
    }
    const peers = new WeakMap<Request, Peer>()
    const appDeps = composeApp(deps, peers, given.processors)
    const app = createApp(appDeps)
    const edge = createEdge({
      handle: (request) => app.fetch(request),
      hot: createHotReads({
        records: appDeps.documents,
        orders: { keyNow: appDeps.identity.keyNow, textNow: appDeps.orderDocuments.textNow },
        answers: appDeps.answers,
        now: clock.now,
      }),
      log,
      requestCounts: appDeps.requestCounts,
      allowedHosts: config.allowedHosts,
      monotonicMs: () => performance.now(),
      newRequestId: createRequestIds(),
      peers,
    })
    return {
      deps: appDeps,
      edge,
      migrated,
      backup,
      close: async () => {
        await appDeps.sandbox.close()
        await db.close()
      },
    }
  } catch (error) {
    await db.close()
    throw error
  }
}

function composeApp(deps: Deps, peers: WeakMap<Request, Peer>, processors: readonly Processor[] = []): AppDeps {
  const { db, clock, config, keyring } = deps
  const address = createClientAddress(config.trustedProxies)
  const peerOf = (request: Request) => peers.get(request)?.requestIP(request)?.address
  const stores = {
    authStore: createAuthStore(db),
    loginTurns: createTurns(loginsWaitingMax),
    shopStore: createShopStore(db),
    userStore: createUserStore(db),
    customerStore: createCustomerStore(db),
  }
  const tokens = createTokens(keyring.jwt, clock.now, config.accessTokenSeconds, () => crypto.randomUUID())
  const catalogStore = createCatalogStore(db)
  const orderCache = createOrderCache(db)
  const orderStore = createOrderStore(db, orderCache)
  const instanceKeys = createInstanceKeys(deps)
  const sandboxStore = createSandboxStore(db)
  const sandbox = createSandbox({ ...deps, instanceKeys, sandboxStore })
  return {
    ...deps,
    ...stores,
    tokens,
    catalogStore,
    collectionStore: createCollectionStore(db),
    blogStore: createBlogStore(db),
    affiliateStore: createAffiliateStore(db),
    giftCardStore: createGiftCardStore(db),
    cartStore: createCartStore(db),
    documents: createDocuments({ db, catalogStore }),
    folds: createFolds({ ...deps, catalogStore }),
    listings: createListings({ db, catalogStore }),
    identity: createIdentity({ ...deps, ...stores, tokens }),
    idempotency: createIdempotency(deps),
    webhooks: createWebhooks(deps),
    instanceKeys,
    orderStore,
    orderDocuments: createOrderDocuments(orderCache, orderStore),
    sandbox: sandbox.server,
    sandboxStore,
    processors: new Map([sandbox.processor, ...processors].map((processor) => [processor.name, processor])),
    answers: createAnswerCache({ version: () => db.version(), now: clock.now }),
    limitKey: (request) => limitKeyOf(address.of(request, peerOf(request))),
    guardedAddress: (request) => address.strictly(request, peerOf(request)),
    requestCounts: createRequestCounts(),
  }
}

/** The processor of test shops: its server, and what speaks with it. */
function createSandbox(deps: Deps & { instanceKeys: InstanceKeys; sandboxStore: SandboxStore }): {
  server: SandboxServer
  processor: Processor
} {
  const sign = (body: string | Uint8Array) => sandboxSignature(deps, body)
  const server = createSandboxServer({
    reply: (route, id, body) => sandboxReply(deps, route, id, body),
    sign,
    signatureHeader,
    secret: Buffer.from(deps.randomBytes(24)).toString('base64url'),
    onError: (what, error) => deps.log.warn('sandbox.failed', { what, error }),
  })
  return { server, processor: createSandboxProcessor({ open: server.open, signatureOf: sign, tokens: sandboxTokens, signatureHeader }) }
}

function createIdentity(deps: AuthDeps & ShopDeps): Identity {
  function used(key: KnownKey): KeyPrincipal {
    touchKey(deps, key)
    return { kind: 'key', id: key.id, scopes: key.scopes, shop: key.shop }
  }

  return {
    async ofToken(token) {
      const subject = await subjectOfToken(deps, token)
      if (!subject) return undefined
      const { id, sessionId, role, shopId } = subject
      if (role === 'CUSTOMER') return shopId === undefined ? undefined : { kind: 'customer', id, sessionId, shopId }
      return { kind: role === 'MERCHANT' ? 'merchant' : 'superAdmin', id, sessionId }
    },
    async ofKey(presented) {
      const key = await keyAndShop(deps, presented)
      return key && used(key)
    },
    keyNow(presented) {
      const key = keyAndShopNow(deps, presented)
      return key && used(key)
    },
    async shopNamed(name) {
      const shop = await deps.shopStore.findByName(name)
      return shop && contextOf(shop)
    },
    async shop(id) {
      const shop = await deps.shopStore.find(id)
      return shop && contextOf(shop)
    },
    async shopOf(merchantId, shopId) {
      const shop = shopId === undefined ? await deps.shopStore.firstOf(merchantId) : await deps.shopStore.find(shopId)
      return shop?.merchantId === merchantId ? contextOf(shop) : undefined
    },
  }
}

/** On the fullest of the disks that the instance lives on: DATABASE_URL may put the file on another than DATA_DIR. */
function freeBytes({ databaseUrl, dataDir }: Config): number | undefined {
  if (!databaseUrl.startsWith('file:')) return undefined
  const free = directoriesOf(databaseUrl, dataDir).map((directory) => {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  })
  return Math.min(...free)
}

let pendingLines: string[] = []

/** Request ids: unique in the instance, told apart by eye within a process. A UUID each would cost more than the rest of a read. */
function createRequestIds(): () => string {
  const process = randomBytes(9).toString('base64url')
  let count = 0
  return () => `${process}-${(++count).toString(36)}`
}

/** Lines of one turn of the loop go out in one call. */
function writeToStderr(line: string): void {
  if (pendingLines.length === 0) setImmediate(flushLog)
  pendingLines.push(line)
}

/** Writes what is still held back; called before the process ends. */
export function flushLog(): void {
  if (pendingLines.length === 0) return
  const lines = pendingLines
  pendingLines = []
  process.stderr.write(`${lines.join('\n')}\n`)
}
