/** Calls addresses that others chose, such as webhook URLs. */
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { RequestOptions } from 'node:https'
import { isIP } from 'node:net'
import { OutgoingError, type OutgoingFailure, type SafeFetch, type SafeFetchOptions, type SafeResponse } from '../core/outgoing.ts'
import { certificateProblem } from '../lib/certificates.ts'
import { blockList, createAddressGuard, hostOf } from '../lib/networks.ts'
import { isServicePort } from '../lib/service-ports.ts'

/** Returns every address of a name. */
export type Lookup = (name: string) => Promise<readonly string[]>

const systemLookup: Lookup = async (name) => {
  const { lookup } = await import('node:dns/promises')
  return (await lookup(name, { all: true })).map(({ address }) => address)
}

/** The part of node:http and node:https that is used. */
type Client = { request(options: RequestOptions): ClientRequest }
type SafeFetchSettings = {
  allowedNetworks: readonly string[]
  /** Networks that may be called by http. Default: all that may be called. */
  httpNetworks?: readonly string[]
  lookup?: Lookup
}
type Target = { url: URL; host: string; addresses: readonly string[] }

/**
 * Creates a guarded fetch. The name is resolved once, and the connection goes to the checked addresses.
 * @param allowedNetworks private CIDR blocks that may be called
 */
export function createSafeFetch({ allowedNetworks, httpNetworks, lookup = systemLookup }: SafeFetchSettings): SafeFetch {
  const mayCall = createAddressGuard(allowedNetworks)
  const mayCallByHttp = httpNetworks ? blockList(httpNetworks) : mayCall

  async function addressesOf({ protocol }: URL, host: string, trusted: boolean): Promise<readonly string[]> {
    const addresses = isIP(host) === 0 ? await lookup(host) : [host]
    if (addresses.length === 0) throw new OutgoingError('connection failed')
    if (!trusted && !addresses.every(protocol === 'http:' ? mayCallByHttp : mayCall)) throw new OutgoingError('address not allowed')
    return addresses
  }

  return async (address, options) => {
    const url = urlOf(address, options.httpsOnly ?? false)
    const host = hostOf(url)
    if (!options.trusted && isServicePort(url)) throw new OutgoingError('port not allowed')
    const deadline = deadlineIn(options.timeoutMs, options.signal)
    try {
      const addresses = await Promise.race([addressesOf(url, host, options.trusted ?? false), deadline.passed])
      return await exchange(await clientFor(url), { url, host, addresses }, options, deadline.signal)
    } catch (error) {
      throw error instanceof OutgoingError ? error : new OutgoingError('connection failed', undefined, { cause: error })
    } finally {
      deadline.clear()
    }
  }
}

function urlOf(address: string, httpsOnly: boolean): URL {
  const url = URL.parse(address)
  const schemes = httpsOnly ? ['https:'] : ['https:', 'http:']
  if (!url || !schemes.includes(url.protocol) || url.username || url.password) throw new OutgoingError('address not allowed')
  return url
}

function deadlineIn(timeoutMs: number, callerSignal: AbortSignal | undefined) {
  const controller = new AbortController()
  const end = () => controller.abort()
  const timer = setTimeout(end, timeoutMs)
  const passed = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(new OutgoingError('timeout')))
  })
  // Not awaited after the look-up.
  passed.catch(() => undefined)
  if (callerSignal?.aborted) end()
  else callerSignal?.addEventListener('abort', end)
  const clear = () => {
    clearTimeout(timer)
    callerSignal?.removeEventListener('abort', end)
  }
  return { signal: controller.signal, passed, clear }
}

/** Loaded on first use, so that the start stays fast. */
const clientFor = ({ protocol }: URL): Promise<Client> => (protocol === 'https:' ? import('node:https') : import('node:http'))

/** Sends one request on its own connection and reads the response. */
function exchange(client: Client, target: Target, options: SafeFetchOptions, deadline: AbortSignal): Promise<SafeResponse> {
  return new Promise((resolve, reject) => {
    const request = open(client, target, options)
    let status: number | undefined
    // The first failure settles the promise.
    const fail = (kind: OutgoingFailure, cause?: unknown, message?: string) => {
      reject(new OutgoingError(kind, status, { cause, message }))
      request.destroy()
    }
    if (deadline.aborted) fail('timeout')
    deadline.addEventListener('abort', () => fail('timeout'))
    limitConnecting(request, target, options.connectTimeoutMs, () => fail('timeout'))
    request.on('error', (error) => {
      const untrusted = target.url.protocol === 'https:' ? certificateProblem(error, target.host) : undefined
      fail(untrusted === undefined ? failureOf(error) : 'certificate not trusted', error, untrusted)
    })
    request.on('upgrade', (_, socket) => socket.destroy())
    request.on('close', () => fail('connection failed'))
    request.on('response', (response) => {
      status = response.statusCode ?? 0
      // 304 is not a redirect.
      if (status >= 300 && status < 400 && status !== 304) return fail('redirect')
      readBody(response, options.bytesMax, fail, (bytes) => {
        resolve({ status: response.statusCode ?? 0, headers: headersOf(response), bytes })
      })
    })
    request.end(options.body)
  })
}

function limitConnecting(request: ClientRequest, { url }: Target, timeoutMs: number | undefined, onTimeout: () => void): void {
  if (timeoutMs === undefined) return
  const timer = setTimeout(onTimeout, timeoutMs)
  const clear = () => clearTimeout(timer)
  request.on('socket', (socket) => socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', clear))
  request.on('close', clear)
}

function open({ request }: Client, { url, host, addresses }: Target, { method = 'GET', headers = {} }: SafeFetchOptions): ClientRequest {
  const checked = addresses.map((address) => ({ address, family: isIP(address) }))
  return request({
    method,
    hostname: host,
    port: url.port,
    path: url.pathname + url.search,
    // Compressed content could be large once unpacked.
    headers: { 'accept-encoding': 'identity', ...headers },
    // Connections are not shared, since each uses addresses that were checked for it.
    agent: false,
    // Explicit, since NODE_TLS_REJECT_UNAUTHORIZED=0 would change the default.
    rejectUnauthorized: true,
    lookup: (_name, _options, answer) => answer(null, checked),
  })
}

function readBody(
  response: IncomingMessage,
  bytesMax: number,
  fail: (kind: OutgoingFailure, cause?: unknown) => void,
  onEnd: (bytes: Uint8Array) => void,
): void {
  const chunks: Buffer[] = []
  let length = 0
  response.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > bytesMax) fail('answer too large')
    else chunks.push(chunk)
  })
  response.on('error', (error) => fail('connection failed', error))
  response.on('end', () => onEnd(Buffer.concat(chunks)))
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(headersDistinct)) for (const value of values) headers.append(name, value)
  return headers
}

const failureOf = (error: Error & { code?: string }): OutgoingFailure =>
  error.code === 'HPE_HEADER_OVERFLOW' ? 'answer too large' : 'connection failed'
