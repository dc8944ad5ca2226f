/** What nodes say when they do not answer: providers have no words in common, so these are those that are known. */
import { NodeError } from '../../core/chain.ts'
import type { RpcError } from './answers.ts'

const retryMaxMs = 10 * 60_000
const retryMinMs = 1_000

const rangeWords =
  /block range|blocks? range|range (?:is |was )?(?:too|limit|exceed|of)|(?:max|maximum|exceeds?|limited to)[^.]{0,40}(?:range|blocks)|more than [\d,_]+ (?:results|logs|blocks)|too many (?:results|logs|blocks)|response (?:size|is too|too)|(?:result|response|payload|body|content)[^.]{0,20}(?:too (?:large|big)|size exceeded)|query (?:timeout|returned more|exceeds)|logs matched|eth_getlogs[^.]{0,60}(?:limit|range|up to)/i
const rateWords =
  /\brates?\b|rate.?limit|too many requests|throttl|per second|\bcups?\b|compute units|capacity|quota|credits?\b|daily|try again later|slow down/i
const behindWords =
  /unknown block|cannot be found|header not found|block (?:is )?(?:not found|out of range)|not yet (?:available|indexed|known)|(?:greater|higher|beyond|past|after)[^.]{0,30}(?:head|latest|current)|extends beyond|missing trie/i

/**
 * What an error that a node names is to us.
 * @param asked how many blocks were asked about, where logs were
 */
export function failureOf({ code, message: text }: Pick<RpcError, 'code' | 'message'>, asked: number | undefined): NodeError {
  const number = typeof code === 'number' ? code : undefined
  const named = number === undefined ? 'an error without a code' : `error ${number}`
  if (asked !== undefined && rangeWords.test(text)) return rangeError(named, asked, rangeIn(text))
  if (number === -32_005 || number === 429 || number === -32_029 || rateWords.test(text)) return new NodeError('RATE_LIMITED', named)
  if (behindWords.test(text)) return new NodeError('BEHIND', `${named}: it does not have the blocks yet`)
  return new NodeError('FAULT', `it answered with ${named}`)
}

const rangeError = (named: string, asked: number, hint: number | undefined) =>
  new NodeError('RANGE', `${named}: too many blocks or logs at once`, hint !== undefined && hint < asked ? { blocks: hint } : {})

/** How many blocks a refusal says would be answered: by two block numbers, or by a number beside the word. */
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

/** What a status is to us, of an answer that names no error; undefined where it is none to stop at. */
export function statusFailure(status: number, headers: Headers, asked: number | undefined, now: number): NodeError | undefined {
  if (status === 200) return undefined
  const retryAfterMs = retryAfterOf(headers, now)
  if (status === 429) return new NodeError('RATE_LIMITED', 'status 429', retryAfterMs === undefined ? {} : { retryAfterMs })
  if (status === 413 && asked !== undefined) return new NodeError('RANGE', 'status 413: too much at once')
  return new NodeError('FAULT', `it answered with status ${status}`, retryAfterMs === undefined ? {} : { retryAfterMs })
}

/** `Retry-After`, in seconds or as a date, as milliseconds from now, between a second and ten minutes. */
export function retryAfterOf(headers: Headers, now: number): number | undefined {
  const text = headers.get('retry-after')?.trim()
  if (!text) return undefined
  const ms = /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) * 1_000 : /[a-z]{3}/i.test(text) ? Date.parse(text) - now : Number.NaN
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(Math.round(ms), retryMinMs), retryMaxMs)
}
