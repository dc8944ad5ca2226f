/** What the operations' pages are told of services, errors and deploys, whoever tells it. `clients/operations/` asks those outside. */

export const serviceStates = ['steady', 'rolling', 'degraded', 'unknown'] as const
export type ServiceState = (typeof serviceStates)[number]

/** A service that runs somewhere: how many of it are wanted, run, and are about to run. */
export type ServiceStatus = {
  readonly service: string
  readonly desired: number
  readonly running: number
  readonly pending: number
  /** What runs, as the provider names it; `unknown` where it names nothing. */
  readonly revision: string
  readonly state: ServiceState
}

/** One kind of error of the last 24 hours. `lastSeen`: ISO 8601. */
export type ErrorGroup = { readonly id: string; readonly title: string; readonly count: number; readonly lastSeen: string }
/** A project's errors of the last 24 hours: how many, of how many kinds that nobody has resolved, and the most frequent ones. */
export type ErrorProject = {
  readonly project: string
  readonly events: number
  readonly unresolved: number
  readonly top: readonly ErrorGroup[]
}

export type SourceChange = { readonly sha: string; readonly title: string; readonly author: string; readonly url: string }
/** The latest deploy of a service that succeeded. `deployedAt`: ISO 8601; `change` is null where nobody knows what was changed. */
export type Deploy = {
  readonly service: string
  readonly environment: string
  readonly revision: string
  readonly deployedAt: string
  readonly change: SourceChange | null
}

/** Over which errors are counted. */
export const errorWindowHours = 24
/** Of one project. */
export const topErrors = 5

/** Somebody who tells something, over the network or from here. */
export type Provider<Item> = {
  /** One word, as the settings have it. */
  readonly name: string
  /** What is asked, in words that change when another account or another server is: an answer of another one is not shown. */
  readonly source: string
  /** Asks for all of it. @throws ProviderError where there is no answer, or none that makes sense */
  ask(): Promise<readonly Item[]>
}

/** A provider did not answer, refused, or said what makes no sense. The message is for the log: it holds nothing that was answered. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  constructor(
    message: string,
    /** Before that it is not to be asked again, in milliseconds from now. */
    readonly retryAfterMs?: number,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}
