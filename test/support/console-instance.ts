/** An instance of souk with the console, for whoever opens a browser there: tests, pictures, measurements. */
import type { Clock } from '../../src/core/clock.ts'
import { demoOperator, demoShop } from '../../src/demo/data.ts'
import { fillDemo } from '../../src/demo/fill.ts'
import { pastProcessors } from '../../src/demo/processors.ts'
import { type TestApp, type TestAppOptions, testApp } from './app.ts'
import { ok } from './selling.ts'
import { serveTestApp } from './server.ts'

/** The real time, as a browser has it, and what a test adds to it. */
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
 * An instance with the console on a port of its own, by the real time, which has an operator (`app.superAdmin()`).
 * @param settings as in the environment; lending is on
 * @param isNew without the operator: the page then asks for the token of the first run
 */
export async function openConsole(settings: Record<string, string> = {}, options: TestAppOptions = {}, isNew = false) {
  const clock = runningClock()
  const app = await testApp({ LENDING_PLATFORM_ENABLED: 'true', ...settings }, { clock, sleep: Bun.sleep, ...options })
  if (!isNew) await app.superAdmin()
  // Bundled on a busy machine it takes longer than a request may.
  await app.deps.consoleFiles.open()
  const serving = serveTestApp(app)
  app.deps.life.url = serving.url
  return {
    app,
    clock,
    /** The origin: `http://127.0.0.1:…`. */
    url: serving.url,
    async [Symbol.asyncDispose]() {
      // Pages that follow events would be waited for.
      await serving.server.stop(true)
      await serving.stop()
      await app.close()
    },
  }
}

/** The same with the shops of the demo, which have a year behind them; filling them takes some seconds. */
export async function openDemoConsole() {
  const console = await openConsole({}, { processors: pastProcessors }, true)
  const { app } = console
  await fillDemo(app.deps)
  await withEndpoint(app)
  return { ...console, merchant: demoShop.merchant, operator: demoOperator, shopName: demoShop.name }
}

/** What the demo has not, because it would tell somebody of its orders. */
async function withEndpoint(app: TestApp): Promise<void> {
  const { email, password } = demoShop.merchant
  const { accessToken: token } = ok(await app.call('POST', '/merchant/login', { body: { email, password } })).body.data
  ok(await app.call('POST', '/webhook-endpoints', { token, body: { url: 'https://hooks.example/souk', events: ['order.confirmed'] } }))
}
