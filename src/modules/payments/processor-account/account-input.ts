/** Validates the account of a merchant, without a call. */
import { processors } from '../../../clients/processors/index.ts'
import type { Config } from '../../../config.ts'
import { AppError } from '../../../core/errors.ts'
import { createAddressGuard, literalAddressOf } from '../../../lib/networks.ts'
import { withoutUndefined } from '../../../lib/objects.ts'
import { isThisMachine, looksLikeSecret } from '../../../lib/processor-keys.ts'
import { isServicePort } from '../../../lib/service-ports.ts'
import { fieldNames, modeIn, takesUrl } from './account-fields.ts'
import { type AccountSettings, areMixed, type Mode, type ProcessorName } from './domain.ts'
import { apiUrlFor } from './instance.ts'

/** The settings of a body, by name, for any processor. */
export type AccountBody = Readonly<Record<string, string | undefined>> & { readonly mode?: Mode }

export type AccountInput = {
  readonly processor: ProcessorName
  readonly mode: Mode
  /** All but `apiUrl` and `mode`. */
  readonly settings: AccountSettings
  /** The merchant's own URL. */
  readonly ownUrl: string | undefined
  readonly apiUrl: string
  /** The names of all given fields. */
  readonly names: string[]
}

const invalid = (message: string) => new AppError('INVALID', message)

/**
 * Parses an account for a shop. A shop in TEST may have live accounts before it goes live.
 * @throws AppError INVALID, naming the field
 */
export function givenOf(
  config: Config,
  processor: ProcessorName,
  shopMode: Mode,
  { mode: givenMode, apiUrl: url, ...rest }: AccountBody,
): AccountInput {
  const settings = withoutUndefined(rest) as AccountSettings
  const { publishable, sealed } = fieldNames(processor)
  const { required } = processors[processor]
  const names = [...Object.keys(settings), ...(url === undefined ? [] : ['apiUrl'])]
  const known = [...publishable, ...sealed, ...(takesUrl(processor) ? ['apiUrl'] : [])]
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) throw invalid(`unknown field: ${unknown}`)
  const missing = required.filter((name) => !names.includes(name))
  if (missing.length > 0) throw invalid(`${missing.join(', ')} (body): needed for an account with ${processor}`)
  assertInPlace(settings, publishable)
  const ownUrl = url === undefined ? undefined : ownUrlOf(config, url)
  const mode = modeOf(config, processor, { settings, ownUrl, givenMode, shopMode })
  const apiUrl = ownUrl ?? apiUrlFor(config, processor, mode)
  if (apiUrl === undefined) throw new Error('an account without the URL of its API')
  return { processor, mode, settings, ownUrl, apiUrl, names: known.filter((name) => names.includes(name)) }
}

/** Checks that secrets are in sealed fields, and public keys are not. */
function assertInPlace(settings: AccountSettings, publishable: readonly string[]): void {
  for (const name of publishable)
    if (looksLikeSecret(settings[name] ?? ''))
      throw invalid(`${name} (body): begins like a secret key, and every payment page would show it`)
  if (/^pk_/i.test(settings['secretKey'] ?? '')) throw invalid('secretKey (body): begins like a publishable key')
  if (areMixed(settings)) throw invalid('secretKey (body): must be of the same mode, test or live, as publishableKey')
}

type ModeSources = {
  readonly settings: AccountSettings
  readonly ownUrl: string | undefined
  readonly givenMode: Mode | undefined
  readonly shopMode: Mode
}

/** Decided by the keys, else the host. Where neither shows it, as given; by default the shop's. */
function modeOf(config: Config, processor: ProcessorName, { settings, ownUrl, givenMode, shopMode }: ModeSources): Mode {
  const shownMode = processors[processor].modeIsAsked
    ? undefined
    : modeIn(processor, settings, ownUrl ?? apiUrlFor(config, processor, 'LIVE') ?? '')
  if (shownMode !== undefined && givenMode !== undefined && shownMode !== givenMode)
    throw invalid(`mode (body): the account is of mode ${shownMode}`)
  const mode = shownMode ?? givenMode ?? shopMode
  if (shopMode === 'LIVE' && mode === 'TEST')
    throw invalid(
      `${shownMode === undefined ? 'mode' : 'secretKey'} (body): of mode TEST, and the shop is LIVE: test money and real money never mix`,
    )
  return mode
}

/** Host names are resolved and checked on each call; a literal address can be checked now. */
function ownUrlOf({ outgoingAllowedNetworks }: Pick<Config, 'outgoingAllowedNetworks'>, text: string): string {
  const url = URL.parse(text)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isThisMachine(url.hostname))
  if (!url || !isSafe || url.username || url.password || url.search || url.hash)
    throw invalid('apiUrl (body): must be an https address without user name, password, query and fragment')
  if (isServicePort(url)) throw invalid('apiUrl (body): must not name the port of another service than a web server')
  const literal = literalAddressOf(url)
  if (literal !== undefined && !createAddressGuard(outgoingAllowedNetworks)(literal))
    throw invalid('apiUrl (body): must be a public address')
  return url.origin + url.pathname.replace(/\/+$/, '')
}
