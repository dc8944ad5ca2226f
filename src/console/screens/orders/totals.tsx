import type { Money as Amount } from '../../lib/format/format.ts'
import { Money } from '../../ui/money.tsx'

/** A list of amounts with their sum. */
export const TotalsList = ({ rows }: { rows: readonly (readonly [name: string, amount: Amount, kind?: 'sum' | 'minus'])[] }) => (
  <dl class="totals">
    {rows.map(([name, amount, kind], index) => (
      <div key={index} class={kind === 'sum' ? 'sum' : undefined}>
        <dt>
          <bdi>{name}</bdi>
        </dt>
        <dd>
          <Money amount={kind === 'minus' ? { ...amount, amount: -amount.amount } : amount} />
        </dd>
      </div>
    ))}
  </dl>
)
