/** A real browser without a screen: playwright-core starts and ends it, and its debugging protocol is open to tests. */
import { join } from 'node:path'
import { type BrowserContext, type CDPSession, chromium as playwright } from 'playwright-core'
import { temporaryDir } from './database.ts'

export type BrowserEvent = { method: string; params: Record<string, unknown> }

/** The shell first: it draws no windows around its pages, and opens one in a quarter of the time. */
const names = ['/usr/lib/chromium/chromium-headless-shell', 'chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
const pathOf = (candidates: readonly string[]) =>
  Bun.env['CHROMIUM'] ?? candidates.map((name) => Bun.which(name)).find((path) => path !== null)

/** Where Chromium is, or undefined on a machine without it. */
export const chromium = pathOf(names)

/** The desktop browser, which reads preferences; undefined on a machine that has the shell alone. */
export const chromiumOfDesk = pathOf(names.filter((name) => !name.endsWith('shell')))

/** Preferences of a browser that takes no cookies, and keeps nothing else for a page. */
export const withoutCookies = { profile: { default_content_setting_values: { cookies: 2 } } } as const

const flags = [
  '--disable-gpu',
  // Pages that share their cookies share a process, which has the program compiled: opening one takes a third of the time.
  '--renderer-process-limit=1',
  // Most pages of tests close before what makes them faster pays off: axe is compiled anew in each. Not where it is measured.
  ...(Bun.env['NODE_ENV'] === 'test' ? ['--js-flags=--no-maglev --no-turbofan'] : []),
]
/** A command without an answer fails by then, before the test's own time is over. */
const commandMs = 40_000

export type Browser = Awaited<ReturnType<typeof startBrowser>>
export type Page = Awaited<ReturnType<Browser['openPage']>>

/** Starts the browser. @param preferences as its settings keep them; the shell reads none */
export async function startBrowser(path: string, preferences?: object) {
  const options = { executablePath: path, args: flags, chromiumSandbox: false }
  const profile = temporaryDir()
  if (preferences) await Bun.write(join(profile, 'Default', 'Preferences'), JSON.stringify(preferences))
  const persistent = preferences && (await playwright.launchPersistentContext(profile, { ...options, viewport: null }))
  const browser = persistent ? undefined : await playwright.launch(options)

  return {
    /**
     * An empty page that shares neither cache nor cookies with others; `events` collects what it does.
     * @param beside a page with which it shares them: another tab
     */
    async openPage(beside?: { readonly context: BrowserContext }) {
      const context = beside?.context ?? persistent ?? (await (browser as NonNullable<typeof browser>).newContext({ viewport: null }))
      const page = await context.newPage()
      // Until a dialog is answered, the page stands still.
      page.on('dialog', (dialog) => void dialog.accept().catch(() => undefined))
      const session = await context.newCDPSession(page)
      const events: BrowserEvent[] = []
      session.on('event', ({ method, params = {} }) => void events.push({ method, params: params as BrowserEvent['params'] }))
      const command = (method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> =>
        session.send(method as Parameters<CDPSession['send']>[0], params as never, { timeout: commandMs }) as never
      for (const domain of ['Network', 'Log', 'Runtime', 'Page']) await command(`${domain}.enable`)
      return {
        events,
        context,
        open: (url: string) => command('Page.navigate', { url }),
        /** A command of the debugging protocol, to this page. */
        command,
        /** The value of an expression in the page; a promise is waited for. */
        async evaluate(expression: string): Promise<unknown> {
          const { result, exceptionDetails } = await command('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
          if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails))
          return (result as { value?: unknown }).value
        },
        [Symbol.asyncDispose]: () => (beside || persistent ? page.close() : context.close()),
      }
    },
    [Symbol.asyncDispose]: () => (persistent ?? browser)?.close() ?? Promise.resolve(),
  }
}
