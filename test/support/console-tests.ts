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
import type { TestApp, TestAppOptions } from './app.ts'
import { shopIn } from './catalog.ts'
import { chromium } from './chromium.ts'
import { openConsole, openDemoConsole, type runningClock } from './console-instance.ts'
import { type ConsoleVisitor, consoleVisitor, type Login, type VisitorOptions } from './console-visitor.ts'
import { closeBrowser } from './visit.ts'

export const hasBrowser = chromium !== undefined
if (!hasBrowser) process.stderr.write('skipped: the console in a real browser, because there is no chromium on this machine\n')

export type OpenOptions = VisitorOptions & {
  /** Who has logged in before: a shop of `shopIn`, somebody of `staffOf`, `await app.superAdmin()`. */
  readonly as?: Login
  /** Where, below /console: the login is asked for there. */
  readonly at?: string
}

type Filled<Data> = {
  readonly app: TestApp
  readonly clock: ReturnType<typeof runningClock>
  readonly url: string
  readonly shop: Awaited<ReturnType<typeof shopIn>>
  readonly data: Data
}
type Opening = {
  /** Opens a visitor's browser, at `at`, and logs in whoever it is. Closed and looked at when the test is over. */
  open(options?: OpenOptions): Promise<ConsoleVisitor>
}
export type InConsole<Data> = Filled<Data> & Opening
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
  return testsAt(async () => {
    const console = await openConsole(settings, options, isNew)
    const { app, clock, url } = console
    const filled = { app, clock, url, shop: await shopIn(app) }
    return { close: console, given: { ...filled, data: (await fill?.(filled)) as Data } }
  })
}

/** The same in the shops of the demo, with a year behind them: `merchant` and `operator` log in. Filling them takes some seconds. */
export const demoConsoleTests = () =>
  testsAt(async () => {
    const console = await openDemoConsole()
    const { [Symbol.asyncDispose]: _, ...given } = console
    return { close: console, given }
  })

type Opened<More> = { readonly close: AsyncDisposable; readonly given: More & { readonly url: string } }

/** Tests at one instance, which is opened when the first of them begins. */
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
      // By the keyboard where a code is asked for, nothing is kept, or another tab is in already.
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
        visitors.map((visitor, nth) => lastWords(name, nth, visitor).catch(() => `visitor ${nth} says nothing`)),
      )
      // Where the test failed stays in its stack.
      const failure = error instanceof Error ? error : new Error(String(error))
      failure.message = [failure.message, ...said].join('\n')
      // That it cannot be closed any more is not what failed.
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

/** Where a visitor of a failed test stood, and what the browser had said; a picture too where CONSOLE_FAILURES names a folder. */
async function lastWords(name: string, nth: number, visitor: ConsoleVisitor): Promise<string> {
  const folder = Bun.env['CONSOLE_FAILURES']
  const file = folder && join(folder, `${name.replace(/\W+/g, '-').slice(0, 80)}-${nth}.png`)
  if (file) await visitor.picture().then((picture) => Bun.write(file, picture))
  const place = await visitor.path().catch(() => 'nowhere')
  return [`visitor ${nth} at ${place}${file ? ` (${file})` : ''}`, ...visitor.complaints().map((one) => `  ${one}`)].join('\n')
}
