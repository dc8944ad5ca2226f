import { type SQL, sql } from 'drizzle-orm'
import { productIndexed } from '../../../../db/search.ts'
import { type CheckContext, checkRules, type Finding } from '../../../core/integrity-check.ts'

/** The filter columns of a row differ from those of its document `d`. */
const differs = (row: SQL) => sql`${row}.title_key <> d.title_key or ${row}.vendor <> d.vendor or ${row}.type <> d.type
  or ${row}.available <> d.available or ${row}.min_price <> d.min_price or ${row}.max_price <> d.max_price`

/** Finds list filters that differ from their products, and products that are not indexed. */
export const findCatalogInconsistencies = (db: CheckContext): AsyncGenerator<Finding> =>
  checkRules(db, [
    {
      subject: 'filters of listings',
      broken: sql`
        select d.product_id as id
        from product_documents d join products p on p.id = d.product_id
        where d.vendor <> p.vendor or d.type <> p.type
          or d.min_price <> (select min(v.price) from variants v where v.product_id = d.product_id)
          or d.max_price <> (select max(v.price) from variants v where v.product_id = d.product_id) or d.available <> exists (
          select 1 from variants v
          where v.product_id = d.product_id and (not v.track_inventory or v.allow_backorder or v.on_hand > v.reserved))
          or exists (select 1 from product_tags t where t.product_id = d.product_id and (t.visible_from <> d.visible_from or ${differs(sql.raw('t'))}))
          or exists (select 1 from variants v where v.product_id = d.product_id and v.price > d.min_price and v.price < d.max_price
            and not exists (select 1 from product_inner_prices i where i.product_id = v.product_id and i.price = v.price))
          or exists (select 1 from product_inner_prices i where i.product_id = d.product_id
            and not exists (select 1 from variants v where v.product_id = i.product_id and v.price = i.price))
        order by d.product_id`,
      say: ({ id }) => `Product ${id}: the listing has another vendor, type, price or availability than the product`,
    },
    {
      subject: 'products of collections',
      broken: sql`
        select m.product_id as id from collection_products m left join product_documents d on d.product_id = m.product_id
        where m.visible_from is distinct from d.visible_from or d.visible_from is not null and (${differs(sql.raw('m'))})
        order by m.product_id`,
      say: ({ id }) => `Product ${id}: its collections have other filter values or another visibility date than the product`,
    },
    {
      subject: 'search of products',
      broken: sql`
        select p.id as id from products p
        where not exists (${productIndexed}) and not exists (select 1 from search_fills where subject = 'PRODUCTS')
        order by p.id`,
      say: ({ id }) => `Product ${id} is missing in the search of the shop's staff`,
    },
  ])
