/**
 * Who is shopping.
 *
 * Tokens are kept in sessionStorage: of this tab, and gone with it. In memory alone they would be lost at every page; in localStorage they
 * would stay on a computer that others use, too. A script that has crept in could read either, which is what the pages' policy is for:
 * they run their own scripts and no others.
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

/** Ends the session, at souk as well where it answers, and forgets all that this browser knows of the shopper. */
export async function logOut(): Promise<void> {
  const { refreshToken } = tokens() ?? {}
  sessionStorage.clear()
  localStorage.clear()
  if (refreshToken !== undefined) await ask('POST /auth/logout', { body: { refreshToken } }).catch(() => undefined)
}

let shop: Promise<Schema<'PublicShop'>> | undefined
/** The shop, asked for once a page. */
export function theShop(): Promise<Schema<'PublicShop'>> {
  shop ??= ask('GET /shops/v2/public/name/{shopName}', { path: { shopName } })
  return shop
}

/** Of several requests that meet an old token one trades it: a refresh token works once, and using it again ends the session. */
let refreshing: Promise<boolean> | undefined
function refresh(): Promise<boolean> {
  refreshing ??= traded().finally(() => {
    refreshing = undefined
  })
  return refreshing
}

/** @returns whether there are new tokens; without, the shopper is a guest again */
async function traded(): Promise<boolean> {
  const old = tokens()
  if (!old) return false
  try {
    keep((await ask('POST /auth/refresh', { body: { refreshToken: old.refreshToken } })).data)
    return true
  } catch (error) {
    // A session that is over is forgotten, not one that nobody could be asked about.
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
 * Asks as a customer, by their token alone: for their own account.
 * @throws Refused 401 where nobody is logged in
 */
export const askAsCustomer = <R extends Route>(route: R, request: Asked<R>): Promise<Answer<R>> =>
  asked(route, request, async () => bearer())

/**
 * Asks as a shopper: the publishable key says in which shop, and beside it the token, if there is one, whose cart it is.
 * @param more headers besides, such as an Idempotency-Key
 */
export const askAsShopper = <R extends Route>(route: R, request: Asked<R>, more: Record<string, string> = {}): Promise<Answer<R>> =>
  asked(route, request, async () => ({ ...more, ...bearer(), 'x-service-api-key': (await theShop()).publishableKey ?? '' }))
