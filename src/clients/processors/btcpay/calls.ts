/** Calls to a BTCPay Server. */
import { assertNoPage, type Call, type CallAnswer, callProcessor, inconclusiveError, type ProcessorPort, portOfOperation } from '../call.ts'
import { UnknownAnswer } from '../processor.ts'

/** Minor units of ISO 4217. */
export type Money = { readonly amount: number; readonly currency: string }

type Body = Readonly<Record<string, unknown>>
/** `path` is below `/api/v1`. */
export type ApiCall = (
  method: Call['method'],
  path: string,
  body?: Body,
  options?: { readonly answerBytesMax: number },
) => Promise<CallAnswer>

/**
 * Creates the calls of one operation, which share one timeout.
 * @param apiUrl the server's URL, which may have a path
 * @throws TypeError for an invalid URL
 */
export function createBtcpayCalls({ apiUrl, apiKey }: { apiUrl: string; apiKey: string }, port: ProcessorPort & { now(): number }) {
  const { origin, pathname } = new URL(apiUrl)
  const api = `${origin}${pathname.replace(/\/+$/, '')}/api/v1`
  return (): ApiCall => {
    const operationPort = portOfOperation(port)
    return async (method, path, body, options = undefined) => {
      const answer = await callProcessor(operationPort, {
        method,
        url: `${api}${path}`,
        headers: { authorization: `token ${apiKey}`, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
        ...options,
      })
      assertNoPage(answer)
      return answer
    }
  }
}

/** Wraps calls so that they throw for answers that say nothing about the payment. */
export function throwInconclusive(ask: ApiCall): ApiCall {
  return async (...request) => {
    const answer = await ask(...request)
    if ([401, 403, 409, 429].includes(answer.status)) throw inconclusiveError(answer.status)
    return answer
  }
}

/** Returns the requested object; undefined if it does not exist. */
export function readObject(answer: CallAnswer): unknown {
  if (answer.status === 404) return undefined
  if (!isGood(answer)) throw inconclusiveError(answer.status)
  return answer.json
}

/** Returns the requested list. */
export function readList(answer: CallAnswer): readonly unknown[] | undefined {
  const list = readObject(answer)
  if (answer.status === 404) return undefined
  if (!Array.isArray(list)) throw new UnknownAnswer('no list')
  return list
}

/** Returns whether the server did what was requested. */
export const isGood = ({ status }: CallAnswer) => status >= 200 && status < 300

/** Checks a URL that is given to browsers and mails. */
export const webAddress = (text: string | undefined) => (/^https?:$/.test(URL.parse(text ?? '')?.protocol ?? '') ? text : undefined)
