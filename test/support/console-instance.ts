/** An instance with the console, for tests, pictures and benchmarks. */
import type { Clock } from '../../src/core/clock.ts'
import { demoOperator, demoShop } from '../../src/demo/data.ts'
import { fillDemo } from '../../src/demo/fill.ts'
import { pastProcessors } from '../../src/demo/processors.ts'
import { type TestApp, type TestAppOptions, testApp } from './app.ts'
import { ok } from './selling.ts'
import { serveTestApp } from './server.ts'

/** The real time plus an offset. */
export function runningClock(): Clock & { advance(ms: number): void } {
  let ahead = 0
  return {
    now: () => Date.now() + ahead,
    monotonic: () => performance.now() + ahead,
    advance(ms) {
      ahead += ms
    },
  }
}

/**
 * Opens an instance with the console and an operator (`app.superAdmin()`), in real time.
 * @param settings environment; lending is on
 * @param isNew without the operator
 */
export async function openConsole(settings: Record<string, string> = {}, options: TestAppOptions = {}, isNew = false) {
  const clock = runningClock()
  const app = await testApp({ LENDING_PLATFORM_ENABLED: 'true', ...settings }, { clock, sleep: Bun.sleep, ...options })
  if (!isNew) await app.superAdmin()
  // On a busy machine bundling exceeds a request's timeout.
  await app.deps.consoleFiles.open()
  const serving = serveTestApp(app)
  app.deps.life.url = serving.url
  return {
    app,
    clock,
    /** The origin: `http://127.0.0.1:…`. */
    url: serving.url,
    async [Symbol.asyncDispose]() {
      // Event streams would delay a graceful stop.
      await serving.server.stop(true)
      await serving.stop()
      await app.close()
    },
  }
}

/** Opens the console with the demo's shops; creating them takes some seconds. */
export async function openDemoConsole() {
  const console = await openConsole({ AGENTS_ENABLED: 'true' }, { processors: pastProcessors }, true)
  const { app } = console
  await fillDemo(app.deps)
  await withEndpoint(app)
  return { ...console, merchant: demoShop.merchant, operator: demoOperator, shopName: demoShop.name }
}

/** The demo has no webhook endpoint. */
async function withEndpoint(app: TestApp): Promise<void> {
  const { email, password } = demoShop.merchant
  const { accessToken: token } = ok(await app.call('POST', '/merchant/login', { body: { email, password } })).body.data
  ok(await app.call('POST', '/webhook-endpoints', { token, body: { url: 'https://hooks.example/souk', events: ['order.confirmed'] } }))
}
