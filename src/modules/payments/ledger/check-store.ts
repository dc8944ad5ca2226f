import { sql } from 'drizzle-orm'
import { columnValue } from '../../../../db/columns.ts'
import { paymentMessages } from '../../../../db/schema/payments.ts'
import { type CheckContext, checkRules, type Finding, problemsMax, type Rule } from '../../../core/integrity-check.ts'

// Built on demand: only `souk check` needs it, and this file may be bundled before its library.
/** The sums that must agree. */
const books = (): readonly Rule[] => [
  {
    subject: 'gift cards',
    broken: sql`
      select c.id as id, c.balance as kept, coalesce(sum(t.amount), 0) as counted
      from gift_cards c left join gift_card_transactions t on t.gift_card_id = c.id
      group by c.id, c.balance, c.initial_amount
      having c.balance <> coalesce(sum(t.amount), 0) or c.balance < 0 or c.balance > c.initial_amount
      order by c.id`,
    say: ({ id, kept, counted }) => `Gift card ${id} holds ${kept}, and its transactions add up to ${counted}`,
  },
  {
    subject: 'gift cards of orders',
    broken: sql`
      with moved as (
        select order_id, gift_card_id, sum(amount) as n from gift_card_transactions where order_id is not null group by order_id, gift_card_id)
      select g.order_id as id, coalesce(m.n, 0) as kept
      from order_gift_cards g
        join orders o on o.id = g.order_id
        left join moved m on m.order_id = g.order_id and m.gift_card_id = g.gift_card_id
      where coalesce(m.n, 0) <> case when o.holds <> 'RELEASED' then g.refunded - g.amount else 0 end
      order by g.order_id`,
    say: ({ id, kept }) => `Of order ${id}, a gift card paid ${-Number(kept)}, which differs from the order`,
  },
  {
    subject: 'money owed',
    broken: sql`
      with on_the_way as (
        select order_id, sum(amount) as n from refunds
        where status in ('PENDING', 'CLAIMABLE', 'MANUAL') and purpose <> 'LATE_CAPTURE' group by order_id)
      select o.id as id, o.captured_total - o.refunded_total - coalesce(w.n, 0) as kept
      from orders o left join on_the_way w on w.order_id = o.id
      where o.status in ('EXPIRED', 'CANCELLED') and o.captured_total - o.refunded_total > coalesce(w.n, 0)
      order by o.id`,
    say: ({ id, kept }) => `Order ${id} was never sold, and ${kept} of it is not refunded`,
  },
  {
    subject: 'stock',
    broken: sql`
      with promised as (
        select l.variant_id as id, sum(l.quantity) as n
        from order_lines l
          join orders o on o.id = l.order_id and o.holds = 'HELD'
        where l.tracked
        group by l.variant_id)
      select v.id as id, v.reserved as kept, coalesce(p.n, 0) as counted
      from variants v left join promised p on p.id = v.id
      where v.reserved <> coalesce(p.n, 0)
      order by v.id`,
    say: ({ id, kept, counted }) => `Variant ${id} has ${kept} reserved, and held orders need ${counted}`,
  },
  {
    subject: 'orders',
    broken: sql`
      with of_lines as (
        select order_id, sum(total) as n, sum(discount) as off,
          sum(case when tax_inclusive then 0 else tax_amount end) as tax, sum(case when tax_inclusive then tax_amount else 0 end) as included,
          sum(case when total = unit_price * quantity and discount between 0 and total then 0 else 1 end) as wrong
        from order_lines group by order_id),
      of_cards as (select order_id, sum(amount) as n from order_gift_cards group by order_id)
      select o.id as id
      from orders o left join of_lines l on l.order_id = o.id left join of_cards c on c.order_id = o.id
      where o.total <> o.subtotal - o.discount_total + o.shipping_total + o.tax_total
        or o.amount_due <> o.total - o.gift_card_total
        or o.refunded_total > o.captured_total or o.gift_card_refunded_total > o.gift_card_total
        or o.subtotal <> coalesce(l.n, 0) or o.discount_total <> coalesce(l.off, 0) or l.wrong > 0
        or o.tax_total <> coalesce(l.tax, 0) + case when o.shipping_tax_inclusive then 0 else o.shipping_tax end
        or o.tax_included <> coalesce(l.included, 0) + case when o.shipping_tax_inclusive then o.shipping_tax else 0 end
        or o.gift_card_total <> coalesce(c.n, 0)
      order by o.id`,
    say: ({ id }) => `The amounts of order ${id} do not add up`,
  },
  {
    subject: 'discounts',
    broken: sql`
      with uses as (
        select u.discount_id as id, count(*) as n
        from discount_uses u join discounts d on d.id = u.discount_id join shops s on s.id = d.shop_id and s.mode = u.mode
        group by u.discount_id)
      select d.id as id, d.used as kept, coalesce(u.n, 0) as counted
      from discounts d left join uses u on u.id = d.id
      where d.usage_limit is not null and d.used <> coalesce(u.n, 0)
      order by d.id`,
    say: ({ id, kept, counted }) => `Discount ${id} counts ${kept} uses, and ${counted} orders have it`,
  },
  {
    subject: 'money of orders',
    // Late and excess captures, and their refunds, are not part of an order. Gift cards get their part once a refund is
    // assured.
    broken: sql`
      with came as (select order_id, sum(captured) as n from payments group by order_id),
      went as (
        select order_id,
          sum(case when purpose = 'LATE_CAPTURE' and status <> 'FAILED' then amount else 0 end) as late,
          sum(case when purpose <> 'LATE_CAPTURE' and status = 'SUCCEEDED' then amount else 0 end) as n,
          sum(case when purpose <> 'LATE_CAPTURE' and status in ('SUCCEEDED', 'CLAIMABLE', 'MANUAL') then gift_card_amount else 0 end) as cards
        from refunds group by order_id),
      money as (
        select o.id, o.captured_total, o.refunded_total, o.gift_card_refunded_total, o.payment_status,
          coalesce(c.n, 0) - coalesce(w.late, 0) as captured, coalesce(w.n, 0) as refunded, coalesce(w.cards, 0) as cards,
          case when o.confirmed_at is null or o.total = 0 then o.payment_status
            when o.refunded_total + o.gift_card_refunded_total = 0 then 'CAPTURED'
            when o.refunded_total = o.captured_total and o.gift_card_refunded_total = o.gift_card_total then 'REFUNDED'
            else 'PARTIALLY_REFUNDED' end as is_now
        from orders o left join came c on c.order_id = o.id left join went w on w.order_id = o.id)
      select id, captured_total as kept, captured, refunded_total + gift_card_refunded_total as back, refunded + cards as refunded, payment_status as said
      from money
      where captured_total <> captured or refunded_total <> refunded or gift_card_refunded_total <> cards or payment_status <> is_now
        or (payment_status = 'REFUNDED' and refunded_total <> captured_total)
      order by id`,
    say: ({ id, kept, captured, back, refunded, said }) =>
      `Order ${id} is ${said} with ${kept} captured and ${back} refunded, and its payments and refunds have ${captured} and ${refunded}`,
  },
  {
    subject: 'order numbers',
    broken: sql`
      select o.shop_id as id, count(*) as counted, max(o.number) as kept, coalesce(n.last, 0) as drawn
      from orders o left join order_numbers n on n.shop_id = o.shop_id
      group by o.shop_id, n.last
      having count(*) <> max(o.number) or min(o.number) <> 1 or coalesce(n.last, 0) <> max(o.number)
      order by o.shop_id`,
    say: ({ id, counted, kept, drawn }) =>
      `Shop ${id} has ${counted} orders with numbers up to ${kept}, and its counter stands at ${drawn}`,
  },
  {
    subject: 'credit notes',
    broken: sql`
      select c.shop_id as id, count(*) as counted, max(c.number) as kept, coalesce(n.last, 0) as drawn
      from credit_notes c left join credit_note_numbers n on n.shop_id = c.shop_id and n.mode = c.mode
      group by c.shop_id, c.mode, n.last
      having count(*) <> max(c.number) or coalesce(n.last, 0) <> max(c.number)
      order by c.shop_id`,
    say: ({ id, counted, kept, drawn }) =>
      `Shop ${id} has ${counted} credit notes with numbers up to ${kept}, and their counter is at ${drawn}`,
  },
  {
    subject: 'amounts of payments',
    broken: sql`
      select p.id as id, o.id as of_order, p.amount as amount, o.amount_due as due, p.authorized as authorized, p.captured as captured
      from payments p join orders o on o.id = p.order_id
      where p.amount <> o.amount_due or p.authorized < p.captured
      order by p.id`,
    say: ({ id, of_order: order, amount, due, authorized, captured }) =>
      `Payment ${id} is of ${amount}, with ${authorized} authorized and ${captured} captured, and order ${order} has ${due} due`,
  },
  {
    subject: 'payments',
    broken: sql`
      with back as (
        select payment_id, sum(case when status = 'SUCCEEDED' then amount else 0 end) as n,
          sum(case when purpose in ('COMPENSATE', 'LATE_CAPTURE') then amount else 0 end) as owed
        from refunds r
        where payment_id is not null
          and (status = 'SUCCEEDED' or exists (select 1 from unified_transactions t where t.key = 'refund-reversed:' || r.id))
        group by payment_id),
      paid as (
        select p.id, p.captured, p.refunded, coalesce(b.n, 0) as back,
          coalesce(b.owed, 0) + case when o.confirmed_at is null or p.status <> 'CAPTURED' then 0
            when p.captured < o.amount_due then p.captured else o.amount_due end as owned,
          (select coalesce(sum(t.amount), 0) from unified_transactions t
            where t.order_id = p.order_id and t.kind = 'CAPTURE' and (t.key = 'capture:' || p.id or t.key like 'capture:' || p.id || ':%')) as booked
        from payments p join orders o on o.id = p.order_id left join back b on b.payment_id = p.id)
      select id, captured, refunded, back, owned, booked from paid
      where refunded <> back or captured < refunded or booked <> owned
      order by id`,
    say: ({ id, captured, refunded, back, owned, booked }) =>
      `Payment ${id} has ${captured} captured and ${refunded} refunded: its refunds add up to ${back}, and the books have ${booked} of ${owned}`,
  },
  {
    subject: 'refunds',
    // A reversed refund was booked back; one paid by hand has its own row.
    broken: sql`
      with booked as (
        select r.id, r.amount, r.gift_card_amount, r.status,
          coalesce(t.amount, 0) + coalesce(s.amount, 0) - coalesce(b.amount, 0) as n,
          (select coalesce(sum(c.amount), 0) from unified_transactions c
            where c.order_id = r.order_id and c.kind = 'GIFT_CARD_REFUND' and c.key like 'gift-card-refund:' || r.id || ':%') as cards
        from refunds r
          left join unified_transactions t on t.key = 'refund:' || r.id
          left join unified_transactions s on s.key = 'refund-settled:' || r.id
          left join unified_transactions b on b.key = 'refund-reversed:' || r.id)
      select id, amount + gift_card_amount as kept, n + cards as counted from booked
      where n <> case when status = 'SUCCEEDED' then amount else 0 end
        or cards <> case when status in ('SUCCEEDED', 'CLAIMABLE', 'MANUAL') then gift_card_amount else 0 end
      order by id`,
    say: ({ id, kept, counted }) => `Refund ${id} of ${kept} is ${counted} in the books`,
  },
  {
    subject: 'disputes',
    // Disputes in another currency than their payment's are recorded, not booked.
    broken: sql`
      with booked as (
        select d.id, d.amount, d.status,
          coalesce(t.amount, 0) + coalesce(l.amount, 0) - coalesce(w.amount, 0) as n,
          case when d.status <> 'WON' and d.currency = p.currency then d.amount else 0 end as owned
        from disputes d
          join payments p on p.id = d.payment_id
          left join unified_transactions t on t.key = 'dispute:' || d.id
          left join unified_transactions l on l.key = 'dispute-lost:' || d.id
          left join unified_transactions w on w.key = 'dispute-won:' || d.id)
      select id, status as said, owned as kept, n as counted from booked where n <> owned order by id`,
    say: ({ id, said, kept, counted }) => `Dispute ${id} is ${said}: it took ${kept}, and ${counted} in the books`,
  },
  {
    subject: 'books',
    broken: sql`
      select o.id as id, o.total as kept, coalesce(sum(t.amount), 0) as counted
      from orders o left join unified_transactions t on t.order_id = o.id and t.confirmed and t.kind in ('CAPTURE', 'GIFT_CARD')
      where o.confirmed_at is not null
      group by o.id, o.total
      having o.total <> coalesce(sum(t.amount), 0)
      order by o.id`,
    say: ({ id, kept, counted }) => `Order ${id} was sold for ${kept}, and the books have ${counted}`,
  },
]

/** Rows that are correct and wait for a person. */
const work = (): readonly Rule[] => [
  {
    subject: 'refunds to be paid by hand',
    broken: sql`
      select r.id as id, r.order_id as of_order, r.amount as kept, r.currency as currency, coalesce(r.failure_code, '') as code
      from refunds r where r.status = 'MANUAL' order by r.id`,
    say: ({ id, of_order: order, kept, currency, code }) =>
      `Refund ${id} of order ${order}: ${kept} ${currency} (minor units) is to be paid by hand${code === '' ? '' : `, since the processor says ${code}`}`,
  },
]

/** Checks money, stock and counts. Yields differences by subject, and open manual work. */
export async function* bookFindings(db: CheckContext): AsyncGenerator<Finding> {
  yield* checkRules(db, books())
  for await (const finding of checkRules(db, work())) yield { ...finding, isWork: true }
  yield { subject: 'disputes of unknown payments', problems: await strayDisputes(db.read), isWork: true }
}

/** Disputes of unknown payments, for as long as messages are kept. References are matched as JSON text. */
async function strayDisputes(read: CheckContext['read']): Promise<string[]> {
  const found = await read.rows<{ processor: string; dispute: string; shopId: string | null }>(sql`
    select m.processor, m.dispute, m.shop_id as "shopId"
    from payment_messages m
    where m.dispute is not null and m.resume_at is null and not exists (
      select 1 from disputes d join payments p on p.id = d.payment_id
      where p.processor = m.processor
        and replace(m.dispute, '"reference":"' || replace(replace(d.reference, '\\', '\\\\'), '"', '\\"') || '"', '') <> m.dispute)
    order by m.received_at, m.id limit ${problemsMax}`)
  return found.map(({ processor, dispute, shopId }) => {
    const { reference, state, amount, currency } = columnValue(paymentMessages.dispute, dispute)
    const whose = shopId === null ? '' : `, of the account of ${shopId}`
    return `Dispute ${reference} at ${processor}${whose}: ${state}, ${amount} ${currency} (minor units). Find its payment there`
  })
}
