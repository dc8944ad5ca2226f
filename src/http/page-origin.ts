import { AppError } from '../core/errors.ts'
import { isLoopbackHost } from './client-ip.ts'

/** The page that sent a request. */
export type OwnPage = {
  /** As `https://souk.example.com`. */
  readonly origin: string
  /** The port of its address, also where the address does not say it. */
  readonly port: string
  /** Whether what it keeps may go by TLS alone: everywhere but on this machine. */
  readonly isSecure: boolean
}

/**
 * The page that sent a request, which must be one that this program served. Browsers say it with every change (`Origin`), and whoever says
 * nothing is none: other programs have the API. What counts is what the browser sees, and not how a proxy passes it on: the page's address
 * is PUBLIC_URL's, or that which the request is for (`Host`). Of the host of PUBLIC_URL it must be by its scheme, too.
 *
 * So a page of a name that somebody lets point here (DNS rebinding) is one of ours. It gains nothing by it: a browser keeps cookies by the
 * name, so there is no session here for that one; what is left is to log in with a password or to be the first operator with a token, and
 * who has one of these needs no browser of ours. Over http its cookie would not be kept. Whoever wants no other name names theirs:
 * `ALLOWED_HOSTS` refuses the rest before any route.
 * @throws AppError FORBIDDEN
 */
export function ownPageOf({ headers, url }: Pick<Request, 'headers' | 'url'>, publicUrl: string | undefined): OwnPage {
  const origin = headers.get('origin') ?? ''
  const page = URL.parse(origin)
  const site = headers.get('sec-fetch-site') ?? 'same-origin'
  if (!page || page.origin !== origin || !/^https?:$/.test(page.protocol) || site !== 'same-origin') throw notOurs()
  const published = publicUrl === undefined ? undefined : new URL(publicUrl)
  const host = headers.get('host') ?? URL.parse(url)?.host ?? ''
  const isOurs =
    page.host === published?.host ? page.origin === published.origin : URL.parse(`${page.protocol}//${host}`)?.host === page.host
  if (!isOurs) throw notOurs()
  const isTls = page.protocol === 'https:'
  return { origin, port: page.port || (isTls ? '443' : '80'), isSecure: isTls || !isLoopbackHost(page.host) }
}

const notOurs = () =>
  new AppError(
    'FORBIDDEN',
    'origin (header): this is for the console’s own page; behind a proxy, set PUBLIC_URL to the address that browsers see, or pass Host on',
  )
