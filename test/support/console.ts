/** Calls of the console's session routes. */
import type { Answer, CallOptions, TestApp } from './app.ts'

export const sessionPath = '/console/session'
export const sameOrigin = { origin: 'http://localhost' }

/** Parses the cookie of a response. */
export function cookieOf({ headers }: Answer): { name: string; value: string; rest: string } {
  const [, name = '', value = '', rest = ''] = /^([^=]+)=([^;]*); (.*)$/.exec(headers.get('set-cookie') ?? '') ?? []
  return { name, value, rest }
}
/** Returns the `Cookie` header that follows a response. */
export const cookieHeaderOf = (answer: Answer): string => `${cookieOf(answer).name}=${cookieOf(answer).value}`
/** Returns whether a response removes the cookie. */
export const removesCookie = ({ headers }: Answer): boolean => /^[^=]+=; .*Max-Age=0;/.test(headers.get('set-cookie') ?? '')

export const postSession = (app: TestApp, body?: unknown, headers: Record<string, string> = {}, more: CallOptions = {}): Promise<Answer> =>
  app.call('POST', sessionPath, { ...(body === undefined ? {} : { body }), headers: { ...sameOrigin, ...headers }, ...more })
export const resumeSession = (app: TestApp, cookie: string, headers: Record<string, string> = {}): Promise<Answer> =>
  postSession(app, undefined, { cookie, ...headers })
export const endSession = (app: TestApp, cookie: string, headers: Record<string, string> = {}): Promise<Answer> =>
  app.call('DELETE', sessionPath, { headers: { ...sameOrigin, cookie, ...headers } })
