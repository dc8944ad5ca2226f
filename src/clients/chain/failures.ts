/**
 * Classifies refusals of nodes by status and code, because providers have no wording in common. The text adds hints,
 * such as the allowed range, and detects request limits and missing blocks.
 */
import { NodeError } from '../../core/chain.ts'
import { OutgoingError } from '../../core/outgoing.ts'
import { decodePercent } from '../../lib/percent-encoding.ts'

const retryMaxMs = 10 * 60_000
const retryMinMs = 1_000
/** The limit of a quoted message. */
const messageMax = 160

/** An error response of a node: its HTTP status, and the code and message of JSON-RPC. */
type NodeResponse = {
  readonly status?: number
  readonly code: unknown
  readonly message: string
  readonly retryAfterMs?: number | undefined
}

export class Refusal extends Error {
  override readonly name = 'Refusal'
  constructor(readonly response: NodeResponse) {
    super(response.message)
  }
}

const rateWords =
  /\brates?\b|rate.?limit|too many requests|throttl|per second|\bcups?\b|compute units|capacity|quota|credits?\b|daily|try again later|slow down/i
const behindWords =
  /unknown block|cannot be found|header not found|block (?:is )?(?:not found|out of range)|not yet (?:available|indexed|known)|(?:greater|higher|beyond|past|after)[^.]{0,30}(?:head|latest|current)|extends beyond|missing trie/i
const historyWords = /prun|archiv|ancient|histor|missing trie|state .{0,20}not available/i

const rateCodes: readonly unknown[] = [429, -32_007, -32_029]
const keyStatuses = [401, 402, 403, 407]

const adviceBy = {
  key: 'Check the key in the URL of this node in CHAINS',
  rate: 'souk sends fewer requests for a while; raise the limit of the plan, or name another node in CHAINS',
  path: 'Check the path of the URL of this node in CHAINS',
  history: 'It does not store blocks this old: name an archive node in CHAINS',
  oneBlock: 'It refuses the logs of a single block: name another node in CHAINS',
  trouble: 'Wait until the provider has fixed it, or name another node in CHAINS',
} as const

/**
 * Classifies a refusal.
 * @param blocksRequested how many blocks of logs were requested, if any; more than one is retried with fewer
 * @param url of the node: no part of it appears in the message
 */
export function failureOf(
  { status = 200, code, message: text, retryAfterMs }: NodeResponse,
  blocksRequested: number | undefined,
  url?: string,
): NodeError {
  const errorText = typeof code === 'number' ? `error ${code}` : status === 200 ? 'an error without a code' : `status ${status}`
  const excerpt = sanitize(text, url)
  const description = excerpt === '' ? errorText : `${errorText}: ${excerpt}`
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs }
  const isOfKey = keyStatuses.includes(status) && (code === undefined || blocksRequested === undefined || blocksRequested <= 1)
  if (isOfKey) return new NodeError('FAULT', `it answered with ${description}`, { ...wait, advice: adviceBy.key })
  // Example: "exceeds the range of your plan, upgrade for more compute units". Fewer blocks may succeed.
  const mayShrink = blocksRequested !== undefined && blocksRequested > 1 && /\branges?\b/i.test(text)
  const isLimited = status === 429 || rateCodes.includes(code) || (status < 500 && rateWords.test(text) && !mayShrink)
  if (isLimited || (code === -32_005 && blocksRequested === undefined))
    return new NodeError('RATE_LIMITED', status === 429 ? `status 429, ${description}` : description, { ...wait, advice: adviceBy.rate })
  if (behindWords.test(text)) return new NodeError('BEHIND', `${description}: it does not have the blocks yet`)
  if (mayBeTooMuch({ status, code }) && blocksRequested !== undefined && blocksRequested > 1) {
    const blocks = rangeIn(text)
    const hint = blocks !== undefined && blocks < blocksRequested ? { blocks } : {}
    return new NodeError('RANGE', `${description}: too many blocks or logs at once`, hint)
  }
  return new NodeError('FAULT', `it answered with ${description}`, { ...wait, advice: adviceFor(status, text, blocksRequested) })
}

/**
 * Returns whether a smaller request may succeed: true for every JSON-RPC error, and for every 4xx except statuses of
 * keys. Some providers refuse a range above the plan with 403 and a JSON-RPC error.
 */
export const mayBeTooMuch = ({ status = 200, code }: Omit<NodeResponse, 'message'>): boolean =>
  code !== undefined || (status < 500 && !keyStatuses.includes(status))

function adviceFor(status: number, text: string, blocksRequested: number | undefined): string {
  if (historyWords.test(text)) return adviceBy.history
  if (status === 404 || status === 405) return adviceBy.path
  return blocksRequested === 1 && status < 500 ? adviceBy.oneBlock : adviceBy.trouble
}

/**
 * Reads the allowed number of blocks from a refusal: from two block numbers, or from a number next to a word such as
 * "range".
 */
export function rangeIn(text: string): number | undefined {
  const [, from, to] = /\[\s*(0x[0-9a-f]{1,13})\s*,\s*(0x[0-9a-f]{1,13})\s*\]/i.exec(text) ?? []
  if (from !== undefined && to !== undefined) return positive(Number(to) - Number(from) + 1)
  const [, low, high] = /range[^\d.]{0,12}(\d{1,15})\s*(?:-|to)\s*(\d{1,15})/i.exec(text) ?? []
  if (low !== undefined && high !== undefined) return positive(Number(high) - Number(low) + 1)
  const [, first, second] =
    /(\d[\d,_]{0,12}k?)[\s-]*(?:block|range)|(?:range|blocks?|limited to|up to|max(?:imum)?)[^\d.]{0,30}(\d[\d,_]{0,12}k?)(?![\d,_]*\s*(?:results|logs|mb|kb|bytes))/i.exec(
      text,
    ) ?? []
  const digits = (first ?? second)?.replace(/[,_]/g, '').toLowerCase()
  return digits === undefined ? undefined : positive(digits.endsWith('k') ? Number(digits.slice(0, -1)) * 1_000 : Number(digits))
}

const positive = (value: number) => (Number.isSafeInteger(value) && value > 0 ? value : undefined)

/** Reads `Retry-After`, in seconds or as a date. Returns milliseconds from now, between one second and ten minutes. */
export function retryAfterOf(headers: Headers, now: number): number | undefined {
  const text = headers.get('retry-after')?.trim()
  if (!text) return undefined
  const ms = /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) * 1_000 : /[a-z]{3}/i.test(text) ? Date.parse(text) - now : Number.NaN
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(Math.round(ms), retryMinMs), retryMaxMs)
}

const longToken = /[\w+/=.~-]{20,}/g
const words = /[\w~-]{4,}/g

/**
 * Sanitises a node's message for logs and screens: one line without markup, URLs, keys or parts of the node's URL
 * behind its host.
 */
function sanitize(text: string, url: string | undefined): string {
  const secrets = url === undefined ? [] : secretsOf(url)
  return text
    .slice(0, 2_000)
    .replace(/<[^>]*>/g, ' ')
    .replace(/\b[a-z][a-z+.-]*:\/\/\S*/gi, '…')
    .replace(longToken, '…')
    .replace(words, (word) => (secrets.some((secret) => secret.includes(word.toLowerCase())) ? '…' : word))
    .replace(/[^\P{C}\n]|\s+/gu, ' ')
    .trim()
    .slice(0, messageMax)
}

function secretsOf(url: string): string[] {
  const { pathname, search, username, password, hash } = new URL(url)
  return [pathname, search, username, password, hash].flatMap((part) => [part.toLowerCase(), decodePercent(part).toLowerCase()])
}

const causes: readonly (readonly [RegExp, string])[] = [
  [/ENOTFOUND|EAI_|DNS/i, 'Its name is not found: check the host of the URL in CHAINS, and the DNS of this machine'],
  [/ECONNREFUSED|ConnectionRefused/i, 'Nothing listens at its address: check the host and the port of the URL in CHAINS'],
]

/** Returns the failure of a node that did not respond. */
export function unreachable(error: unknown): NodeError {
  // The message of any other error may contain the URL.
  const reason = error instanceof OutgoingError ? error.message : 'connection failed'
  const cause = error instanceof OutgoingError ? (error.cause as { readonly code?: unknown } | undefined) : undefined
  const advice = causes.find(([pattern]) => pattern.test(String(cause?.code ?? '')))?.[1]
  return new NodeError('FAULT', `no answer: ${reason}`, advice === undefined ? {} : { advice })
}
