import { fieldError } from '../core/errors.ts'
import { isLoopbackHost } from './client-ip.ts'

/** The page that sent a request. */
type PageOrigin = {
  /** Such as `https://souk.example.com`. */
  readonly origin: string
  /** The port, also if it is the default. */
  readonly port: string
  /** Whether cookies need TLS: everywhere except on this machine. */
  readonly isSecure: boolean
}

/**
 * Returns the page that sent a request; it must be a page of this program. Browsers send `Origin` with every change.
 * The page's address must be that of PUBLIC_URL, including its scheme, or that of the `Host` header.
 * A foreign name that points here (DNS rebinding) passes, but gains nothing: browsers keep cookies by name, so it has
 * no session. `ALLOWED_HOSTS` refuses other names.
 * @throws AppError FORBIDDEN
 */
export function pageOriginOf({ headers, url }: Pick<Request, 'headers' | 'url'>, publicUrl: string | undefined): PageOrigin {
  const origin = headers.get('origin') ?? ''
  const page = URL.parse(origin)
  const site = headers.get('sec-fetch-site') ?? 'same-origin'
  if (!page || page.origin !== origin || !/^https?:$/.test(page.protocol) || site !== 'same-origin') throw foreignOriginError()
  const published = publicUrl === undefined ? undefined : new URL(publicUrl)
  const host = headers.get('host') ?? URL.parse(url)?.host ?? ''
  const isOurs =
    page.host === published?.host ? page.origin === published.origin : URL.parse(`${page.protocol}//${host}`)?.host === page.host
  if (!isOurs) throw foreignOriginError()
  const isTls = page.protocol === 'https:'
  return { origin, port: page.port || (isTls ? '443' : '80'), isSecure: isTls || !isLoopbackHost(page.host) }
}

const foreignOriginError = () =>
  fieldError(
    'FORBIDDEN',
    'origin',
    'only the console’s own page can call this; behind a proxy, set PUBLIC_URL to the address that browsers see, or forward Host',
  )
