import type { ComponentChildren } from 'preact'
import { percentChange } from '../lib/format/format.ts'
import { common } from '../lib/i18n/common.ts'

/** By how much something is more than it was before, as a part of one. */
export const PercentChange = ({ of }: { of: number | null | undefined }) =>
  of == null ? null : (
    <span class={of >= 0 ? 'change up' : 'change down'}>
      <bdi>{percentChange(of)}</bdi>
    </span>
  )

/** A figure under its name, with how it was before. @param note what it is made of */
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
