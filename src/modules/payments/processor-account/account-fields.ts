import { processors } from '../../../clients/processors/index.ts'
import { modeOf } from '../../../lib/processor-keys.ts'
import type { ProcessorName } from '../../../lib/processors.ts'
import { sha256 } from '../../../lib/seal.ts'
import type { AccountSettings, Mode } from './domain.ts'

/** Returns the names of a processor's account fields besides `apiUrl`. Payment pages may see `publishable` ones. */
export function fieldNames(processor: ProcessorName): { readonly publishable: string[]; readonly sealed: string[] } {
  const fields = Object.entries(processors[processor].fields).filter(([name]) => name !== 'apiUrl')
  const namesOf = (isPublic: boolean) => fields.filter(([, field]) => (field.isPublic ?? false) === isPublic).map(([name]) => name)
  return { publishable: namesOf(true), sealed: namesOf(false) }
}

/** Returns whether a merchant gives the URL: of their own server, or the account's own host. */
export const acceptsUrl = (processor: ProcessorName): boolean => 'apiUrl' in processors[processor].fields

/** Returns whether merchants run the processor's server themselves. */
export const isSelfHosted = (processor: ProcessorName): boolean => processors[processor].required.includes('apiUrl')

/** Returns the identity of an account across changes of its keys; null if none of its fields is given. */
export function identityOf(processor: ProcessorName, settings: AccountSettings): string | null {
  const parts = processors[processor].identity.map((name) => settings[name])
  return parts.some((part) => part === undefined) ? null : sha256(JSON.stringify([processor, ...parts]))
}

/**
 * Returns the mode of an account by its keys, else by its host; undefined for a self-hosted server, which has none.
 * @param apiUrl the URL of its API
 */
export const modeIn = (processor: ProcessorName, { secretKey, publishableKey }: AccountSettings, apiUrl: string): Mode | undefined =>
  isSelfHosted(processor) ? undefined : modeOf(apiUrl, secretKey ?? publishableKey)
