import { DatabaseOutcomeUnknown } from '../../../../db/engine.ts'
import type { CommandContext } from '../../../core/command-context.ts'
import { documentName, type StoredDocument } from '../../../core/documents.ts'
import { AppError } from '../../../core/errors.ts'
import { type RenderedPicture, RenderFailed, type UploadedPicture, type WorkspaceFile } from '../../../core/pictures.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { assertVersion } from '../../../core/versions.ts'
import { hourMs } from '../../../lib/day.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { beginsAsPicture, type CleanPicture, cleanPicture, headBytes, notAPicture, PictureRefused } from '../../../lib/pictures/index.ts'
import { assertStoreIsOwn, watchPictureStore } from '../../lending/lending-document/index.ts'
import { audited } from '../../operations/audit/index.ts'
import {
  fileFor,
  hashOf,
  type MediaView,
  mediaView,
  type Picture,
  type PictureFile,
  pictureIn,
  picturesMax,
  type ShopPicture,
  sizeWidths,
  uploadBytesMax,
  widthsFor,
} from './domain.ts'
import type { MediaDeps } from './providers.ts'

/** Records never change. */
const onlyVersion = 1

type PictureChange = CommandContext<Pick<ShopContext, 'id'>>

const mb = 1024 * 1024
const retryAfterSeconds = 5
/** Free space that uploads leave, in multiples of the disk watermark, as for documents. */
const watermarksFree = 2

/** Returns the URL of the instance, with which picture URLs begin. */
export const baseOf = ({ config, life }: Pick<MediaDeps, 'config' | 'life'>): string =>
  (config.publicUrl ?? life.url ?? '').replace(/\/+$/, '')

const statuses = { UNKNOWN: 'UNSUPPORTED_MEDIA', BROKEN: 'INVALID', TOO_LARGE: 'TOO_LARGE' } as const

function toAppError(error: unknown): unknown {
  if (error instanceof PictureRefused) return new AppError(statuses[error.kind], error.rule)
  if (!(error instanceof RenderFailed)) return error
  return error.kind === 'DAMAGED'
    ? new AppError('INVALID', 'The picture is damaged or incomplete: it cannot be decoded')
    : new AppError('UNAVAILABLE', 'The picture was not processed in time: nothing was changed, try again later', { retryAfterSeconds })
}

/**
 * Stores a picture of a shop. The same picture again returns the existing record; two shops have separate records.
 * Does the same work if another shop has the picture, so that the duration reveals nothing.
 * @param body the bytes, and their declared length if known
 * @throws AppError UNSUPPORTED_MEDIA, INVALID if damaged, TOO_LARGE, CONFLICT beyond the quota, RATE_LIMITED,
 * UNAVAILABLE; errors of the chunks
 */
export async function addPicture(
  deps: MediaDeps,
  by: PictureChange,
  body: { readonly length: number | undefined; chunks(bytesMax: number): AsyncIterable<Uint8Array> },
): Promise<MediaView & { known: boolean }> {
  const { picture, isExisting } = await storePicture(deps, by, body)
  return { ...mediaView(picture, baseOf(deps)), known: isExisting }
}

/** `isExisting`: the shop had the picture before. */
type StoredPicture = { readonly picture: ShopPicture; readonly isExisting: boolean }

/** Stores an uploaded or downloaded picture. @throws AppError as `addPicture` */
export async function storePicture(deps: MediaDeps, by: PictureChange, body: Parameters<typeof addPicture>[2]): Promise<StoredPicture> {
  if ((body.length ?? 0) > uploadBytesMax) throw new AppError('TOO_LARGE', `The body is larger than ${uploadBytesMax / mb} MB`)
  await assertQuota(deps, by.shop.id, body.length ?? 1)
  await watchPictureStore(deps)
  assertStoreIsOwn(deps, deps.documentStores.pictures.kind)
  const freeSlot = deps.uploadSlots.take(by.shop.id)
  try {
    await assertDiskSpace(deps)
    return await deps.pictureBench.receive(checkHead(body.chunks(uploadBytesMax)), (picture) => inspectAndStore(deps, by, picture))
  } catch (error) {
    throw toAppError(error)
  } finally {
    freeSlot()
  }
}

/** Passes chunks through if they begin like a picture. @throws PictureRefused; AppError INVALID if there is no byte */
async function* checkHead(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of chunks) {
    if (head) {
      head = Buffer.concat([head, chunk.subarray(0, headBytes)])
      if (head.length >= headBytes) {
        if (!beginsAsPicture(head)) throw notAPicture()
        head = undefined
      }
    }
    yield chunk
  }
  if (head?.length === 0) throw new AppError('INVALID', 'The body is empty: send the picture as the body')
  if (head && !beginsAsPicture(head)) throw notAPicture()
}

async function assertDiskSpace({ diskFree, documentStores, config, uploadSlots }: MediaDeps): Promise<void> {
  const free = diskFree() ?? (await documentStores.pictures.free())
  const inFlightBytes = uploadSlots.weight() * 3 * uploadBytesMax
  if (free !== undefined && free - inFlightBytes < watermarksFree * config.diskFreeMinBytes)
    throw new AppError('UNAVAILABLE', 'The picture storage is full: nothing was changed, try again later', { retryAfterSeconds })
}

const quotaOf = ({ config }: Pick<MediaDeps, 'config'>) => ({ bytes: config.mediaQuotaMb * mb, pictures: picturesMax })
const quotaExceeded = ({ config }: Pick<MediaDeps, 'config'>) =>
  new AppError(
    'CONFLICT',
    `The pictures of a shop can have at most ${config.mediaQuotaMb.toLocaleString('en-US')} MB, and be at most ${picturesMax.toLocaleString('en-US')}. Delete pictures that no product uses`,
    { code: 'limit_reached' },
  )

/** Checks the quota before the body is read. @throws AppError CONFLICT */
async function assertQuota(deps: MediaDeps, shopId: string, bytes: number): Promise<void> {
  const [usage, quota] = [await deps.mediaStore.usage(shopId), quotaOf(deps)]
  if (usage.bytes + bytes > quota.bytes || usage.pictures >= quota.pictures) throw quotaExceeded(deps)
}

/** On Linux, Bun decodes neither AVIF nor animated WebP. They are parsed and served unchanged. */
const isDecoded = ({ type, frames }: Omit<CleanPicture, 'parts'>) => type !== 'image/avif' && !(type === 'image/webp' && frames > 1)

/** Waits in the queue, parses and renders the picture, and stores it. */
async function inspectAndStore(deps: MediaDeps, by: PictureChange, picture: UploadedPicture): Promise<StoredPicture> {
  const endTurn = await deps.decodeQueue.acquire([by.shop.id])
  let clean: Omit<CleanPicture, 'parts'>
  let rendered: RenderedPicture
  try {
    const { parts, ...properties } = cleanPicture(await picture.bytes())
    clean = properties
    rendered = await picture.render(parts, { decodes: isDecoded(properties), widths: widthsFor(properties) })
  } catch (error) {
    if (error instanceof RenderFailed && error.kind === 'FAILED') deps.log.error('pictures.render_failed', { error })
    throw error
  } finally {
    endTurn()
  }
  return storeFiles(deps, by, clean, rendered)
}

/** Stores files before rows. Files that a crash leaves without a row are swept. */
async function storeFiles(
  deps: MediaDeps,
  by: PictureChange,
  clean: Omit<CleanPicture, 'parts'>,
  { original, sizes }: RenderedPicture,
): Promise<StoredPicture> {
  const now = deps.clock.now()
  const { type, width, height, frames } = clean
  const hash = hashOf(await deps.instanceKeys.of('MEDIA'), original.digest)
  const [record] = await deps.mediaStore.ownByHashes(by.shop.id, [hash])
  if (record) return { picture: record, isExisting: true }
  const picture: Picture = { hash, type, width, height, frames, bytes: original.bytes, createdAt: now }
  const storedFiles: PictureFile[] = []
  try {
    storedFiles.push(await putFile(deps, original, { hash, width: 0, height, type }))
    for (const size of sizes)
      storedFiles.push(await putFile(deps, size, { hash, width: size.width, height: size.height, type: 'image/webp' }))
    const { isPut, ...added } = await storeRecord(deps, by, picture, storedFiles)
    if (!isPut) await removeFiles(deps, storedFiles)
    return added
  } catch (error) {
    // If the outcome is unknown, the sweep decides whether the files have rows.
    if (!(error instanceof DatabaseOutcomeUnknown)) await removeFiles(deps, storedFiles)
    throw error
  }
}

async function putFile(
  { documentStores: { pictures: store }, randomBytes }: MediaDeps,
  { bytes, digest, chunks }: WorkspaceFile,
  properties: Pick<PictureFile, 'hash' | 'width' | 'height' | 'type'>,
): Promise<PictureFile> {
  const storageName = documentName(randomBytes)
  await store.put(storageName, chunks())
  return { ...properties, bytes, digest, store: store.kind as PictureFile['store'], storageName }
}

/** @returns `isPut`: whether the picture uses the files that were just stored */
async function storeRecord(
  deps: MediaDeps,
  by: PictureChange,
  picture: Picture,
  files: readonly PictureFile[],
): Promise<StoredPicture & { isPut: boolean }> {
  const { hash: _, createdAt: __, ...properties } = picture
  const row = { id: deps.newId('media'), shopId: by.shop.id, hash: picture.hash, createdAt: picture.createdAt }
  return audited(deps, by, { action: 'media.added', subject: row.id }, async (tx, setDifference) => {
    const isPut = await deps.mediaStore.putPicture(tx, picture, files)
    const [existing] = await deps.mediaStore.ownByHashes(by.shop.id, [picture.hash], tx)
    if (existing) {
      setDifference({ before: null, after: { id: existing.id, known: true } })
      return { picture: existing, isExisting: true, isPut }
    }
    if (!(await deps.mediaStore.addUsage(tx, by.shop.id, picture.bytes, quotaOf(deps)))) throw quotaExceeded(deps)
    await deps.mediaStore.putMedia(tx, row)
    setDifference({
      before: null,
      after: { type: properties.type, width: properties.width, height: properties.height, bytes: properties.bytes },
    })
    return { picture: { ...row, ...properties }, isExisting: false, isPut }
  })
}

/** Deletes files. Those that fail are swept later. */
async function removeFiles(
  { documentStores, log }: MediaDeps,
  files: readonly Pick<PictureFile, 'store' | 'storageName'>[],
): Promise<void> {
  for (const { store, storageName } of files)
    await documentStores
      .of(store)
      ?.delete(storageName)
      .catch((error: unknown) => log.warn('pictures.file_left', { store, error }))
}

/** Lists the shop's pictures, newest first. */
export async function listPictures(deps: MediaDeps, shop: Pick<ShopContext, 'id'>, slice: PageSlice): Promise<Page<MediaView>> {
  const { rows, total } = await deps.mediaStore.list(shop.id, slice)
  const base = baseOf(deps)
  return pageOf(
    rows.map((row) => mediaView(row, base)),
    total,
    slice,
  )
}

/**
 * Removes a picture from a shop. Its files are deleted if no other shop has it.
 * @throws AppError NOT_FOUND, also for another shop's; PRECONDITION_FAILED; CONFLICT while a product shows it
 */
export async function removePicture(deps: MediaDeps, by: PictureChange, id: string): Promise<void> {
  const files = await audited(deps, by, { action: 'media.removed', subject: id }, async (tx, setDifference) => {
    const record = await deps.mediaStore.find(tx, by.shop.id, id)
    if (!record) throw new AppError('NOT_FOUND', 'No such picture')
    assertVersion(by.expected, onlyVersion)
    const product = await deps.mediaStore.shownBy(tx, id)
    if (product !== undefined)
      throw new AppError('CONFLICT', `Product ${product} uses this picture. Remove it from the product first`, { code: 'in_use' })
    const removedFiles = await deps.mediaStore.remove(tx, record)
    setDifference({ before: { id }, after: null })
    return removedFiles
  })
  await removeFiles(deps, files)
}

const logAgainAfterMs = hourMs
const loggedMax = 1_000

/** Logs an event of a picture once an hour instead of at every request. */
function logOnce(
  { loggedPictures, clock, log }: Pick<MediaDeps, 'loggedPictures' | 'clock' | 'log'>,
  event: string,
  picture: Pick<PictureFile, 'hash' | 'store'>,
): void {
  const now = clock.now()
  const before = loggedPictures.get(picture.hash)
  if (before !== undefined && before <= now && now < before + logAgainAfterMs) return
  if (loggedPictures.size >= loggedMax) loggedPictures.clear()
  loggedPictures.set(picture.hash, now)
  log.error(event, picture)
}

/** A file of a picture. Nothing is read before `open`. */
type PictureResponse = { readonly etag: string; readonly file: PictureFile; open(): Promise<StoredDocument> }

/**
 * Finds the file for the name of a picture, with or without a width.
 * @param name the last part of its URL
 * @throws AppError NOT_FOUND
 */
export async function publicPicture(deps: MediaDeps, name: string): Promise<PictureResponse> {
  const properties = pictureIn(name)
  const isKnownWidth = properties?.width === undefined || (sizeWidths as readonly number[]).includes(properties.width)
  const file = properties && isKnownWidth ? fileFor(await deps.mediaStore.files(properties.hash), properties.width) : undefined
  if (!properties || !file) throw new AppError('NOT_FOUND', 'No such picture')
  return {
    etag: `"${properties.hash}-${file.width}"`,
    file,
    async open() {
      const found = await deps.documentStores.of(file.store)?.get(file.storageName)
      if (found?.bytes === file.bytes) return found
      // The picture may have been removed since its row was read.
      if (!(await deps.mediaStore.fileNamed(file.storageName))) throw new AppError('NOT_FOUND', 'No such picture')
      logOnce(deps, found ? 'pictures.damaged' : 'pictures.missing', { store: file.store, hash: properties.hash })
      throw new AppError('UNAVAILABLE', 'The file of this picture is not available now. Try again later', { retryAfterSeconds })
    },
  }
}
