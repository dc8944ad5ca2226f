/** The instance's own accounts and the URLs of APIs, from the settings. */
import { processors } from '../../../clients/processors/index.ts'
import type { Config } from '../../../config.ts'
import { withoutUndefined } from '../../../lib/objects.ts'
import { modeOfHost, modeOfKey } from '../../../lib/processor-keys.ts'
import { type ProcessorName, processorNames } from '../../../lib/processors.ts'
import { fieldNames, isSelfHosted, modeIn } from './account-fields.ts'
import { type AccountSettings, apiHost, instanceId, type Mode, type ProcessorAccount } from './domain.ts'

/** Returns an account's settings, complete or not; undefined if it is not configured. */
export function settingsIn(
  config: Config,
  processor: ProcessorName,
): { readonly settings: AccountSettings; readonly apiUrl: string } | undefined {
  const { apiUrl, settings } = configured(config, processor)
  return Object.keys(settings).length === 0 || apiUrl === undefined ? undefined : { settings, apiUrl }
}

/**
 * Returns the account's fields that the settings name. Without a URL, a processor with two hosts uses the one that fits
 * the keys.
 */
function configured(config: Config, processor: ProcessorName): { readonly apiUrl: string | undefined; readonly settings: AccountSettings } {
  const { fields, hosts } = processors[processor]
  const settingOf = (name: string) => config[settingField(processor, name)]
  const names = Object.keys(fields).filter((name) => name !== 'apiUrl')
  const settings = withoutUndefined(Object.fromEntries(names.map((name) => [name, settingOf(name)]))) as AccountSettings
  const key = settings['publishableKey'] ?? settings['secretKey'] ?? ''
  return { settings, apiUrl: settingOf('apiUrl') ?? hosts?.[modeOfKey(key) ?? 'LIVE'] }
}

/** Returns the configuration's name of an account's field: `stripeSecretKey`. */
const settingField = (processor: ProcessorName, name: string) =>
  `${processor}${name.slice(0, 1).toUpperCase()}${name.slice(1)}` as Extract<keyof Config, `${ProcessorName}${string}`>

/** Returns whether these settings, with `apiUrl`, can take payments. */
export const isComplete = (processor: ProcessorName, settings: AccountSettings): boolean =>
  processors[processor].required.every((name) => name === 'apiUrl' || settings[name] !== undefined)

/** Returns the missing settings of a configured account; none if it is complete or not configured. */
export function missingIn(config: Config, processor: ProcessorName): string[] {
  const { apiUrl, settings } = configured(config, processor)
  const isConfigured = Object.keys(settings).length > 0
  return isConfigured ? processors[processor].required.filter((name) => (name === 'apiUrl' ? apiUrl : settings[name]) === undefined) : []
}

/** Returns the instance's account if it is complete and of this mode. A BTCPay server has no mode and fits any. */
export function instanceAccount(config: Config, processor: ProcessorName, mode: Mode): ProcessorAccount | undefined {
  const configured = settingsIn(config, processor)
  if (!configured || !isComplete(processor, configured.settings)) return undefined
  const { settings, apiUrl } = configured
  if ((modeIn(processor, settings, apiUrl) ?? mode) !== mode) return undefined
  return {
    id: instanceId,
    keysId: instanceId,
    shopId: null,
    processor,
    mode,
    apiUrl,
    host: apiHost(apiUrl),
    isOwnUrl: false,
    publishable: publishableOf(processor, settings),
    sealedSettings: undefined,
    isRetired: false,
  }
}

/** Returns the settings that payment pages may see. */
export const publishableOf = (processor: ProcessorName, settings: AccountSettings): AccountSettings =>
  Object.fromEntries(fieldNames(processor).publishable.flatMap((name) => (settings[name] === undefined ? [] : [[name, settings[name]]])))

/**
 * Returns the API URL for accounts of shops: the setting's, if its mode fits or only the keys decide the mode.
 * Undefined for a self-hosted server: the merchant gives it.
 */
export function apiUrlFor(config: Config, processor: ProcessorName, mode: Mode): string | undefined {
  if (isSelfHosted(processor)) return undefined
  const { hosts, ownHost } = processors[processor]
  const url = config[settingField(processor, 'apiUrl')]
  if (!hosts) return url
  if (ownHost?.test(URL.parse(url ?? '')?.hostname ?? '')) return hosts[mode]
  return url !== undefined && modeOfHost(url) === mode ? url : hosts[mode]
}

/** Returns the API hosts and ports of the instance's accounts, for their breakers. */
export const hostsIn = (config: Config): Readonly<Partial<Record<ProcessorName, string>>> =>
  Object.fromEntries(
    processorNames.flatMap((processor) => {
      const { apiUrl } = configured(config, processor)
      return apiUrl === undefined ? [] : [[processor, apiHost(apiUrl)]]
    }),
  )
