/** Sends what was typed about a product: the variants that go, what changes, and pictures that variants show anew. */
import { api, ifMatch, type Schema, versioned } from '../../lib/api.ts'
import { type ChangeBody, changeBody, createBody, laterPictures, type ProductText, type ShopTerms, type Wrong } from './draft.domain.ts'

type Product = Schema<'Product'>
export type Versioned = { readonly data: Product; readonly etag: string }

/** What was typed cannot be sent: which fields, and why. */
export class NotReady extends Error {
  constructor(
    readonly wrong: Wrong,
    message: string,
  ) {
    super(message)
  }
}

const ready = <Body>({ body, wrong }: { body: Body; wrong: Wrong }, message: string): Body => {
  if (Object.keys(wrong).length > 0) throw new NotReady(wrong, message)
  return body
}

const patch = (id: string, body: ChangeBody, etag: string | undefined): Promise<Versioned> =>
  versioned(api.PATCH('/product-v2/{id}', { params: { path: { id }, header: ifMatch(etag) }, body })) as Promise<Versioned>

/** Pictures that are new in the product have an id by now: variants that show them are told. */
async function withPictures(text: ProductText, saved: Versioned): Promise<Versioned> {
  const variants = laterPictures(text, saved.data)
  return variants.length === 0 ? saved : patch(saved.data.id, { variants }, saved.etag)
}

/** @property later what became of what had to wait for the product's ids, where that was refused: the product is there */
export type Created = Versioned & { readonly later?: unknown }

/**
 * @param key the name of this intention, whatever is sent again
 * @param message says that something is wrong with what was typed
 * @throws NotReady, Refused
 */
export async function create(text: ProductText, terms: ShopTerms, key: string, message: string): Promise<Created> {
  const body = ready(createBody(text, terms), message)
  const saved = (await versioned(api.POST('/product-v2', { params: { header: { 'idempotency-key': key } }, body }))) as Versioned
  return withPictures(text, saved).catch((later: unknown) => ({ ...saved, later }))
}

/**
 * @param removed ids of variants that go, before the rest is changed: what is left of them would not fit other options
 * @param etag undefined: over whatever is there
 * @param onStep is told each that has gone, and each version that the product has come to: what follows may be refused
 * @throws NotReady, Refused
 */
export async function change(
  { id, text, before, removed }: { id: string; text: ProductText; before: ProductText; removed: readonly string[] },
  terms: ShopTerms,
  etag: string | undefined,
  message: string,
  onStep: (saved: Versioned, gone?: string) => void,
): Promise<Versioned> {
  const body = ready(changeBody(text, before, terms), message)
  let saved: Versioned | undefined
  for (const variantId of removed) {
    const version = saved?.etag ?? etag
    const params = { path: { id, variantId }, header: ifMatch(version) }
    saved = (await versioned(api.DELETE('/product-v2/{id}/variants/{variantId}', { params }))) as Versioned
    onStep(saved, variantId)
  }
  // All that was to be done may be done: a change of nothing is still answered with the product as it is.
  const patched = await patch(id, body, saved?.etag ?? etag)
  onStep(patched)
  return withPictures(text, patched)
}
