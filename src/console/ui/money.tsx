import { type Money as Amount, money } from '../lib/format/format.ts'

/** Shows an amount, with its minor units for programs. */
export const Money = ({ of }: { of: Amount }) => <data value={of.amount}>{money(of)}</data>
