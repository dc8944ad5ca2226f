/** Saves a product: deleted variants, changes, and new pictures of variants. */
import { api, ifMatch, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
import type { IdempotentSend } from '../../lib/api/idempotent-send.ts'
import {
  addBeforeRemoveBody,
  type ChangeBody,
  changeBody,
  createBody,
  type FieldErrors,
  type ProductText,
  pendingPictures,
  type ShopTerms,
} from './draft.domain.ts'
import { toApiOptions } from './options.domain.ts'

type Product = Schema<'Product'>
export type VersionedProduct = Versioned<Product>

/** The form has wrong fields. */
export class InvalidFields extends Error {
  constructor(
    readonly errors: FieldErrors,
    message: string,
  ) {
    super(message)
  }
}

const validBody = <Body>({ body, errors }: { body: Body; errors: FieldErrors }, message: string): Body => {
  if (Object.keys(errors).length > 0) throw new InvalidFields(errors, message)
  return body
}

/**
 * Reads a product with its ETag.
 * @throws ApiError
 */
export const readProduct = (id: string, signal?: AbortSignal): Promise<VersionedProduct> =>
  readVersioned(api.GET('/product-v2/{id}', { params: { path: { id } }, ...(signal && { signal }) }))

/** Sends under a key, so that a lost response does not look like another person's change. */
const patch = (sendOnce: IdempotentSend, id: string, body: ChangeBody, etag: string | undefined): Promise<VersionedProduct> =>
  sendOnce([id, body, etag], (header) =>
    readVersioned(api.PATCH('/product-v2/{id}', { params: { path: { id }, header: { ...header, ...ifMatch(etag) } }, body })),
  )

/** Undefined if the variant is deleted already. */
async function removeVariant(id: string, variantId: string, etag: string | undefined): Promise<VersionedProduct | undefined> {
  const params = { path: { id, variantId }, header: ifMatch(etag) }
  try {
    return await readVersioned(api.DELETE('/product-v2/{id}/variants/{variantId}', { params }))
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

/** Assigns new pictures to variants, after they have ids. */
async function assignPictures(sendOnce: IdempotentSend, text: ProductText, saved: VersionedProduct): Promise<VersionedProduct> {
  const variants = pendingPictures(text, saved.data)
  return variants.length === 0 ? saved : patch(sendOnce, saved.data.id, { variants }, saved.etag)
}

/** @property pictureError error of the second request; the product exists */
type CreatedProduct = VersionedProduct & { readonly pictureError?: unknown }

/**
 * @param message error text for wrong fields
 * @throws InvalidFields, ApiError
 */
export async function createProduct(
  text: ProductText,
  terms: ShopTerms,
  sendOnce: IdempotentSend,
  message: string,
): Promise<CreatedProduct> {
  const body = validBody(createBody(text, terms), message)
  const saved = await sendOnce(body, (header) => readVersioned(api.POST('/product-v2', { params: { header }, body })))
  return assignPictures(sendOnce, text, saved).catch((pictureError: unknown) => ({ ...saved, pictureError }))
}

/**
 * Deletes variants before the other changes, because the remaining ones would not fit other options. If all are
 * deleted, the new ones come first: a product always has one.
 * @param deletedIds ids of deleted variants
 * @param etag undefined overwrites any version
 * @param onStep called with each saved version and each deleted variant; a later step can fail
 * @throws InvalidFields, ApiError
 */
export async function changeProduct(
  { id, text, before, deletedIds }: { id: string; text: ProductText; before: ProductText; deletedIds: readonly string[] },
  terms: ShopTerms,
  etag: string | undefined,
  {
    sendOnce,
    message,
    onStep,
  }: { sendOnce: IdempotentSend; message: string; onStep: (saved: VersionedProduct | undefined, deletedId?: string) => void },
): Promise<VersionedProduct> {
  let body = validBody(changeBody(text, before, terms), message)
  let saved: VersionedProduct | undefined
  const version = () => (saved ? saved.etag : etag)
  const addBody = deletedIds.length > 0 ? addBeforeRemoveBody(body, text, before) : undefined
  if (addBody) {
    saved = await patch(sendOnce, id, addBody, etag)
    onStep(saved)
    body = { options: toApiOptions(text.options) }
  }
  for (const variantId of deletedIds) {
    const afterDelete = await removeVariant(id, variantId, version())
    saved = afterDelete ?? saved
    onStep(afterDelete, variantId)
  }
  if (Object.keys(body).length > 0) {
    saved = await patch(sendOnce, id, body, version())
    onStep(saved)
  }
  return assignPictures(sendOnce, text, saved ?? (await readProduct(id)))
}
