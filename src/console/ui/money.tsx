import { type Money as Amount, money } from '../lib/format/format.ts'

/** An amount, with its minor units for programs that read the page. */
export const Money = ({ of }: { of: Amount }) => <data value={of.amount}>{money(of)}</data>
