/**
 * The session of the shopper.
 *
 * Tokens are in sessionStorage and end with the tab. In memory they would be lost on every page; in localStorage they
 * would stay on a shared computer. The content security policy keeps foreign scripts from reading them.
 */
import { type Answer, type Asked, ask, Refused, type Route, type Schema, shopName } from './api.ts'

type Tokens = Pick<Schema<'Login'>['data'], 'accessToken' | 'refreshToken'>
const place = 'souk.session'

function tokens(): Tokens | undefined {
  const kept = sessionStorage.getItem(place)
  return kept === null ? undefined : (JSON.parse(kept) as Tokens)
}

function keep({ accessToken, refreshToken }: Tokens): void {
  sessionStorage.setItem(place, JSON.stringify({ accessToken, refreshToken }))
}

export const isLoggedIn = (): boolean => tokens() !== undefined

/** @throws Refused 401 for a wrong password */
export async function logIn(email: string, password: string): Promise<void> {
  const { data } = await ask('POST /customer/login', { body: { shopName, email, password } })
  keep(data)
}

/** Ends the session, also at souk if it responds, and deletes the shopper's data in this browser. */
export async function logOut(): Promise<void> {
  const { refreshToken } = tokens() ?? {}
  sessionStorage.clear()
  localStorage.clear()
  if (refreshToken !== undefined) await ask('POST /auth/logout', { body: { refreshToken } }).catch(() => undefined)
}

let shop: Promise<Schema<'PublicShop'>> | undefined
/** The shop. A page requests it once. */
export function theShop(): Promise<Schema<'PublicShop'>> {
  shop ??= ask('GET /shops/v2/public/name/{shopName}', { path: { shopName } })
  return shop
}

/** Requests share one refresh: a refresh token works once, and a second use ends the session. */
let refreshing: Promise<boolean> | undefined
function refresh(): Promise<boolean> {
  refreshing ??= traded().finally(() => {
    refreshing = undefined
  })
  return refreshing
}

/** @returns whether there are new tokens; otherwise the shopper is a guest */
async function traded(): Promise<boolean> {
  const old = tokens()
  if (!old) return false
  try {
    keep((await ask('POST /auth/refresh', { body: { refreshToken: old.refreshToken } })).data)
    return true
  } catch (error) {
    // Deletes the tokens of an ended session, but not after a network error.
    if (error instanceof Refused && error.status !== 401) throw error
    sessionStorage.removeItem(place)
    return false
  }
}

async function asked<R extends Route>(route: R, request: Asked<R>, headersNow: () => Promise<Record<string, string>>): Promise<Answer<R>> {
  try {
    return await ask(route, request, await headersNow())
  } catch (error) {
    const isOld = error instanceof Refused && error.status === 401 && isLoggedIn()
    if (!isOld) throw error
    await refresh()
    return ask(route, request, await headersNow())
  }
}

const bearer = (): Record<string, string> => {
  const { accessToken } = tokens() ?? {}
  return accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` }
}

/**
 * Sends a request with the customer's token, for the customer's account.
 * @throws Refused 401 without a session
 */
export const askAsCustomer = <R extends Route>(route: R, request: Asked<R>): Promise<Answer<R>> =>
  asked(route, request, async () => bearer())

/**
 * Sends a request with the publishable key and, if there is one, the customer's token.
 * @param more additional headers, such as an Idempotency-Key
 */
export const askAsShopper = <R extends Route>(route: R, request: Asked<R>, more: Record<string, string> = {}): Promise<Answer<R>> =>
  asked(route, request, async () => ({ ...more, ...bearer(), 'x-service-api-key': (await theShop()).publishableKey ?? '' }))
