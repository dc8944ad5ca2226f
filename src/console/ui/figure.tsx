import type { ComponentChildren } from 'preact'
import { percentChange } from '../lib/format/format.ts'
import { common } from '../lib/i18n/common.ts'

/** Shows a change, given as a fraction. */
export const PercentChange = ({ of }: { of: number | null | undefined }) =>
  of == null ? null : (
    <span class={of >= 0 ? 'change up' : 'change down'}>
      <bdi>{percentChange(of)}</bdi>
    </span>
  )

/**
 * Shows a figure with its name and previous value.
 * @param note explains it
 */
export function Figure({
  name,
  value,
  before,
  change,
  href,
  note,
}: {
  name: string
  value: ComponentChildren
  before?: string
  change?: number | null
  href?: string
  note?: string
}) {
  const inner = (
    <>
      <span class="figure-name">{name}</span>
      <strong>{value}</strong>
      <PercentChange of={change} />
      {before !== undefined && <small class="faint">{common('previousPeriod', { value: before })}</small>}
      {note && <small class="faint">{note}</small>}
    </>
  )
  return href ? (
    <a class="figure" href={href}>
      {inner}
    </a>
  ) : (
    <div class="figure">{inner}</div>
  )
}
