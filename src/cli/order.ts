/** `souk order show` and `souk orders stuck`: what an operator on call needs to know about orders. */

import type { Database } from '../../db/engine.ts'
import { minuteMs } from '../lib/day.ts'
import { decimalOf, decimalsOf, type Money } from '../lib/money.ts'
import { diagnoseOrder, type OrderDiagnosis, type StuckOrder, stuckOrders } from '../modules/selling/order/index.ts'
import type { Input } from './command.ts'
import { countText } from './count-text.ts'
import { readOnlyDeps, withDatabase } from './database-command.ts'
import { integerFlag, UsageError } from './failure.ts'
import { unknownText } from './suggestion.ts'

const stuckStatus = 1
const depsOf = (db: Database) => ({ ...readOnlyDeps, db })

/** `souk order show ID`, or `NUMBER --shop NAME`. */
export async function order({ config: settings, positionals: [what, which = ''], values, switches }: Input): Promise<number> {
  if (what !== 'show') throw new UsageError(`${unknownText('argument', what ?? '', ['show'])} Use \`souk order show\`.`)
  const query = findOrder(which, values.get('shop'))
  const diagnosis = await withDatabase(settings(), (db) => diagnoseOrder(depsOf(db), query))
  process.stdout.write(switches.has('json') ? `${JSON.stringify(diagnosis, undefined, 2)}\n` : textOf(diagnosis))
  return 0
}

/** @throws UsageError */
function findOrder(which: string, shopName: string | undefined): { id: string } | { number: number; shopName: string } {
  const [, digits] = /^#?(\d{1,9})$/.exec(which) ?? []
  if (digits === undefined) {
    if (!which.startsWith('order_')) throw new UsageError("Use the order's id (order_…), or its number and --shop NAME")
    if (shopName !== undefined) throw new UsageError('--shop is used with an order number only, not with an id')
    return { id: which }
  }
  if (shopName === undefined) throw new UsageError('Add --shop NAME: order numbers are per shop')
  return { number: Number(digits), shopName }
}

const olderThanDefault = 5
const limitDefault = 50
const limitMax = 10_000

/**
 * `souk orders stuck`.
 * @returns 1 if there is one
 */
export async function orders({ config: settings, positionals: [what], values, switches }: Input): Promise<number> {
  if (what !== 'stuck') throw new UsageError(`${unknownText('argument', what ?? '', ['stuck'])} Use \`souk orders stuck\`.`)
  const minutes = integerFlag(values, 'older-than', 0, 1_000_000) ?? olderThanDefault
  const limit = integerFlag(values, 'limit', 1, limitMax) ?? limitDefault
  const stuck = await withDatabase(settings(), (db) => stuckOrders(depsOf(db), { olderThanMs: minutes * minuteMs, limit }))
  if (switches.has('json')) process.stdout.write(`${JSON.stringify(stuck, undefined, 2)}\n`)
  else process.stdout.write(stuckText(stuck, minutes))
  return stuck.total > 0 ? stuckStatus : 0
}

function stuckText({ total, orders: all }: { total: number; orders: readonly StuckOrder[] }, minutes: number): string {
  if (total === 0) return 'No stuck orders.\n'
  const more = total > all.length ? [`and ${total - all.length} more (see --limit)`] : []
  const head = `${countText(total, 'stuck order')}, without a change for ${minutes} minutes:`
  return `${[head, '', ...all.flatMap(stuckLines), ...more].join('\n')}\n`
}

const stuckLines = ({ id, number, shopId, status, since, why, next }: StuckOrder): string[] => [
  `${id}  #${number} of ${shopId}  ${status}  since ${since}`,
  `  why   ${why}`,
  ...next.map((step) => `  next  ${stepText(step)}`),
  '',
]

const stepText = ({ what, at }: { what: string; at: string | null }) => (at === null ? what : `${what}, at ${at}`)
const moneyText = ({ amount, currency }: Money) => `${decimalOf(amount, decimalsOf(currency))} ${currency}`

/** Describes an order for people: state, records, events and next steps. */
function textOf(diagnosis: OrderDiagnosis): string {
  const { shop, payments, refunds, disputes, parcels, messages, webhooks, events } = diagnosis
  const parts: (readonly [head: string, lines: readonly string[]])[] = [
    ['PAYMENTS', payments.map(rowOf)],
    ['REFUNDS', refunds.map(rowOf)],
    ['DISPUTES', disputes.map(rowOf)],
    ['SHIPMENTS', parcels.map(rowOf)],
    ['MESSAGES FROM PROCESSORS', messages.map(rowOf)],
    ['WEBHOOK DELIVERIES', webhooks.map(rowOf)],
    ['EVENTS', events.map(({ at, type, actor, detail }) => `${at}  ${type}  by ${actor}${optionalText(fieldsOf(detail))}`)],
  ]
  const head = [
    `${diagnosis.id}  #${diagnosis.number} of ${shop.name ?? shop.id} (${shop.id}), ${diagnosis.mode}`,
    `  status      ${diagnosis.status}, payment ${diagnosis.paymentStatus}, fulfilment ${diagnosis.fulfilmentStatus}, stock and gift cards ${diagnosis.holds}`,
    `  customer    ${diagnosis.customerId ?? 'a guest'}`,
    `  total       ${moneyText(diagnosis.total)}: ${moneyText(diagnosis.giftCardTotal)} by gift cards, ${moneyText(diagnosis.amountDue)} by a processor`,
    `  captured    ${moneyText(diagnosis.capturedTotal)}; refunded: ${moneyText(diagnosis.refundedTotal)}, to gift cards ${moneyText(diagnosis.giftCardRefundedTotal)}`,
    `  placed      ${diagnosis.createdAt}, confirmed ${diagnosis.confirmedAt ?? 'never'}, changed ${diagnosis.updatedAt}`,
  ]
  const next = [
    'NEXT',
    ...(diagnosis.why === null ? [] : [`  because  ${diagnosis.why}`]),
    ...diagnosis.next.map((step) => `  ${stepText(step)}`),
  ]
  const sectionLines = parts.flatMap(([title, lines]) => (lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)]))
  return `${[...head, '', ...next, ...sectionLines].join('\n')}\n`
}

const optionalText = (text: string) => (text === '' ? '' : `  ${text}`)

/** Returns a record as one line without null values. */
const rowOf = ({ id, ...fields }: { readonly id: string } & Readonly<Record<string, unknown>>): string =>
  `${id}${optionalText(fieldsOf(fields))}`

const fieldsOf = (fields: Readonly<Record<string, unknown>>): string =>
  Object.entries(fields)
    .filter(([, value]) => value !== null && !(typeof value === 'object' && Object.keys(value as object).length === 0))
    .map(([name, value]) => `${name}=${valueText(value)}`)
    .join(' ')

function valueText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  const { amount, currency } = value as Partial<Money>
  return amount !== undefined && currency !== undefined ? moneyText({ amount, currency }) : JSON.stringify(value)
}
