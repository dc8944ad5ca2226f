import { and, desc, eq, getTableColumns, inArray, lte, ne, type SQL, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../../db/engine.ts'
import { selectSlice } from '../../../../db/page-query.ts'
import { insertOf, prepare, rowsOf } from '../../../../db/prepared.ts'
import { blogs } from '../../../../db/schema/catalog.ts'
import { shops } from '../../../../db/schema/shop.ts'
import type { PageSlice } from '../../../lib/page.ts'
import { findByHandle } from '../../../lib/search-terms.ts'
import type { Blog } from './domain.ts'

type BlogQuery = {
  shopId: string
  words: readonly string[]
  /** Only blogs that are published at this time (ms). */
  publicAt?: number | undefined
}

const byId = rowsOf(blogs, ['id', 'shopId'])
const isOfOpenShop = ne(shops.status, 'SUSPENDED')
const bySlug = prepare((queries) =>
  queries
    .select(getTableColumns(blogs))
    .from(blogs)
    .innerJoin(shops, eq(shops.id, blogs.shopId))
    .where(and(eq(blogs.slug, sql.placeholder('slug')), isOfOpenShop))
    .limit(1),
)
const shopBySlug = prepare((queries) =>
  queries
    .select({ shopId: blogs.shopId })
    .from(blogs)
    .innerJoin(shops, eq(shops.id, blogs.shopId))
    .where(
      and(
        eq(blogs.slug, sql.placeholder('slug')),
        eq(blogs.status, 'PUBLISHED'),
        lte(blogs.publishedAt, sql.placeholder('now')),
        isOfOpenShop,
      ),
    )
    .limit(1),
)

export function createBlogStore({ read }: Pick<Database, 'read'>) {
  return {
    async find(shopId: string, id: string, from: Pick<Reader, 'first'> = read): Promise<Blog | undefined> {
      return from.first(byId, { id, shopId })
    },
    /** Finds a blog, published or not, in any shop that is not suspended. */
    findBySlug: async (slug: string): Promise<Blog | undefined> => findByHandle(slug, (form) => read.first(bySlug, { slug: form })),
    /** Returns the shop of a blog that is published at `now`. */
    async publicShopOf(slug: string, now: number): Promise<string | undefined> {
      return (await findByHandle(slug, (form) => read.first(shopBySlug, { slug: form, now })))?.shopId
    },
    /** Newest first: by publication date for the public, else by creation. */
    list(query: BlogQuery, slice: PageSlice): Promise<{ rows: Blog[]; total: number }> {
      const newest = query.publicAt === undefined ? blogs.createdAt : blogs.publishedAt
      return selectSlice(read, blogs, { where: matching(query), order: [desc(newest), desc(blogs.id)], ...slice })
    },
    /** Returns those of `slugs` that a blog of the instance has. */
    async takenSlugs(tx: Writer, slugs: readonly string[]): Promise<Set<string>> {
      const rows = await tx
        .select({ slug: blogs.slug })
        .from(blogs)
        .where(inArray(blogs.slug, [...slugs]))
      return new Set(rows.map(({ slug }) => slug))
    },
    insert: insertOf(blogs),
    /** Returns undefined if the blog has another version than `before`. */
    async replace(tx: Writer, before: Blog, after: Blog): Promise<{ id: string } | undefined> {
      const [row] = await tx.update(blogs).set(after).where(isSameVersion(before)).returning({ id: blogs.id })
      return row
    },
    /** Returns undefined if the blog has another version. */
    async remove(tx: Writer, blog: Blog): Promise<{ id: string } | undefined> {
      const [row] = await tx.delete(blogs).where(isSameVersion(blog)).returning({ id: blogs.id })
      return row
    },
  }
}

const isSameVersion = ({ id, version }: Blog) => and(eq(blogs.id, id), eq(blogs.version, version))

function matching({ shopId, words, publicAt }: BlogQuery): SQL | undefined {
  const published = publicAt === undefined ? undefined : and(eq(blogs.status, 'PUBLISHED'), lte(blogs.publishedAt, publicAt))
  return and(eq(blogs.shopId, shopId), published, ...words.map(containsWord))
}

/** Escapes the wildcards of LIKE, although words are only letters and digits today. */
const containsWord = (word: string) => sql`${blogs.words} like ${`% ${word.replace(/[\\%_]/g, '\\$&')} %`} escape '\\'`
