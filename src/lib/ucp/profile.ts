/** The profile of a shop, by which platforms learn what it serves. */
import { paymentHandlersOf } from './handlers.ts'
import {
  type Capability,
  capabilities,
  capabilityNames,
  fullNameOf,
  newestRelease,
  type Release,
  releaseRules,
  releases,
  serviceName,
} from './releases.ts'
import type { PublicJwk } from './signing-key.ts'

const protocolUrl = 'https://ucp.dev'
const everything: ReadonlySet<Capability> = new Set(capabilityNames)
const catalogAndCart: ReadonlySet<Capability> = new Set(['cart', 'catalog.search', 'catalog.lookup'])

/** Returns the capabilities that a shop serves. Without a way to pay these are catalog and carts. */
export const servedCapabilities = (canBePaid: boolean): ReadonlySet<Capability> => (canBePaid ? everything : catalogAndCart)

const profilePath = '/.well-known/ucp'
/** Returns the path of the profile in a release. */
export const profilePathOf = (release: Release): string => (release === newestRelease ? profilePath : `${profilePath}/${release}`)

/** What a shop's profile is built from. */
type ProfileFacts = {
  /** Origin of the request for the profile, such as `https://shop.example`. */
  readonly origin: string
  /** URL of this instance, without a trailing slash. */
  readonly publicUrl: string
  /** Base URL of the shop's routes for agents. */
  readonly endpoint: string
  readonly mode: 'TEST' | 'LIVE'
  readonly capabilities: ReadonlySet<Capability>
  readonly keys: readonly { readonly kid: string; readonly publicKey: PublicJwk }[]
}

/** Returns the profile of a shop in a release. */
export function profileOf({ origin, publicUrl, endpoint, mode, capabilities: served, keys }: ProfileFacts, release: Release) {
  const servedNames = capabilityNames.filter((name) => served.has(name))
  const olderReleases = releases.filter((one) => one !== newestRelease)
  const service = { version: release, spec: `${protocolUrl}/${release}/specification/overview` }
  const schemaOf = (file: string) => `${protocolUrl}/${release}/services/shopping/${file}`
  return {
    ucp: {
      version: release,
      ...(release === newestRelease
        ? { supported_versions: Object.fromEntries(olderReleases.map((one) => [one, origin + profilePathOf(one)])) }
        : {}),
      services: {
        [serviceName]: [
          { ...service, transport: 'rest', endpoint, schema: schemaOf('rest.openapi.json') },
          { ...service, transport: 'mcp', endpoint: `${endpoint}/mcp`, schema: schemaOf('mcp.openrpc.json') },
        ],
      },
      capabilities: Object.fromEntries(servedNames.map((name) => [fullNameOf(name), [capabilityEntry(name, served, release)]])),
      payment_handlers: served.has('checkout') ? paymentHandlersOf(mode, publicUrl, release) : {},
    },
    [releaseRules[release].keysField]: keys.map(({ kid, publicKey }) => ({ kid, ...publicKey, use: 'sig', alg: 'ES256' })),
  }
}

function capabilityEntry(name: Capability, served: ReadonlySet<Capability>, release: Release) {
  const parents = (capabilities[name] as readonly Capability[]).filter((parent) => served.has(parent)).map(fullNameOf)
  return {
    version: release,
    spec: `${protocolUrl}/${release}/specification/${name.replace('.', '/')}`,
    schema: `${protocolUrl}/${release}/schemas/shopping/${name.replace('.', '_')}.json`,
    ...(parents.length === 0 ? {} : { extends: parents.length === 1 ? parents[0] : parents }),
  }
}
