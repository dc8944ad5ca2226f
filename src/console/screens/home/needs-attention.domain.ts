/** What needs attention, with links. */
import type { Schema } from '../../lib/api/api.ts'

type Counts = Schema<'Overview'>['waiting']
type Name = Exclude<keyof Counts, 'webhooks'> | 'webhooksDisabled' | 'webhooksFailing' | 'undelivered'
/** @property text replaces the name of the state */
type Link = { readonly path: readonly string[]; readonly query: string; readonly state?: string; readonly text?: string }

export type AttentionItem = {
  readonly name: Name
  readonly n: number
  /** Whether the real number is larger. */
  readonly capped: boolean
  readonly tone: 'bad' | 'warn' | 'plain'
  readonly links: readonly Link[]
}

const orders = (name: 'status' | 'paymentStatus', state: string): Link => ({ path: ['orders'], query: `?${name}=${state}`, state })
const ordersToSend: Link = { path: ['orders'], query: '?toFulfil=true', state: 'CONFIRMED' }
const refunds = (state: string): Link => ({ path: ['orders', 'refunds'], query: `?status=${state}`, state })
const returns = (state: string): Link => ({ path: ['orders', 'returns'], query: `?status=${state}`, state })
const orderLink = ({ id, number }: Counts['disputes']['orders'][number]): Link => ({ path: ['orders', id], query: '', text: `#${number}` })
const webhooks: Link = { path: ['settings', 'webhooks'], query: '' }

/** Sorted by urgency. Disputes link to their orders, because the order list cannot filter by them. */
const kinds: readonly {
  readonly name: Exclude<keyof Counts, 'webhooks'>
  readonly tone: AttentionItem['tone']
  readonly links: readonly Link[]
}[] = [
  { name: 'disputes', tone: 'bad', links: [] },
  { name: 'refundsManual', tone: 'bad', links: [refunds('MANUAL')] },
  { name: 'ordersStuck', tone: 'bad', links: [orders('status', 'PAID'), orders('status', 'COMPENSATING')] },
  { name: 'ordersToSend', tone: 'plain', links: [ordersToSend] },
  { name: 'returnsRequested', tone: 'plain', links: [returns('REQUESTED')] },
  { name: 'returnsApproved', tone: 'plain', links: [returns('APPROVED')] },
  { name: 'paymentsProcessing', tone: 'warn', links: [orders('paymentStatus', 'PROCESSING')] },
  { name: 'refundsClaimable', tone: 'warn', links: [refunds('CLAIMABLE')] },
  { name: 'lowStock', tone: 'warn', links: [{ path: ['products', 'low-stock'], query: '' }] },
  { name: 'drafts', tone: 'plain', links: [{ path: ['orders', 'drafts'], query: '?status=OPEN' }] },
]

/** Returns the non-zero counts that the role may read. */
export function attentionItems(counts: Counts): readonly AttentionItem[] {
  const orderItems = kinds.map(({ name, tone, links }) => {
    const count = counts[name]
    const itemLinks = name === 'disputes' ? counts.disputes.orders.map(orderLink) : links
    return { name, tone, links: itemLinks, n: count?.total ?? 0, capped: count?.totalCapped ?? false }
  })
  const webhookCounts = counts.webhooks
  const webhookItems: readonly AttentionItem[] =
    webhookCounts === null
      ? []
      : [
          { name: 'webhooksDisabled', tone: 'bad', links: [webhooks], n: webhookCounts.disabled, capped: false },
          { name: 'webhooksFailing', tone: 'warn', links: [webhooks], n: webhookCounts.failing, capped: false },
          {
            name: 'undelivered',
            tone: 'warn',
            links: [webhooks],
            n: webhookCounts.undelivered.total,
            capped: webhookCounts.undelivered.totalCapped ?? false,
          },
        ]
  return [...orderItems, ...webhookItems].filter(({ n }) => n > 0)
}
