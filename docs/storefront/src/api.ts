/** souk, typed by its own document: `souk.d.ts` is made by openapi-typescript, see the README. */
import type { components, paths } from './souk.d.ts'

type By<Method extends 'get' | 'post' | 'patch' | 'put' | 'delete'> = {
  [Path in keyof paths & string as paths[Path][Method] extends object ? `${Uppercase<Method>} ${Path}` : never]: paths[Path][Method]
}
/** The operations of the document by `GET /cart/{id}` and the like. */
type Operations = By<'get'> & By<'post'> & By<'patch'> & By<'put'> & By<'delete'>
export type Route = keyof Operations

type JsonOf<Message> = Message extends { content: { 'application/json': infer Body } } ? Body : undefined
/** What of a request the document knows: undefined where there is nothing to say. */
type Parts<O> = {
  path: O extends { parameters: { path: infer Path } } ? Path : undefined
  query: O extends { parameters: { query?: infer Query } } ? Query : undefined
  body: O extends { requestBody?: infer Sent } ? JsonOf<Sent> : undefined
}
type Said<All> = { [Name in keyof All as All[Name] extends undefined ? never : Name]: All[Name] }
type Success<O> = O extends { responses: infer All } ? All[keyof All & (200 | 201 | 202 | 204)] : never

/** What a route is asked with: its `path`, its `query` and its `body`, where it has them. */
export type Asked<R extends Route> = Said<Parts<Operations[R]>>
/** What it answers when it does what it was asked. */
export type Answer<R extends Route> = JsonOf<Success<Operations[R]>>

/** A record as the document names it, such as `Schema<'Cart'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

/** souk refused, or could not. `message` is souk's, in English, and names the field that is wrong. */
export class Refused extends Error {
  override readonly name = 'Refused'
  constructor(
    /** 0 where there was no answer at all. */
    readonly status: number,
    message: string,
    /** By this the shop finds what happened in its log. */
    readonly requestId: string | null = null,
    /** After so many seconds the same request may be sent again. */
    readonly retryAfter: number | null = null,
  ) {
    super(message)
  }
}

const meta = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? ''
/** Where souk is, and which of its shops this is: written into each page by the build. */
export const origin = meta('souk:url').replace(/\/+$/, '')
export const shopName = meta('souk:shop')

/** For so long an answer is waited for: a checkout may have to wait for its processor. */
const patienceMs = 60_000

type Loose = { path?: object; query?: object; body?: unknown; headers?: Record<string, string> }

/**
 * Asks souk, as anybody.
 * @param headers credentials and the like, besides
 * @throws Refused for whatever is no success
 */
export async function ask<R extends Route>(route: R, asked: Asked<R>, headers: Record<string, string> = {}): Promise<Answer<R>> {
  const { path, query, body } = asked as Loose
  const [method = '', template = ''] = route.split(' ')
  // A page that was opened without its parameter asks for another path than it means.
  if (Object.values(path ?? {}).includes('')) throw new Refused(404, 'Not found')
  let answer: Response
  let text: string
  try {
    answer = await fetch(`${origin}${filled(template, path)}${queryOf(query)}`, {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // Nothing of this browser but what is sent here says who asks.
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

/** What is empty is left out. */
function queryOf(query: object = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}

function refusalOf({ status, headers }: Response, text: string): Refused {
  const retryAfter = headers.get('retry-after')
  return new Refused(status, messageIn(text), headers.get('x-request-id'), retryAfter === null ? null : Number(retryAfter))
}

/** Whoever stands between may answer something else than JSON. */
function messageIn(text: string): string {
  try {
    return String((JSON.parse(text) as Schema<'Error'>).message)
  } catch {
    return ''
  }
}
