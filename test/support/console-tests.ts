/**
 * The console in a real browser. A file of tests has one instance of souk, which is opened at its first test, and each test its own visitors:
 *
 *   const { test } = consoleTests({ fill: async ({ app, shop }) => ({ mug: await shop.add({ title: 'Mug', … }) }) })
 *   test('an order is refunded by the line', async ({ open, shop, data }) => {
 *     const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders`, width: 'phone' })
 *     await visitor.heading('Orders')
 *     await visitor.keyPress('#1')
 *     expect(await visitor.axe()).toEqual([])
 *   })
 *
 * At the end of each test nothing may have gone wrong in the browser (`complaints`); what a test provokes it says before, by `expects`.
 */
import { afterAll, test as bunTest } from 'bun:test'
import { join } from 'node:path'
import type { Clock } from '../../src/core/clock.ts'
import { type TestApp, type TestAppOptions, testApp } from './app.ts'
import { shopIn } from './catalog.ts'
import { chromium } from './chromium.ts'
import { type ConsoleVisitor, consoleVisitor, type Login, type VisitorOptions } from './console-visitor.ts'
import { serveTestApp } from './server.ts'
import { closeBrowser } from './visit.ts'

export const hasBrowser = chromium !== undefined
if (!hasBrowser) process.stderr.write('skipped: the console in a real browser, because there is no chromium on this machine\n')

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

export type OpenConsole = Awaited<ReturnType<typeof openConsole>>
export type OpenOptions = VisitorOptions & {
  /** Who logs in first, by the keyboard: a shop of `shopIn`, somebody of `staffOf`, `await app.superAdmin()`. */
  readonly as?: Login
  /** Where, below /console: the login is asked for there. */
  readonly at?: string
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
  const serving = serveTestApp(app)
  app.deps.life.url = serving.url
  let shop: ReturnType<typeof shopIn> | undefined
  return {
    app,
    clock,
    /** The origin: `http://127.0.0.1:…`. */
    url: serving.url,
    /** The shop of the tests that want one: `merchant1@example.com`, with the helpers of test/support/catalog.ts. */
    theShop: () => {
      shop ??= shopIn(app)
      return shop
    },
    async [Symbol.asyncDispose]() {
      await serving.server.stop(true)
      await app.close()
    },
  }
}

type Filled<Data> = {
  readonly app: TestApp
  readonly clock: ReturnType<typeof runningClock>
  readonly url: string
  readonly shop: Awaited<ReturnType<typeof shopIn>>
  readonly data: Data
}
export type InConsole<Data> = Filled<Data> & {
  /** Opens a visitor's browser, at `at`, and logs in whoever it is. Closed and looked at when the test is over. */
  open(options?: OpenOptions): Promise<ConsoleVisitor>
}
type Given<Data> = {
  readonly settings?: Record<string, string>
  readonly options?: TestAppOptions
  /** Nobody runs it yet. */
  readonly isNew?: boolean
  /** Makes what the file's tests find there. */
  readonly fill?: (filled: Omit<Filled<unknown>, 'data'>) => Promise<Data>
}

/** Tests of the console in a browser; skipped on a machine without one. */
export function consoleTests<Data = undefined>({ settings, options, isNew, fill }: Given<Data> = {}) {
  let opened: Promise<{ console: OpenConsole; filled: Filled<Data> }> | undefined
  async function openOnce() {
    const console = await openConsole(settings, options, isNew)
    const { app, clock, url } = console
    const filled = { app, clock, url, shop: await console.theShop() }
    return { console, filled: { ...filled, data: (await fill?.(filled)) as Data } }
  }
  afterAll(async () => {
    await closeBrowser()
    await (await opened?.catch(() => undefined))?.console[Symbol.asyncDispose]()
  })

  async function run(name: string, body: (given: InConsole<Data>) => Promise<void>): Promise<void> {
    opened ??= openOnce()
    const { filled } = await opened
    const visitors: ConsoleVisitor[] = []
    const open = async ({ as, at, ...rest }: OpenOptions = {}) => {
      const visitor = await consoleVisitor(filled.url, rest)
      visitors.push(visitor)
      await visitor.go(at)
      await visitor.until(
        rest.scripts === false
          ? `location.origin === '${filled.url}' && document.readyState === 'complete'`
          : `location.origin === '${filled.url}' && document.querySelector('#root > *') !== null && !document.querySelector('.splash')`,
        'the page',
      )
      if (as) await visitor.signIn(as)
      return visitor
    }
    try {
      await body({ ...filled, open })
    } catch (error) {
      const said = await Promise.all(visitors.map((visitor, nth) => lastWords(name, nth, visitor)))
      throw new Error([error instanceof Error ? error.message : String(error), ...said].join('\n'), { cause: error })
    } finally {
      await Promise.all(visitors.toReversed().map((visitor) => visitor[Symbol.asyncDispose]()))
    }
    const complaints = visitors.flatMap((visitor) => visitor.complaints())
    if (complaints.length > 0) throw new Error(`the browser complains:\n${complaints.join('\n')}`)
  }
  const test = (name: string, body: (given: InConsole<Data>) => Promise<void>) => bunTest.skipIf(!hasBrowser)(name, () => run(name, body))
  return { test }
}

/** Where a visitor of a failed test stood, and what the browser had said; a picture too where CONSOLE_FAILURES names a folder. */
async function lastWords(name: string, nth: number, visitor: ConsoleVisitor): Promise<string> {
  const folder = Bun.env['CONSOLE_FAILURES']
  const file = folder && join(folder, `${name.replace(/\W+/g, '-').slice(0, 80)}-${nth}.png`)
  if (file) await visitor.picture().then((picture) => Bun.write(file, picture))
  const place = await visitor.path().catch(() => 'nowhere')
  return [`visitor ${nth} at ${place}${file ? ` (${file})` : ''}`, ...visitor.complaints().map((one) => `  ${one}`)].join('\n')
}
