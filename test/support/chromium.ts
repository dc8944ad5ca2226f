/** A headless browser, controlled by its debugging protocol. */
import { join } from 'node:path'
import { temporaryDir } from './database.ts'

type Message = {
  id?: number
  method?: string
  params?: Record<string, unknown>
  result?: Record<string, unknown>
  error?: { message: string }
  sessionId?: string
}
export type BrowserEvent = { method: string; params: Record<string, unknown> }

/**
 * The headless shell comes first: it opens a page in a quarter of the time. Debian's command starts it as another
 * process, which would outlive the test.
 */
const binaries = ['/usr/lib/chromium/chromium-headless-shell', 'chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

/** The path of Chromium, or undefined on a machine without it. */
export const chromium = Bun.env['CHROMIUM'] ?? binaries.map((name) => Bun.which(name)).find((path) => path !== null)

/** The full browser, which reads preferences; undefined on a machine that only has the shell. */
export const desktopChromium =
  Bun.env['CHROMIUM'] ??
  binaries
    .filter((name) => !name.endsWith('shell'))
    .map((name) => Bun.which(name))
    .find((path) => path !== null)

/** Preferences that block cookies and storage. */
export const blockCookies = { profile: { default_content_setting_values: { cookies: 2 } } } as const

const flags = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  // One process compiles the program once, so that further pages open three times as fast.
  '--renderer-process-limit=1',
  // Pages of tests end before optimizing compilers pay off. Benchmarks use them.
  ...(Bun.env['NODE_ENV'] === 'test' ? ['--js-flags=--no-maglev --no-turbofan'] : []),
  '--remote-debugging-port=0',
]

/** Prefix that kills the browser when the tests end, also if they are killed. */
const killWithParent = Bun.which('setpriv') ? ['setpriv', '--pdeathsig', 'KILL'] : []

/** Reports a command without a response before the test's own time-out. */
const commandTimeoutMs = 120_000

export type Browser = Awaited<ReturnType<typeof startBrowser>>
export type Page = Awaited<ReturnType<Browser['openPage']>>

/** Starts the browser. @param preferences in the format of its settings file; the headless shell ignores them */
export async function startBrowser(path: string, preferences?: object) {
  const profile = temporaryDir()
  if (preferences) await Bun.write(join(profile, 'Default', 'Preferences'), JSON.stringify(preferences))
  const command = [...killWithParent, path, ...flags, `--user-data-dir=${profile}`, 'about:blank']
  const browser = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe' })
  const socket = new WebSocket(await debuggerAddress(browser.stderr))
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = () => reject(new Error('the browser does not answer'))
  })
  const waiting = new Map<number, { resolve: (result: Record<string, unknown>) => void; reject: (why: string) => void }>()
  const pages = new Map<string, BrowserEvent[]>()
  socket.onmessage = ({ data }) => {
    const { id, method, params = {}, result = {}, error, sessionId = '' }: Message = JSON.parse(String(data))
    if (method) pages.get(sessionId)?.push({ method, params })
    // The page and its callers block until the dialog is answered.
    if (method === 'Page.javascriptDialogOpening')
      void send('Page.handleJavaScriptDialog', { accept: true }, sessionId).catch(() => undefined)
    if (id === undefined) return
    const caller = waiting.get(id)
    waiting.delete(id)
    if (error) caller?.reject(error.message)
    else caller?.resolve(result)
  }

  socket.onclose = () => {
    for (const { reject } of waiting.values()) reject('the browser is gone')
    waiting.clear()
  }

  let calls = 0
  function send(method: string, params: Record<string, unknown> = {}, sessionId?: string): Promise<Record<string, unknown>> {
    const id = ++calls
    if (socket.readyState !== WebSocket.OPEN) return Promise.reject(new Error(`${method}: the browser is gone`))
    socket.send(JSON.stringify({ id, method, params, sessionId }))
    return new Promise((resolve, reject) => {
      const timeout = setTimeout(() => waiting.get(id)?.reject('the browser has not answered'), commandTimeoutMs)
      waiting.set(id, {
        resolve(result) {
          clearTimeout(timeout)
          resolve(result)
        },
        reject(why) {
          clearTimeout(timeout)
          waiting.delete(id)
          reject(new Error(`${method} ${params['expression'] ?? ''}: ${why}`))
        },
      })
    })
  }

  return {
    /**
     * Opens an empty page with its own cache and cookies; `events` collects its events.
     * @param beside opens another tab, which shares cache and cookies with this page
     */
    async openPage(beside?: { readonly browserContextId: unknown }) {
      const { browserContextId } = beside ?? (await send('Target.createBrowserContext'))
      const { targetId } = await send('Target.createTarget', { url: 'about:blank', browserContextId })
      const sessionId = String((await send('Target.attachToTarget', { targetId, flatten: true }))['sessionId'])
      const events: BrowserEvent[] = []
      pages.set(sessionId, events)
      for (const domain of ['Network', 'Log', 'Runtime', 'Page']) await send(`${domain}.enable`, {}, sessionId)
      return {
        events,
        browserContextId,
        open: (url: string) => send('Page.navigate', { url }, sessionId),
        /** Sends a command of the debugging protocol to this page. */
        command: (method: string, params: Record<string, unknown> = {}) => send(method, params, sessionId),
        /** Returns the value of an expression in the page, after its promise settles. */
        async evaluate(expression: string): Promise<unknown> {
          const { result, exceptionDetails } = await send(
            'Runtime.evaluate',
            { expression, awaitPromise: true, returnByValue: true },
            sessionId,
          )
          if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails))
          return (result as { value?: unknown }).value
        },
        async [Symbol.asyncDispose]() {
          // The desktop browser does not always confirm that a context ended. There it ends with the browser.
          const ownsContext = !beside && !preferences
          await (ownsContext ? send('Target.disposeBrowserContext', { browserContextId }) : send('Target.closeTarget', { targetId }))
          pages.delete(sessionId)
        },
      }
    },
    async [Symbol.asyncDispose]() {
      socket.close()
      browser.kill()
      await browser.exited
    },
  }
}

/**
 * Returns the address that the browser prints once it listens. Drains later output, because a full pipe would block it.
 */
async function debuggerAddress(stderr: ReadableStream<Uint8Array>): Promise<string> {
  const [first, rest] = stderr.tee()
  void rest.pipeTo(new WritableStream()).catch(() => undefined)
  let output = ''
  for await (const text of first.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>)) {
    output += text
    const address = /DevTools listening on (ws:\/\/\S+)/.exec(output)?.[1]
    if (address) return address
  }
  throw new Error(`the browser did not start: ${output}`)
}
