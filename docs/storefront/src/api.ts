/** A client of souk. openapi-typescript generates its types, `souk.d.ts`: see the README. */
import type { components, paths } from './souk.d.ts'

type By<Method extends 'get' | 'post' | 'patch' | 'put' | 'delete'> = {
  [Path in keyof paths & string as paths[Path][Method] extends object ? `${Uppercase<Method>} ${Path}` : never]: paths[Path][Method]
}
/** The operations of the document by method and path, such as `GET /cart/{id}`. */
type Operations = By<'get'> & By<'post'> & By<'patch'> & By<'put'> & By<'delete'>
export type Route = keyof Operations

type JsonOf<Message> = Message extends { content: { 'application/json': infer Body } } ? Body : undefined
/** The parts of a request that the document defines. */
type Parts<O> = {
  path: O extends { parameters: { path: infer Path } } ? Path : undefined
  query: O extends { parameters: { query?: infer Query } } ? Query : undefined
  body: O extends { requestBody?: infer Sent } ? JsonOf<Sent> : undefined
}
type Said<All> = { [Name in keyof All as All[Name] extends undefined ? never : Name]: All[Name] }
type Success<O> = O extends { responses: infer All } ? All[keyof All & (200 | 201 | 202 | 204)] : never

/** The parameters of a request: `path`, `query` and `body`, if the route has them. */
export type Asked<R extends Route> = Said<Parts<Operations[R]>>
/** The body of a successful response. */
export type Answer<R extends Route> = JsonOf<Success<Operations[R]>>

/** A record as the document names it, such as `Schema<'Cart'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

/** An error response of souk, or none. `message` is souk's, in English, and names the invalid field. */
export class Refused extends Error {
  override readonly name = 'Refused'
  constructor(
    /** 0 without a response. */
    readonly status: number,
    message: string,
    /** Identifies the request in the log of souk. */
    readonly requestId: string | null = null,
    /** Seconds after which the request can be retried. */
    readonly retryAfter: number | null = null,
  ) {
    super(message)
  }
}

/** Returns a value that the build wrote into the page; '' if there is none. */
export const meta = (name: string): string => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? ''
/** The URL of souk and the handle of the shop, which the build writes into each page. */
export const origin = meta('souk:url').replace(/\/+$/, '')
export const shopName = meta('souk:shop')

/** A checkout may have to wait for its processor. */
const patienceMs = 60_000

type Loose = { path?: object; query?: object; body?: unknown; headers?: Record<string, string> }

/**
 * Sends a request to souk without a credential.
 * @param headers additional headers, such as credentials
 * @throws Refused for every other response than a success
 */
export async function ask<R extends Route>(route: R, asked: Asked<R>, headers: Record<string, string> = {}): Promise<Answer<R>> {
  const { path, query, body } = asked as Loose
  const [method = '', template = ''] = route.split(' ')
  // Without a parameter, the request would go to another path.
  if (Object.values(path ?? {}).includes('')) throw new Refused(404, 'Not found')
  let answer: Response
  let text: string
  try {
    answer = await fetch(`${origin}${filled(template, path)}${queryOf(query)}`, {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // No cookies: only the headers identify the shopper.
      credentials: 'omit',
      signal: AbortSignal.timeout(patienceMs),
    })
    text = await answer.text()
  } catch {
    throw new Refused(0, '')
  }
  if (!answer.ok) throw refusalOf(answer, text)
  return (text === '' ? undefined : JSON.parse(text)) as Answer<R>
}

const filled = (template: string, path: object = {}): string =>
  Object.entries(path).reduce((filling, [name, value]) => filling.replace(`{${name}}`, encodeURIComponent(String(value))), template)

/** Leaves out empty parameters. */
function queryOf(query: object = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}

function refusalOf({ status, headers }: Response, text: string): Refused {
  const retryAfter = headers.get('retry-after')
  return new Refused(status, messageIn(text), headers.get('x-request-id'), retryAfter === null ? null : Number(retryAfter))
}

/** A proxy can respond with something other than JSON. */
function messageIn(text: string): string {
  try {
    return String((JSON.parse(text) as Schema<'ApiError'>).message)
  } catch {
    return ''
  }
}
