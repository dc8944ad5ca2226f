import { type Money as Amount, money } from '../lib/format/format.ts'

/** Shows an amount, with its minor units for programs. */
export const Money = ({ amount }: { amount: Amount }) => <data value={amount.amount}>{money(amount)}</data>
