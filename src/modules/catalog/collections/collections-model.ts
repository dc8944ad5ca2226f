import { t } from 'elysia'
import { htmlLengthMax } from '../../../core/html.ts'
import {
  fieldsOf,
  handleForm,
  Instant,
  instantOf,
  integer,
  maybe,
  notBlank,
  nullable,
  pageOf,
  pageQuery,
  text,
  Url,
} from '../../../http/schema.ts'
import { productsPerCollectionMax } from '../products/domain.ts'
import { ProductSummary } from '../products/model.ts'

const collection = {
  ...fieldsOf(t.String(), 'id', 'shopId', 'handle', 'title', 'descriptionHtml'),
  image: nullable(t.Object({ url: t.String(), alt: nullable(t.String()) })),
  publishedAt: nullable(Instant),
  ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
}
export const CollectionRecord = t.Object(collection, { title: 'Collection' })
export const CollectionWithIds = t.Object({ ...collection, productIds: t.Array(t.String()) }, { title: 'CollectionWithProductIds' })
export const Collections = pageOf(CollectionRecord)
const productsCount = integer({ description: 'Number of visible products in the collection' })
const PublishedCollection = t.Object(
  {
    ...collection,
    productsCount,
    products: t.Array(ProductSummary, { description: "The first products, in the collection's order" }),
  },
  { title: 'PublishedCollection' },
)
export const PublishedCollections = pageOf(PublishedCollection)
const { data: products, ...envelope } = pageOf(ProductSummary).properties
export const PublishedCollectionPage = t.Object(
  { ...collection, productsCount, ...envelope, products },
  { title: 'PublishedCollectionPage' },
)

const fields = {
  handle: t.Optional(text(255, { minLength: 1, ...handleForm, description: 'Unique in the shop, in lower case' })),
  descriptionHtml: t.Optional(text(htmlLengthMax, { description: 'HTML, sanitized with an allowlist of tags' })),
  image: t.Optional(nullable(t.Object({ url: Url, alt: maybe(text(512)) }))),
  publishedAt: t.Optional(
    nullable(instantOf('If you leave it out when you create the collection, it is published now. Null: not published')),
  ),
}
const title = text(255, notBlank)
export const ListCollections = t.Object({
  ...pageQuery,
  product: t.Optional(text(64, { description: 'Id of a product: only the collections that it is in' })),
})
export const CreateCollection = t.Object({ title, ...fields })
export const ChangeCollection = t.Object({ title: t.Optional(title), ...fields })
export const SetProducts = t.Object({ productIds: t.Array(text(64), { maxItems: productsPerCollectionMax }) })
