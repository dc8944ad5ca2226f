import { sql } from 'drizzle-orm'
import { type CheckContext, checkRules, type Finding, type Rule } from '../../../core/integrity-check.ts'
import { dayMs, dayText } from '../../../lib/day.ts'
import { daysOfBlock } from './domain.ts'

// Built on demand, since only `souk check` uses it.
const rules = (): readonly Rule[] => [
  {
    subject: 'signals of repayments',
    broken: sql`
      with counted as (
        select merchant_id, sum(case when outcome = 'ON_TIME' then 1 else 0 end) as on_time, sum(case when outcome = 'LATE' then 1 else 0 end) as late,
          sum(case when outcome = 'DEFAULT' then 1 else 0 end) as defaults, count(distinct lender_id) as lenders, max(settled_at) as settled
        from repayments where reversed_at is null group by merchant_id),
      merchants as (select merchant_id from merchant_repayment_signals union select merchant_id from counted)
      select m.merchant_id as id
      from merchants m
        left join merchant_repayment_signals s on s.merchant_id = m.merchant_id
        left join counted c on c.merchant_id = m.merchant_id
      where coalesce(s.total_on_time, 0) <> coalesce(c.on_time, 0) or coalesce(s.total_late, 0) <> coalesce(c.late, 0)
        or coalesce(s.total_defaults, 0) <> coalesce(c.defaults, 0) or coalesce(s.lender_count, 0) <> coalesce(c.lenders, 0)
        or coalesce(s.most_recent_settlement_at, -1) <> coalesce(c.settled, -1)
      order by m.merchant_id`,
    say: ({ id }) => `Merchant ${id}: the stored totals differ from the repayments`,
  },
  {
    subject: 'defaults by day',
    broken: sql`
      with counted as (
        select merchant_id, dated_at / ${sql.raw(String(dayMs))} as day, count(*) as n
        from repayments where reversed_at is null and outcome = 'DEFAULT' group by merchant_id, dated_at / ${sql.raw(String(dayMs))}),
      days as (select merchant_id, day from merchant_default_days union select merchant_id, day from counted)
      select d.merchant_id as id, d.day as day, coalesce(k.defaults, 0) as stored, coalesce(c.n, 0) as counted
      from days d
        left join merchant_default_days k on k.merchant_id = d.merchant_id and k.day = d.day
        left join counted c on c.merchant_id = d.merchant_id and c.day = d.day
      where coalesce(k.defaults, 0) <> coalesce(c.n, 0)
      order by d.merchant_id, d.day`,
    say: ({ id, day, stored, counted }) =>
      `Merchant ${id}: ${stored} defaults are stored for day ${dayText(Number(day))}, but there are ${counted}`,
  },
  {
    subject: 'defaults by sixteen days',
    broken: sql`
      with counted as (
        select merchant_id, day / ${sql.raw(String(daysOfBlock))} as block, sum(defaults) as n
        from merchant_default_days group by merchant_id, day / ${sql.raw(String(daysOfBlock))}),
      blocks as (select merchant_id, block from merchant_default_blocks union select merchant_id, block from counted)
      select b.merchant_id as id, coalesce(k.defaults, 0) as stored, coalesce(c.n, 0) as counted
      from blocks b
        left join merchant_default_blocks k on k.merchant_id = b.merchant_id and k.block = b.block
        left join counted c on c.merchant_id = b.merchant_id and c.block = b.block
      where coalesce(k.defaults, 0) <> coalesce(c.n, 0)
      order by b.merchant_id, b.block`,
    say: ({ id, stored, counted }) =>
      `Merchant ${id}: ${stored} defaults are stored for sixteen days, but ${counted} for these days one by one`,
  },
  {
    subject: 'reversals',
    broken: sql`
      select r.id as id
      from repayments r left join repayment_reversals v on v.repayment_id = r.id
      where (r.reversed_at is null) <> (v.id is null) or r.reversed_at <> v.recorded_at
      order by r.id`,
    say: ({ id }) => `Repayment ${id} is reversed without an entry, or has an entry and is not`,
  },
]

/** Checks that the stored totals of merchants match their repayments. */
export const checkRepayments = (db: CheckContext): AsyncGenerator<Finding> => checkRules(db, rules())
