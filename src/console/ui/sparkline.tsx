import { height, sparklinePath, width } from '../lib/format/sparkline-path.ts'

/** A plot so small that it only shows which way it goes: the figures stand beside it or on the page that it leads to. */
export const Sparkline = ({ values }: { values: readonly (number | null)[] }) => (
  <svg class="spark" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
    <path d={sparklinePath(values)} />
  </svg>
)
