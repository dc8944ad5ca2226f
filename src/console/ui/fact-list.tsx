import type { ComponentChildren } from 'preact'

/** A list of names with their values. */
export const FactList = ({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren])[] }) => (
  <dl class="facts">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value == null || value === false || value === '' ? '–' : value}</dd>
      </div>
    ))}
  </dl>
)
