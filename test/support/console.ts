/** Calls of the console's session routes. */
import type { Answer, CallOptions, TestApp } from './app.ts'

export const path = '/console/session'
export const here = { origin: 'http://localhost' }

/** Parses the cookie of a response. */
export function cookieOf({ headers }: Answer): { name: string; value: string; rest: string } {
  const [, name = '', value = '', rest = ''] = /^([^=]+)=([^;]*); (.*)$/.exec(headers.get('set-cookie') ?? '') ?? []
  return { name, value, rest }
}
/** Returns the `Cookie` header that follows a response. */
export const heldBy = (answer: Answer): string => `${cookieOf(answer).name}=${cookieOf(answer).value}`
/** Returns whether a response removes the cookie. */
export const removed = ({ headers }: Answer): boolean => /^[^=]+=; .*Max-Age=0;/.test(headers.get('set-cookie') ?? '')

export const post = (app: TestApp, body?: unknown, headers: Record<string, string> = {}, more: CallOptions = {}): Promise<Answer> =>
  app.call('POST', path, { ...(body === undefined ? {} : { body }), headers: { ...here, ...headers }, ...more })
export const resume = (app: TestApp, cookie: string, headers: Record<string, string> = {}): Promise<Answer> =>
  post(app, undefined, { cookie, ...headers })
export const end = (app: TestApp, cookie: string, headers: Record<string, string> = {}): Promise<Answer> =>
  app.call('DELETE', path, { headers: { ...here, cookie, ...headers } })
