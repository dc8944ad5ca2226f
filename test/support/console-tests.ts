/**
 * Tests of the console in Chromium. A test file shares one instance, opened at its first test; each test opens visitors:
 *
 *   const { test } = consoleTests({ fill: async ({ app, shop }) => ({ mug: await shop.add({ title: 'Mug', … }) }) })
 *   test('an order is refunded by the line', async ({ open, shop, data }) => {
 *     const visitor = await open({ as: shop, at: `s/${shop.shop.name}/orders`, width: 'phone' })
 *     await visitor.heading('Orders')
 *     await visitor.keyPress('#1')
 *     expect(await visitor.axe()).toEqual([])
 *   })
 *
 * A test fails for each complaint of the browser (`complaints`) that it did not announce by `expects`.
 */
import { afterAll, test as bunTest } from 'bun:test'
import { join } from 'node:path'
import type { TestApp, TestAppOptions } from './app.ts'
import { shopIn } from './catalog.ts'
import { chromium } from './chromium.ts'
import { openConsole, openDemoConsole, type runningClock } from './console-instance.ts'
import { type ConsoleVisitor, consoleVisitor, type Login, type VisitorOptions } from './console-visitor.ts'
import { closeBrowser } from './visit.ts'

export const hasBrowser = chromium !== undefined
if (!hasBrowser) process.stderr.write('skipped: the console in a real browser, because there is no chromium on this machine\n')

export type OpenOptions = VisitorOptions & {
  /** Who is signed in: a shop of `shopIn`, staff of `staffOf`, or `await app.superAdmin()`. */
  readonly as?: Login
  /** Path below /console at which the visitor starts. */
  readonly at?: string
}

type Instance<Data> = {
  readonly app: TestApp
  readonly clock: ReturnType<typeof runningClock>
  readonly url: string
  readonly shop: Awaited<ReturnType<typeof shopIn>>
  readonly data: Data
}
type Opening = {
  /** Opens a visitor's browser at `at`, signed in. It is checked and closed after the test. */
  open(options?: OpenOptions): Promise<ConsoleVisitor>
}
export type InConsole<Data> = Instance<Data> & Opening
type ConsoleTestOptions<Data> = {
  readonly settings?: Record<string, string>
  readonly options?: TestAppOptions
  /** The instance has no operator. */
  readonly isNew?: boolean
  /** Creates the data of the file's tests. */
  readonly fill?: (filled: Omit<Instance<unknown>, 'data'>) => Promise<Data>
}

/** Defines tests in a browser; skipped on a machine without Chromium. */
export function consoleTests<Data = undefined>({ settings, options, isNew, fill }: ConsoleTestOptions<Data> = {}) {
  return testsAt(async () => {
    const console = await openConsole(settings, options, isNew)
    const { app, clock, url } = console
    const filled = { app, clock, url, shop: await shopIn(app) }
    return { close: console, given: { ...filled, data: (await fill?.(filled)) as Data } }
  })
}

/** Defines tests in the demo's shops, with `merchant` and `operator`. Creating them takes some seconds. */
export const demoConsoleTests = () =>
  testsAt(async () => {
    const console = await openDemoConsole()
    const { [Symbol.asyncDispose]: _, ...given } = console
    return { close: console, given }
  })

type Opened<More> = { readonly close: AsyncDisposable; readonly given: More & { readonly url: string } }

/** Defines tests of one instance, which opens with the first test. */
function testsAt<More>(openOnce: () => Promise<Opened<More>>) {
  let opened: Promise<Opened<More>> | undefined
  afterAll(async () => {
    await closeBrowser()
    await (await opened?.catch(() => undefined))?.close[Symbol.asyncDispose]()
  })

  async function run(name: string, body: (given: More & Opening) => Promise<void>): Promise<void> {
    opened ??= openOnce()
    const { given } = await opened
    const visitors: ConsoleVisitor[] = []
    const open = async ({ as, at, ...rest }: OpenOptions = {}) => {
      const visitor = await consoleVisitor(given.url, rest)
      visitors.push(visitor)
      // Signs in by the form if it needs a code, cookies are blocked, or another tab is signed in.
      const brings = as !== undefined && as.code === undefined && rest.cookies !== false && !rest.beside
      if (brings) await visitor.bring(as)
      await visitor.go(at)
      const isThere =
        rest.scripts === false
          ? `document.readyState === 'complete'`
          : `document.querySelector('#root > *') !== null && !document.querySelector('.splash')`
      await visitor.until(`location.origin === '${given.url}' && ${isThere}`, 'the page')
      if (brings) await visitor.isIn()
      else if (as) await visitor.signIn(as)
      return visitor
    }
    const close = () => Promise.all(visitors.toReversed().map((visitor) => visitor[Symbol.asyncDispose]()))
    try {
      await body({ ...given, open })
    } catch (error) {
      const said = await Promise.all(
        visitors.map((visitor, nth) => describeFailure(name, nth, visitor).catch(() => `visitor ${nth} says nothing`)),
      )
      // Keeps the failed test in the stack.
      const failure = error instanceof Error ? error : new Error(String(error))
      failure.message = [failure.message, ...said].join('\n')
      // A failing close must not hide the failure.
      await close().catch(() => undefined)
      throw failure
    }
    await close()
    const complaints = visitors.flatMap((visitor) => visitor.complaints())
    if (complaints.length > 0) throw new Error(`the browser complains:\n${complaints.join('\n')}`)
  }
  return {
    test: (name: string, body: (given: More & Opening) => Promise<void>) => bunTest.skipIf(!hasBrowser)(name, () => run(name, body)),
  }
}

/** Describes a visitor's page after a failure; with a picture if CONSOLE_FAILURES names a folder. */
async function describeFailure(name: string, nth: number, visitor: ConsoleVisitor): Promise<string> {
  const folder = Bun.env['CONSOLE_FAILURES']
  const file = folder && join(folder, `${name.replace(/\W+/g, '-').slice(0, 80)}-${nth}.png`)
  if (file) await visitor.picture().then((picture) => Bun.write(file, picture))
  const place = await visitor.path().catch(() => 'nowhere')
  return [`visitor ${nth} at ${place}${file ? ` (${file})` : ''}`, ...visitor.complaints().map((one) => `  ${one}`)].join('\n')
}
