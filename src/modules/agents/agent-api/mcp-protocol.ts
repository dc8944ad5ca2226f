/** JSON-RPC and the versions of the Model Context Protocol (MCP): what a message must be before a method answers it. */
import { AppError } from '../../../core/errors.ts'
import { mediaTypeOf, parseObject, rawBodyOf } from '../../../http/body.ts'
import { isRecord } from '../../../lib/json.ts'
import { ucpErrorOf, valuesMax } from './dispatch.ts'

/** Versions with a handshake, which older clients speak. */
export const handshakeVersions = ['2025-11-25', '2025-06-18'] as const
/** The version without a handshake. Each request has its version and capabilities in headers and in `_meta`. */
const statelessVersion = '2026-07-28'
export const supportedVersions: readonly string[] = [statelessVersion, ...handshakeVersions]
const metaPrefix = 'io.modelcontextprotocol/'

/** JSON-RPC and MCP error codes. Those of the commerce protocol are in its own table. */
const codes = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  headers: -32020,
  version: -32022,
  transport: -32000,
} as const

/** A JSON-RPC error with its HTTP status: no method answers the message. */
export class RpcError extends Error {
  readonly code: number
  constructor(
    kind: keyof typeof codes,
    message: string,
    readonly status = 400,
    readonly data?: object,
  ) {
    super(message)
    this.code = codes[kind]
  }
}

type RpcId = string | number
export type RpcMessage = {
  /** Undefined: a notification. */
  readonly id: RpcId | undefined
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

const isId = (value: unknown): value is RpcId => typeof value === 'string' || (typeof value === 'number' && Number.isSafeInteger(value))

/** Returns the id of a message for the answer to it; null if it has none that can be used. */
export const idOf = (message: object): RpcId | null => ('id' in message && isId(message.id) ? message.id : null)

/**
 * Parses the body of a request.
 * @throws RpcError if it is no JSON object; UcpError if it breaks the bounds of bodies
 */
export function parseMessage(request: Request): object {
  const bytes = rawBodyOf(request)
  if (mediaTypeOf(request) !== 'application/json') throw new RpcError('request', 'Send the message as application/json', 415)
  try {
    return parseObject(bytes, valuesMax)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // The name of a repeated field is text of the caller.
    if (error.field !== undefined) throw new RpcError('request', 'A field of the message is given twice')
    if (/^\s*\[/.test(new TextDecoder().decode(bytes.subarray(0, 64)))) throw new RpcError('request', 'Batches are not supported')
    if (/object$/.test(error.message)) throw new RpcError('request', 'The message must be a JSON object')
    throw /JSON$/.test(error.message) ? new RpcError('parse', 'The message is not valid JSON') : ucpErrorOf(error)
  }
}

/** Checks a message by JSON-RPC 2.0. @throws RpcError */
export function messageOf(parsed: object): RpcMessage {
  const { jsonrpc, id, method, params = {} } = parsed as { jsonrpc?: unknown; id?: unknown; method?: unknown; params?: unknown }
  if (jsonrpc !== '2.0') throw new RpcError('request', 'jsonrpc: must be "2.0"')
  if (typeof method !== 'string' || method === '') throw new RpcError('request', 'method: must be a string')
  if ('id' in parsed ? !isId(id) : !method.startsWith('notifications/'))
    throw new RpcError('request', 'id: must be a string or a whole number')
  if (!isRecord(params)) throw new RpcError('params', 'params: must be an object')
  return { id: id as RpcId | undefined, method, params }
}

/**
 * Returns whether a request uses the version without a handshake, and checks it against the rules of that version.
 * @throws RpcError
 */
export function isStateless({ headers }: Pick<Request, 'headers'>, { method, params }: RpcMessage): boolean {
  const version = headers.get('mcp-protocol-version')
  const meta = isRecord(params['_meta']) ? params['_meta'] : {}
  const inMeta = meta[`${metaPrefix}protocolVersion`]
  if (inMeta === undefined && (version === null || handshakeVersions.some((one) => one === version))) return false
  if (version === null) throw new RpcError('headers', 'The header MCP-Protocol-Version is missing')
  const missing = ['protocolVersion', 'clientCapabilities'].find((name) => meta[metaPrefix + name] === undefined)
  const isSupported = version === statelessVersion
  if (missing !== undefined && isSupported) throw new RpcError('params', `params._meta: ${metaPrefix}${missing} is missing`)
  if (inMeta !== undefined && inMeta !== version) throw new RpcError('headers', 'MCP-Protocol-Version and _meta name different versions')
  if (!isSupported) {
    // The protocol requires that the error echoes the requested version. Here the header equals the body's version.
    const data = { supported: supportedVersions, requested: version.slice(0, 100) }
    throw new RpcError('version', 'This protocol version is not supported', 400, data)
  }
  if (headers.get('mcp-method') !== method) throw new RpcError('headers', 'The header Mcp-Method must equal the method of the body')
  if (method === 'tools/call' && headers.get('mcp-name') !== params['name'])
    throw new RpcError('headers', 'The header Mcp-Name must equal the name of the tool')
  return true
}

/**
 * Refuses requests from pages of other origins. This stops DNS rebinding, where a foreign name points to this server.
 * @throws RpcError
 */
export function assertOrigin({ headers }: Pick<Request, 'headers'>, publicUrl: string): void {
  const origin = headers.get('origin')
  if (origin === null) return
  const ownUrl = new URL(publicUrl)
  const page = URL.parse(origin)
  const isOwn = page !== null && (page.origin === ownUrl.origin || (isLoopback(page.hostname) && isLoopback(ownUrl.hostname)))
  if (!isOwn) throw new RpcError('transport', 'Pages of other origins cannot call this address', 403)
}
const isLoopback = (host: string) => host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)

/** Checks that the client accepts JSON. @throws RpcError */
export function assertAcceptsJson({ headers }: Pick<Request, 'headers'>): void {
  const accepted = headers.get('accept')
  if (accepted !== null && !/(^|[\s,])(\*\/\*|application\/(\*|json))\s*(;|,|$)/i.test(accepted))
    throw new RpcError('transport', 'Answers are application/json', 406)
}
