/** Types of services, errors and deploys on the operations pages. `clients/operations/` queries the providers. */

export const serviceStates = ['steady', 'rolling', 'degraded', 'unknown'] as const
/** The state of a service on the operations pages. */
export type ServiceState = (typeof serviceStates)[number]

/** A running service with its desired, running and pending instances. */
export type ServiceStatus = {
  readonly service: string
  readonly desired: number
  readonly running: number
  readonly pending: number
  /** Revision that the provider reports; `unknown` if none. */
  readonly revision: string
  readonly state: ServiceState
}

/** One kind of error of the last 24 hours. `lastSeen`: ISO 8601. */
export type ErrorGroup = { readonly id: string; readonly title: string; readonly count: number; readonly lastSeen: string }
/** Errors of a project in the last 24 hours: events, unresolved kinds, and the most frequent kinds. */
export type ErrorProject = {
  readonly project: string
  readonly events: number
  readonly unresolved: number
  readonly top: readonly ErrorGroup[]
}

/** The commit that a deploy contains. */
export type SourceChange = { readonly sha: string; readonly title: string; readonly author: string; readonly url: string }
/** The latest successful deploy of a service. `deployedAt`: ISO 8601. `change`: null if unknown. */
export type Deploy = {
  readonly service: string
  readonly environment: string
  readonly revision: string
  readonly deployedAt: string
  readonly change: SourceChange | null
}

/** Time window of error counts. */
export const errorWindowHours = 24
/** Kinds shown per project. */
export const topErrors = 5

/** A source of operations data, remote or local. */
export type Provider<Item> = {
  /** Name in the settings. */
  readonly name: string
  /** Identifies the account and the server, so that a cached response of another one is not shown. */
  readonly source: string
  /**
   * Fetches all items.
   * @throws ProviderError without a valid response
   */
  ask(): Promise<readonly Item[]>
}

/**
 * The provider did not respond, refused, or sent an invalid response. The message is for the log and contains nothing
 * of the response.
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  constructor(
    message: string,
    /** Earliest retry, in milliseconds from now. */
    readonly retryAfterMs?: number,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}
