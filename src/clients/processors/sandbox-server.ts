import { sameSecret } from '../../lib/seal.ts'

type Reply = { status: number; body?: unknown } | 'break off' | 'hang'

type SandboxServerOptions = {
  /** Handles a request: `POST payments capture`. */
  reply: (route: string, id: string, body: Record<string, unknown>) => Promise<Reply>
  sign: (body: string) => Promise<string>
  signatureHeader: string
  /** Required of every request. */
  secret: string
  onError: (what: string, error: unknown) => void
}

/** A payment processor that moves no money: a server that the instance calls over HTTP like any other. */
type SandboxServer = {
  /** Returns its URL and secret; the first call starts it. */
  open(): Promise<{ url: string; secret: string }>
  /** Sets where it sends messages; before that it sends none. */
  tell(webhookUrl: string): void
  close(): Promise<void>
}

const hostname = '127.0.0.1'
/** Longer than any caller waits. */
const hangMs = 60_000
const messageTimeoutMs = 10_000
/** It repeats the message of a capture and sends the authorization late, as real processors do. */
const messagesOfConfirmation = ['payment.captured', 'payment.captured', 'payment.authorized', 'payment.looked_at']

/** Creates the server, which listens on a free loopback port once `open` is called. */
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
    if (made === 'break off') return truncatedResponse()
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

/** A response that breaks off. */
const truncatedResponse = () => new Response('{"id":', { headers: { 'content-type': 'application/json' } })
