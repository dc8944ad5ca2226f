import { t } from 'elysia'
import { htmlLengthMax } from '../../../core/html.ts'
import { fieldsOf, handleForm, Instant, instantOf, integer, maybe, notBlank, nullable, pageOf, text, Url } from '../../../http/schema.ts'
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
const productsCount = integer({ description: 'Visible products of the collection' })
export const PublishedCollection = t.Object(
  {
    ...collection,
    productsCount,
    products: t.Array(ProductSummary, { description: 'The first products, in the order of the collection' }),
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
  handle: t.Optional(text(255, { minLength: 1, ...handleForm, description: 'Unique in the shop; lower case' })),
  descriptionHtml: t.Optional(text(htmlLengthMax, { description: 'Sanitised with an allowlist of tags' })),
  image: t.Optional(nullable(t.Object({ url: Url, alt: maybe(text(512)) }))),
  publishedAt: t.Optional(nullable(instantOf('At creation, left out means now. Null: not published'))),
}
const title = text(255, notBlank)
export const CreateCollection = t.Object({ title, ...fields })
export const ChangeCollection = t.Object({ title: t.Optional(title), ...fields })
export const SetProducts = t.Object({ productIds: t.Array(text(64), { maxItems: productsPerCollectionMax }) })
