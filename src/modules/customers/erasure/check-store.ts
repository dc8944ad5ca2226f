import { sql } from 'drizzle-orm'
import { type CheckContext, checkRules, type Finding, type Rule } from '../../../core/integrity-check.ts'

const rules: readonly Rule[] = [
  {
    subject: 'erased customers',
    // Compares erased customers with the list of erasures, and checks that no personal data is left.
    broken: sql`select id as customer_id, 'marked as erased, and not on the list of erasures' as what from customers
                  where erased_at is not null and not exists (select 1 from erasures where customer_id = customers.id)
                union all
                select id, 'on the list of erasures, and not erased' from customers
                  where erased_at is null and exists (select 1 from erasures where customer_id = customers.id)
                union all
                select id, 'erased, and there is a name, an address or a password' from customers
                  where erased_at is not null and (name <> '' or phone is not null or password_hash is not null or email <> id || '@erased.invalid')
                union all
                select customer_id, 'erased, and has an address book' from addresses
                  where customer_id in (select customer_id from erasures)
                union all
                select customer_id, 'erased, and an order of theirs has an e-mail address: ' || id from orders
                  where customer_id in (select customer_id from erasures where finished_at is not null) and email <> customer_id || '@erased.invalid'
                order by 1, 2`,
    say: ({ customer_id, what }) => `${customer_id}: ${what}`,
  },
]

/** Finds inconsistent erasures for `souk check`. */
export const findErasureInconsistencies = (db: CheckContext): AsyncGenerator<Finding> => checkRules(db, rules)
