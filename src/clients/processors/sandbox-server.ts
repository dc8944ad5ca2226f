import { sameSecret } from '../../lib/seal.ts'

type Reply = { status: number; body?: unknown } | 'break off' | 'hang'

export type SandboxServerOptions = {
  /** What is done about a request: `POST payments capture`. */
  reply: (route: string, id: string, body: Record<string, unknown>) => Promise<Reply>
  sign: (body: string) => Promise<string>
  signatureHeader: string
  /** Opens the server to who knows it. */
  secret: string
  onError: (what: string, error: unknown) => void
}

/** A payment processor that moves no money: a server of its own that this instance talks to over HTTP, as to any other. */
export type SandboxServer = {
  /** Where it listens and what opens it; started by who asks first. */
  open(): Promise<{ url: string; secret: string }>
  /** Where it sends its messages; until then it keeps them to itself. */
  tell(webhookUrl: string): void
  close(): Promise<void>
}

const hostname = '127.0.0.1'
/** Longer than any caller waits. */
const hangMs = 60_000
const messageTimeoutMs = 10_000
/** Of a capture it tells twice, and of the authorization afterwards: messages of real processors come like that too. */
const messagesOfConfirmation = ['payment.captured', 'payment.captured', 'payment.authorized', 'payment.looked_at']

export function createSandboxServer({ reply, sign, signatureHeader, secret, onError }: SandboxServerOptions): SandboxServer {
  let server: ReturnType<typeof Bun.serve> | undefined
  let webhookUrl: string | undefined
  const closing = new AbortController()

  async function answer(request: Request): Promise<Response> {
    if (!sameSecret(request.headers.get('authorization') ?? '', `Bearer ${secret}`))
      return Response.json({ error: 'unauthorized' }, { status: 401 })
    const { method, url } = request
    const [, , collection = '', id = '', action = ''] = new URL(url).pathname.split('/')
    const body = (method === 'POST' ? await request.json().catch(() => ({})) : {}) as Record<string, unknown>
    const made = await reply(`${method} ${collection} ${action}`.trim(), id, body)
    if (made === 'hang') return hang(request.signal)
    if (made === 'break off') return brokenOff()
    if (action === 'confirm' && made.status === 200 && webhookUrl !== undefined) void announce(webhookUrl, id)
    return Response.json(made.body ?? {}, { status: made.status })
  }

  async function hang(signal: AbortSignal): Promise<Response> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, hangMs)
    for (const end of [signal, closing.signal]) end.addEventListener('abort', () => resolve())
    await promise
    clearTimeout(timer)
    return new Response(null, { status: 504 })
  }

  async function announce(url: string, id: string): Promise<void> {
    for (const type of messagesOfConfirmation) {
      const body = JSON.stringify({ type, payment: { id } })
      const headers = { 'content-type': 'application/json', [signatureHeader]: await sign(body) }
      const signal = AbortSignal.timeout(messageTimeoutMs)
      await fetch(url, { method: 'POST', headers, body, signal }).catch((error: unknown) => onError('message', error))
    }
  }

  return {
    async open() {
      server ??= Bun.serve({
        port: 0,
        hostname,
        reusePort: false,
        idleTimeout: 0,
        fetch: (request) =>
          answer(request).catch((error: unknown) => {
            onError('request', error)
            return new Response(null, { status: 500 })
          }),
      })
      return { url: `http://${hostname}:${server.port}/v1`, secret }
    },
    tell(url) {
      webhookUrl = url
    },
    async close() {
      closing.abort()
      await server?.stop(true)
    },
  }
}

/** An answer of which only a part arrives. */
const brokenOff = () => new Response('{"id":', { headers: { 'content-type': 'application/json' } })
