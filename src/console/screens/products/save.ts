/** Sends what was typed about a product: the variants that go, what changes, and pictures that variants show anew. */
import { api, ifMatch, Refused, readVersioned, type Schema } from '../../lib/api/api.ts'
import type { IdempotentSend } from '../../lib/api/idempotent-send.ts'
import {
  besideBody,
  type ChangeBody,
  changeBody,
  createBody,
  laterPictures,
  type ProductText,
  type ShopTerms,
  type Wrong,
} from './draft.domain.ts'
import { valuesOf } from './options.domain.ts'

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

export const read = (id: string, signal?: AbortSignal): Promise<Versioned> =>
  readVersioned(api.GET('/product-v2/{id}', { params: { path: { id } }, ...(signal && { signal }) })) as Promise<Versioned>

/** What is changed once, however often it is sent: an answer that was lost is not taken for somebody else's change. */
const patch = (sendOnce: IdempotentSend, id: string, body: ChangeBody, etag: string | undefined): Promise<Versioned> =>
  sendOnce(
    [id, body, etag],
    (key) =>
      readVersioned(
        api.PATCH('/product-v2/{id}', { params: { path: { id }, header: { ...ifMatch(etag), 'idempotency-key': key } }, body }),
      ) as Promise<Versioned>,
  )

/** Undefined where it has gone already. */
async function removed(id: string, variantId: string, etag: string | undefined): Promise<Versioned | undefined> {
  const params = { path: { id, variantId }, header: ifMatch(etag) }
  try {
    return (await readVersioned(api.DELETE('/product-v2/{id}/variants/{variantId}', { params }))) as Versioned
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined
    throw error
  }
}

/** Pictures that are new in the product have an id by now: variants that show them are told. */
async function withPictures(sendOnce: IdempotentSend, text: ProductText, saved: Versioned): Promise<Versioned> {
  const variants = laterPictures(text, saved.data)
  return variants.length === 0 ? saved : patch(sendOnce, saved.data.id, { variants }, saved.etag)
}

/** @property later what became of what had to wait for the product's ids, where that was refused: the product is there */
export type Created = Versioned & { readonly later?: unknown }

/**
 * @param sendOnce sends under a key, the same for whatever is sent again
 * @param message says that something is wrong with what was typed
 * @throws NotReady, Refused
 */
export async function create(text: ProductText, terms: ShopTerms, sendOnce: IdempotentSend, message: string): Promise<Created> {
  const body = ready(createBody(text, terms), message)
  const saved = (await sendOnce(body, (key) =>
    readVersioned(api.POST('/product-v2', { params: { header: { 'idempotency-key': key } }, body })),
  )) as Versioned
  return withPictures(sendOnce, text, saved).catch((later: unknown) => ({ ...saved, later }))
}

/**
 * Variants that go do so before the rest is changed: what is left of them would not fit other options. Where all go, the new ones come first,
 * since a product has one at any time.
 * @param gone ids of variants that go
 * @param etag undefined: over whatever is there
 * @param onStep is told each version that the product has come to, what follows of which may be refused, and each variant that has gone
 * @throws NotReady, Refused
 */
export async function change(
  { id, text, before, gone }: { id: string; text: ProductText; before: ProductText; gone: readonly string[] },
  terms: ShopTerms,
  etag: string | undefined,
  {
    sendOnce,
    message,
    onStep,
  }: { sendOnce: IdempotentSend; message: string; onStep: (saved: Versioned | undefined, gone?: string) => void },
): Promise<Versioned> {
  let body = ready(changeBody(text, before, terms), message)
  let saved: Versioned | undefined
  const version = () => (saved ? saved.etag : etag)
  const beside = gone.length > 0 ? besideBody(body, text, before) : undefined
  if (beside) {
    saved = await patch(sendOnce, id, beside, etag)
    onStep(saved)
    body = { options: valuesOf(text.options) }
  }
  for (const variantId of gone) {
    const without = await removed(id, variantId, version())
    saved = without ?? saved
    onStep(without, variantId)
  }
  if (Object.keys(body).length > 0) {
    saved = await patch(sendOnce, id, body, version())
    onStep(saved)
  }
  return withPictures(sendOnce, text, saved ?? (await read(id)))
}
