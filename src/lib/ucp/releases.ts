/** The releases of the Universal Commerce Protocol (UCP) that souk speaks. Only this table knows how they differ. */

export const releases = ['2026-08-25', '2026-04-08'] as const
export type Release = (typeof releases)[number]
export const newestRelease: Release = '2026-08-25'
/** Returns whether souk speaks a release. */
export const isRelease = (version: string): version is Release => (releases as readonly string[]).includes(version)

/** The service that all capabilities belong to. */
export const serviceName = 'dev.ucp.shopping'
const prefix = `${serviceName}.`
/** Capabilities without the common prefix, and those that each extends. */
export const capabilities = {
  checkout: [],
  cart: [],
  order: [],
  'catalog.search': [],
  'catalog.lookup': [],
  fulfillment: ['checkout'],
  discount: ['checkout', 'cart'],
} as const satisfies Record<string, readonly string[]>
export type Capability = keyof typeof capabilities
export const capabilityNames = Object.keys(capabilities) as Capability[]

/** Returns the name of a capability in profiles and envelopes, with the prefix. */
export const fullNameOf = (capability: Capability): string => `${prefix}${capability}`
/** Returns the capability with this full name; undefined if souk does not know it. */
export const capabilityOf = (fullName: string): Capability | undefined =>
  fullName.startsWith(prefix) ? capabilityNames.find((name) => fullNameOf(name) === fullName) : undefined

type ReleaseRules = {
  /** Field of a profile that lists public keys. */
  readonly keysField: 'keys' | 'signing_keys'
  /** Whether labels of such a name may contain `-` and begin with a digit. */
  readonly hasDnsLabels: boolean
  /** Whether a shipping destination carries its `type`. */
  readonly typesDestinations: boolean
}

/** Differences between the releases. */
export const releaseRules: Readonly<Record<Release, ReleaseRules>> = {
  '2026-08-25': { keysField: 'keys', hasDnsLabels: true, typesDestinations: true },
  '2026-04-08': { keysField: 'signing_keys', hasDnsLabels: false, typesDestinations: false },
}

/**
 * Returns the authority of our own names: the host reversed, or `localhost.souk` for an address or a single label.
 * The older release allows no `-` and no leading digit: they become `_`, and get an `x` before them.
 */
export function authorityOf(host: string, release: Release): string {
  const labels = host.toLowerCase().split('.').reverse()
  const isName = labels.length > 1 && !/^\d+$/.test(labels[0] ?? '') && !host.includes(':')
  if (!isName) return 'localhost.souk'
  if (releaseRules[release].hasDnsLabels) return labels.join('.')
  return labels.map((label) => label.replaceAll('-', '_').replace(/^(?=\d)/, 'x')).join('.')
}
