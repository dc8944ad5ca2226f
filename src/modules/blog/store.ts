import { and, count, desc, eq, inArray, lte, type SQL, sql } from 'drizzle-orm'
import type { Database, Reader, Writer } from '../../../db/engine.ts'
import { prepare } from '../../../db/prepared.ts'
import { blogs } from '../../../db/schema/catalog.ts'
import type { Blog } from './domain.ts'

export type BlogStore = ReturnType<typeof createBlogStore>
export type BlogQuery = {
  shopId: string
  words: readonly string[]
  /** Only what is published at this moment (milliseconds). */
  publicAt?: number | undefined
}

const bySlug = prepare((queries) =>
  queries
    .select()
    .from(blogs)
    .where(eq(blogs.slug, sql.placeholder('slug')))
    .limit(1),
)
const shopBySlug = prepare((queries) =>
  queries
    .select({ shopId: blogs.shopId })
    .from(blogs)
    .where(and(eq(blogs.slug, sql.placeholder('slug')), eq(blogs.status, 'PUBLISHED'), lte(blogs.publishedAt, sql.placeholder('now'))))
    .limit(1),
)

export function createBlogStore({ read }: Pick<Database, 'read'>) {
  return {
    async find(shopId: string, id: string, from: Pick<Reader, 'select'> = read): Promise<Blog | undefined> {
      const [blog] = await from
        .select()
        .from(blogs)
        .where(and(eq(blogs.id, id), eq(blogs.shopId, shopId)))
        .limit(1)
      return blog
    },
    /** Of whichever shop, published or not. */
    async findBySlug(slug: string): Promise<Blog | undefined> {
      return read.first(bySlug, { slug })
    },
    /** The shop of a blog that the public sees at `now`. */
    async publicShopOf(slug: string, now: number): Promise<string | undefined> {
      return (await read.first(shopBySlug, { slug, now }))?.shopId
    },
    /** Newest first: by publication for the public, else by creation. */
    async list(query: BlogQuery, { limit, offset }: { limit: number; offset: number }): Promise<{ blogs: Blog[]; total: number }> {
      const condition = matching(query)
      const [totals] = await read.select({ n: count() }).from(blogs).where(condition)
      const newest = query.publicAt === undefined ? blogs.createdAt : blogs.publishedAt
      const rows = await read.select().from(blogs).where(condition).orderBy(desc(newest), desc(blogs.id)).limit(limit).offset(offset)
      return { blogs: rows, total: Number(totals?.n ?? 0) }
    },
    /** Those of these slugs that some blog of the instance has. */
    async taken(tx: Writer, slugs: readonly string[]): Promise<Set<string>> {
      const rows = await tx
        .select({ slug: blogs.slug })
        .from(blogs)
        .where(inArray(blogs.slug, [...slugs]))
      return new Set(rows.map(({ slug }) => slug))
    },
    async insert(tx: Writer, blog: Blog): Promise<void> {
      await tx.insert(blogs).values(blog)
    },
    async replace(tx: Writer, blog: Blog): Promise<void> {
      await tx.update(blogs).set(blog).where(eq(blogs.id, blog.id))
    },
    /** False when there is none. */
    async remove(tx: Writer, shopId: string, id: string): Promise<boolean> {
      const rows = await tx
        .delete(blogs)
        .where(and(eq(blogs.id, id), eq(blogs.shopId, shopId)))
        .returning({ id: blogs.id })
      return rows.length > 0
    },
  }
}

function matching({ shopId, words, publicAt }: BlogQuery): SQL | undefined {
  const published = publicAt === undefined ? undefined : and(eq(blogs.status, 'PUBLISHED'), lte(blogs.publishedAt, publicAt))
  return and(eq(blogs.shopId, shopId), published, ...words.map(holds))
}

/** Words are letters and digits today; the pattern does not rely on it. */
const holds = (word: string) => sql`${blogs.words} like ${`% ${word.replace(/[\\%_]/g, '\\$&')} %`} escape '\\'`
