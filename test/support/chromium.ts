/** A real browser without a screen, told what to do over its debugging protocol. */
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

/** Where Chromium is, or undefined on a machine without it. */
export const chromium =
  Bun.env['CHROMIUM'] ?? Bun.which('chromium') ?? Bun.which('chromium-browser') ?? Bun.which('google-chrome') ?? undefined

const flags = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--remote-debugging-port=0',
]

export type Browser = Awaited<ReturnType<typeof startBrowser>>
export type Page = Awaited<ReturnType<Browser['openPage']>>

/** Starts the browser. */
export async function startBrowser(path: string) {
  const browser = Bun.spawn([path, ...flags, `--user-data-dir=${temporaryDir()}`, 'about:blank'], { stdout: 'ignore', stderr: 'pipe' })
  const socket = new WebSocket(await debuggerAddress(browser.stderr))
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = () => reject(new Error('the browser does not answer'))
  })
  const waiting = new Map<number, { resolve: (result: Record<string, unknown>) => void; reject: (error: Error) => void }>()
  const pages = new Map<string, BrowserEvent[]>()
  socket.onmessage = ({ data }) => {
    const { id, method, params = {}, result = {}, error, sessionId = '' }: Message = JSON.parse(String(data))
    if (method) pages.get(sessionId)?.push({ method, params })
    const caller = id === undefined ? undefined : waiting.get(id)
    if (error) caller?.reject(new Error(error.message))
    else caller?.resolve(result)
  }

  let calls = 0
  function send(method: string, params: Record<string, unknown> = {}, sessionId?: string): Promise<Record<string, unknown>> {
    const id = ++calls
    socket.send(JSON.stringify({ id, method, params, sessionId }))
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
  }

  return {
    /**
     * One empty page that shares nothing with the others, neither cache nor cookies; `events` collects what it does.
     * @param beside a page with which it shares them: another tab
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
        /** A command of the debugging protocol, to this page. */
        command: (method: string, params: Record<string, unknown> = {}) => send(method, params, sessionId),
        /** The value of an expression in the page; a promise is waited for. */
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
          await (beside ? send('Target.closeTarget', { targetId }) : send('Target.disposeBrowserContext', { browserContextId }))
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

/** Reads the address that the browser prints once it listens. The rest of what it says is read away, so that it never waits for us. */
async function debuggerAddress(stderr: ReadableStream<Uint8Array>): Promise<string> {
  const [first, rest] = stderr.tee()
  void rest.pipeTo(new WritableStream()).catch(() => undefined)
  let said = ''
  for await (const text of first.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>)) {
    said += text
    const address = /DevTools listening on (ws:\/\/\S+)/.exec(said)?.[1]
    if (address) return address
  }
  throw new Error(`the browser did not start: ${said}`)
}
