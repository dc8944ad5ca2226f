import { height, sparklinePath, width } from '../lib/format/sparkline-path.ts'

/** A small line without axes; the figures stand beside it. */
export const Sparkline = ({ values }: { values: readonly (number | null)[] }) => (
  <svg class="spark" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
    <path d={sparklinePath(values)} />
  </svg>
)
