/** Validates the account of a merchant, without a call. */
import { processors } from '../../../clients/processors/index.ts'
import type { Config } from '../../../config.ts'
import { AppError, invalidField } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { createAddressGuard, literalAddressOf } from '../../../lib/networks.ts'
import { withoutUndefined } from '../../../lib/objects.ts'
import { isThisMachine, looksLikeSecret } from '../../../lib/processor-keys.ts'
import { isServicePort } from '../../../lib/service-ports.ts'
import { processorNames } from '../payment-method/domain.ts'
import { acceptsUrl, fieldNames, modeIn } from './account-fields.ts'
import { type AccountSettings, haveMixedModes, type Mode, type ProcessorName } from './domain.ts'
import { apiUrlFor } from './instance.ts'
import type { Which } from './store.ts'

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

/**
 * Returns the key of a shop's account, by default in the shop's mode.
 * @throws AppError NOT_FOUND for an unknown processor
 */
export function whichOf({ id, mode }: Pick<ShopContext, 'id' | 'mode'>, name: string, requestedMode: Mode = mode): Which {
  const processor = processorNames.find((one) => one === name)
  if (processor === undefined) throw new AppError('NOT_FOUND', 'No such processor')
  return { shopId: id, processor, mode: requestedMode }
}

/**
 * Parses an account for a shop. A shop in TEST may have live accounts before it goes live.
 * @throws AppError INVALID, naming the field
 */
export function parseAccount(
  config: Config,
  processor: ProcessorName,
  shopMode: Mode,
  { mode: givenMode, apiUrl: url, ...rest }: AccountBody,
): AccountInput {
  const settings = withoutUndefined(rest) as AccountSettings
  const { publishable, sealed } = fieldNames(processor)
  const { required } = processors[processor]
  const names = [...Object.keys(settings), ...(url === undefined ? [] : ['apiUrl'])]
  const allowed = [...publishable, ...sealed, ...(acceptsUrl(processor) ? ['apiUrl'] : [])]
  const unknown = names.find((name) => !allowed.includes(name))
  if (unknown !== undefined) throw new AppError('INVALID', `unknown field: ${unknown}`, { code: 'unknown_field', field: unknown })
  const missing = required.filter((name) => !names.includes(name))
  if (missing.length > 0) throw invalidField(missing.join(', '), `needed for an account with ${processor}`)
  assertInPlace(settings, publishable)
  const ownUrl = url === undefined ? undefined : ownUrlOf(config, url)
  const mode = modeOf(config, processor, { settings, ownUrl, givenMode, shopMode })
  const apiUrl = ownUrl ?? apiUrlFor(config, processor, mode)
  if (apiUrl === undefined) throw new Error('an account without the URL of its API')
  return { processor, mode, settings, ownUrl, apiUrl, names: allowed.filter((name) => names.includes(name)) }
}

/** Checks that secrets are in sealed fields, and public keys are not. */
function assertInPlace(settings: AccountSettings, publishable: readonly string[]): void {
  for (const name of publishable)
    if (looksLikeSecret(settings[name] ?? ''))
      throw invalidField(name, 'looks like a secret key, but this field is public: payment pages show it')
  if (/^pk_/i.test(settings['secretKey'] ?? '')) throw invalidField('secretKey', 'looks like a publishable key: send the secret key')
  if (haveMixedModes(settings)) throw invalidField('secretKey', 'must be of the same mode, test or live, as publishableKey')
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
    throw invalidField('mode', `the account is of mode ${shownMode}`)
  const mode = shownMode ?? givenMode ?? shopMode
  if (shopMode === 'LIVE' && mode === 'TEST')
    throw invalidField(
      shownMode === undefined ? 'mode' : 'secretKey',
      'of test mode, but the shop is live: a live shop takes live accounts only',
    )
  return mode
}

/** Host names are resolved and checked on each call; a literal address can be checked now. */
function ownUrlOf({ outgoingAllowedNetworks }: Pick<Config, 'outgoingAllowedNetworks'>, text: string): string {
  const url = URL.parse(text)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isThisMachine(url.hostname))
  if (!url || !isSafe || url.username || url.password || url.search || url.hash)
    throw invalidField('apiUrl', 'must be an https address without user name, password, query and fragment')
  if (isServicePort(url)) throw invalidField('apiUrl', 'must not use the port of a service other than a web server')
  const literal = literalAddressOf(url)
  if (literal !== undefined && !createAddressGuard(outgoingAllowedNetworks)(literal))
    throw invalidField('apiUrl', 'must be a public address')
  return url.origin + url.pathname.replace(/\/+$/, '')
}
