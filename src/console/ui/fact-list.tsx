import type { ComponentChildren } from 'preact'

/** Names and what they are, one under the other. */
export const FactList = ({ of }: { of: readonly (readonly [name: string, value: ComponentChildren])[] }) => (
  <dl class="facts">
    {of.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value == null || value === false || value === '' ? '–' : value}</dd>
      </div>
    ))}
  </dl>
)
