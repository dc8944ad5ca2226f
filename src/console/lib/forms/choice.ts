import type { ComponentChildren } from 'preact'

/** A record that may be chosen, as it is shown. */
export type Choice = {
  readonly id: string
  readonly text: string
  readonly detail?: string | undefined
  /** Stands before it, such as a small picture. */
  readonly before?: ComponentChildren
}
