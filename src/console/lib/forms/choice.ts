/** A record as a picker shows it. */
export type Choice = {
  readonly id: string
  readonly text: string
  readonly detail?: string | undefined
}
