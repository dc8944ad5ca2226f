import { notFoundMessage, type UcpMessage } from './messages.ts'
import { type Capability, capabilityNames, fullNameOf, type Release } from './releases.ts'

/** The platform that sends a request. */
export type Platform = {
  /** URL of its profile; null for an unnamed platform. */
  readonly profile: string | null
  /** Whether a signature of a key in that profile covers the request. */
  readonly isProven: boolean
  readonly release: Release
  /** The capabilities that the shop and the platform have in common. */
  readonly capabilities: ReadonlySet<Capability>
  /** URL for messages about orders; null if its profile names none. */
  readonly webhookUrl: string | null
}

/** The `ucp` member of an answer. */
type UcpEnvelope = {
  version: Release
  status: 'success' | 'error'
  capabilities?: Record<string, { version: Release }[]>
}

/** Capabilities that an answer of each kind may name. */
const ofKind = {
  checkout: ['checkout', 'fulfillment', 'discount'],
  cart: ['cart', 'discount'],
  order: ['order'],
  search: ['catalog.search'],
  lookup: ['catalog.lookup'],
} as const satisfies Record<string, readonly Capability[]>
type AnswerKind = keyof typeof ofKind

/** Returns the envelope of an answer with a resource: the version and the active capabilities of its kind. */
export function envelopeOf({ release, capabilities }: Pick<Platform, 'release' | 'capabilities'>, kind: AnswerKind): UcpEnvelope {
  const active = capabilityNames.filter((name) => (ofKind[kind] as readonly Capability[]).includes(name) && capabilities.has(name))
  return {
    version: release,
    status: 'success',
    capabilities: Object.fromEntries(active.map((name) => [fullNameOf(name), [{ version: release }]])),
  }
}

/** An answer without a resource. */
export type UcpRefusal = { ucp: UcpEnvelope; messages: UcpMessage[] }

/** Returns an answer without a resource. Its HTTP status is 200. */
export const refusalOf = (release: Release, ...messages: UcpMessage[]): UcpRefusal => ({
  ucp: { version: release, status: 'error' },
  messages,
})

/** Returns the answer for a record that does not exist or is another platform's. */
export const notFoundAnswer = ({ release }: Pick<Platform, 'release'>): UcpRefusal => refusalOf(release, notFoundMessage)
