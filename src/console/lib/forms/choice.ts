import type { ComponentChildren } from 'preact'

/** A record as a picker shows it. */
export type Choice = {
  readonly id: string
  readonly text: string
  readonly detail?: string | undefined
  /** Shown before the text, such as a thumbnail. */
  readonly before?: ComponentChildren
}
