import type { ComponentChildren } from 'preact'
import { percentChange } from '../lib/format/format.ts'
import { common } from '../lib/i18n/common.ts'

/** Shows a change, given as a fraction. */
export const PercentChange = ({ change }: { change: number | null | undefined }) =>
  change == null ? null : (
    <span class={change >= 0 ? 'change up' : 'change down'}>
      <bdi>{percentChange(change)}</bdi>
    </span>
  )

/**
 * Shows a figure with its name and previous value.
 * @param note explains it
 */
export function Figure({
  name,
  value,
  previous,
  change,
  href,
  note,
}: {
  name: string
  value: ComponentChildren
  previous?: string
  change?: number | null
  href?: string
  note?: string
}) {
  const content = (
    <>
      <span class="figure-name">{name}</span>
      <strong>{value}</strong>
      <PercentChange change={change} />
      {previous !== undefined && <small class="faint">{common('previousPeriod', { value: previous })}</small>}
      {note && <small class="faint">{note}</small>}
    </>
  )
  return href ? (
    <a class="figure" href={href}>
      {content}
    </a>
  ) : (
    <div class="figure">{content}</div>
  )
}
