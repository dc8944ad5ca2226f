import type { Money as Amount } from '../../lib/format/format.ts'
import { Money } from '../../ui/money.tsx'

/** A list of amounts with their sum. */
export const TotalsList = ({ of }: { of: readonly (readonly [name: string, amount: Amount, look?: 'sum' | 'minus'])[] }) => (
  <dl class="totals">
    {of.map(([name, amount, look], place) => (
      <div key={place} class={look === 'sum' ? 'sum' : undefined}>
        <dt>
          <bdi>{name}</bdi>
        </dt>
        <dd>
          <Money of={look === 'minus' ? { ...amount, amount: -amount.amount } : amount} />
        </dd>
      </div>
    ))}
  </dl>
)
