import { DatabaseOutcomeUnknown } from '../../../../db/engine.ts'
import type { Change } from '../../../core/command-context.ts'
import { documentName, type KeptDocument } from '../../../core/documents.ts'
import { AppError } from '../../../core/errors.ts'
import { type BenchFile, type OnBench, type Rendered, RenderFailed } from '../../../core/pictures.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { assertExpected } from '../../../core/versions.ts'
import { hourMs } from '../../../lib/day.ts'
import { type Page, pageOf, type Slice } from '../../../lib/page.ts'
import { beginsAsPicture, type CleanPicture, cleanPicture, headBytes, notAPicture, PictureRefused } from '../../../lib/pictures/index.ts'
import { assertStoreIsOwn, watchPictureStore } from '../../lending/lending-document/index.ts'
import { audited } from '../../operations/audit/index.ts'
import {
  fileFor,
  hashOf,
  type MediaView,
  mediaView,
  type OwnPicture,
  type Picture,
  type PictureFile,
  pictureIn,
  picturesMax,
  sizeWidths,
  uploadBytesMax,
  widthsFor,
} from './domain.ts'
import type { MediaDeps } from './providers.ts'

/** A record never changes. */
const onlyVersion = 1

type By = Change<Pick<ShopContext, 'id'>>

const mb = 1024 * 1024
const retryAfterSeconds = 5
/** So many watermarks of the disk stay free, as for documents: the other half is what all shops go on with. */
const watermarksKept = 2

/** Where the instance is reached: what addresses of pictures begin with. */
export const baseOf = ({ config, life }: Pick<MediaDeps, 'config' | 'life'>): string =>
  (config.publicUrl ?? life.url ?? '').replace(/\/+$/, '')

const statuses = { UNKNOWN: 'UNSUPPORTED_MEDIA', BROKEN: 'INVALID', TOO_LARGE: 'TOO_LARGE' } as const

function asTold(error: unknown): unknown {
  if (error instanceof PictureRefused) return new AppError(statuses[error.kind], error.rule)
  if (error instanceof RenderFailed && error.kind === 'DAMAGED')
    return new AppError('INVALID', 'The picture is damaged or cut short: its pixels do not decode')
  return error
}

/**
 * Takes a picture of a shop. It is known by what it shows: the same one again is the record that is there, and of two shops each has its own.
 * Whoever else has it is told to nobody: nothing of the work is left out.
 * @param body its bytes as they come, and how many will, where that was said
 * @returns the record
 * @throws AppError UNSUPPORTED_MEDIA for what is no picture, INVALID for one that is damaged, TOO_LARGE, CONFLICT beyond the quota,
 *   RATE_LIMITED, UNAVAILABLE; what the chunks throw
 */
export async function addPicture(
  deps: MediaDeps,
  by: By,
  body: { readonly length: number | undefined; chunks(bytesMax: number): AsyncIterable<Uint8Array> },
): Promise<MediaView & { known: boolean }> {
  const { own, known } = await takePicture(deps, by, body)
  return { ...mediaView(own, baseOf(deps)), known }
}

/** `known`: the shop had it before, and this is the record that was there. */
export type Taken = { readonly own: OwnPicture; readonly known: boolean }

/** The same, of what was fetched too. @throws AppError as `addPicture` does */
export async function takePicture(deps: MediaDeps, by: By, body: Parameters<typeof addPicture>[2]): Promise<Taken> {
  if ((body.length ?? 0) > uploadBytesMax) throw new AppError('TOO_LARGE', `The body is larger than ${uploadBytesMax / mb} MB`)
  await assertQuota(deps, by.shop.id, body.length ?? 1)
  await watchPictureStore(deps)
  assertStoreIsOwn(deps, deps.documentStores.pictures.kind)
  const leave = deps.uploadPlaces.take(by.shop.id)
  try {
    await assertRoom(deps)
    return await deps.pictureBench.receive(begun(body.chunks(uploadBytesMax)), (picture) => looked(deps, by, picture))
  } catch (error) {
    throw asTold(error)
  } finally {
    leave()
  }
}

/** What comes, as long as it begins as a picture does. @throws PictureRefused, AppError INVALID when there is no byte */
async function* begun(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
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
  if (head?.length === 0) throw new AppError('INVALID', 'The body is empty: send the picture as it is')
  if (head && !beginsAsPicture(head)) throw notAPicture()
}

async function assertRoom({ diskFree, documentStores, config, uploadPlaces }: MediaDeps): Promise<void> {
  const free = diskFree() ?? (await documentStores.pictures.free())
  const underWay = uploadPlaces.taken() * 3 * uploadBytesMax
  if (free !== undefined && free - underWay < watermarksKept * config.diskFreeMinBytes)
    throw new AppError('UNAVAILABLE', 'There is no room for pictures: nothing was changed, try again later', { retryAfterSeconds })
}

const quotaOf = ({ config }: Pick<MediaDeps, 'config'>) => ({ bytes: config.mediaQuotaMb * mb, pictures: picturesMax })
const overQuota = ({ config }: Pick<MediaDeps, 'config'>) =>
  new AppError(
    'CONFLICT',
    `The pictures of the shop may take ${config.mediaQuotaMb.toLocaleString('en-US')} MB and be ${picturesMax.toLocaleString('en-US')}: delete some that no product shows`,
  )

/** @throws AppError CONFLICT where so many more bytes are too many, before they are read */
async function assertQuota(deps: MediaDeps, shopId: string, bytes: number): Promise<void> {
  const [usage, quota] = [await deps.mediaStore.usage(shopId), quotaOf(deps)]
  if (usage.bytes + bytes > quota.bytes || usage.pictures >= quota.pictures) throw overQuota(deps)
}

/** Bun decodes no AVIF on Linux, and no WebP that moves: such pictures are looked through, and sent as they are. */
const isDecoded = ({ type, frames }: Omit<CleanPicture, 'parts'>) => type !== 'image/avif' && !(type === 'image/webp' && frames > 1)

/** Looks at a picture in its turn, and keeps it. */
async function looked(deps: MediaDeps, by: By, picture: OnBench): Promise<Taken> {
  const endTurn = await deps.pictureTurns.take([by.shop.id])
  let clean: Omit<CleanPicture, 'parts'>
  let rendered: Rendered
  try {
    const { parts, ...said } = cleanPicture(await picture.bytes())
    clean = said
    rendered = await picture.render(parts, { decodes: isDecoded(said), widths: widthsFor(said) })
  } catch (error) {
    if (error instanceof RenderFailed && error.kind === 'FAILED') deps.log.error('pictures.not_looked_at', { error })
    throw error
  } finally {
    endTurn()
  }
  return keep(deps, by, clean, rendered)
}

/** Files first, then rows: what a crash leaves between them belongs to nobody, and is swept. */
async function keep(deps: MediaDeps, by: By, clean: Omit<CleanPicture, 'parts'>, { original, sizes }: Rendered): Promise<Taken> {
  const now = deps.clock.now()
  const { type, width, height, frames } = clean
  const hash = hashOf(await deps.instanceKeys.of('MEDIA'), original.digest)
  const [own] = await deps.mediaStore.ownByHashes(by.shop.id, [hash])
  if (own) return { own, known: true }
  const picture: Picture = { hash, type, width, height, frames, bytes: original.bytes, createdAt: now }
  const put: PictureFile[] = []
  try {
    put.push(await putFile(deps, original, { hash, width: 0, height, type }))
    for (const size of sizes) put.push(await putFile(deps, size, { hash, width: size.width, height: size.height, type: 'image/webp' }))
    const { isPut, ...taken } = await record(deps, by, picture, put)
    if (!isPut) await removeFiles(deps, put)
    return taken
  } catch (error) {
    // Whether they have rows is known by the sweep.
    if (!(error instanceof DatabaseOutcomeUnknown)) await removeFiles(deps, put)
    throw error
  }
}

async function putFile(
  { documentStores: { pictures: store }, randomBytes }: MediaDeps,
  { bytes, digest, chunks }: BenchFile,
  said: Pick<PictureFile, 'hash' | 'width' | 'height' | 'type'>,
): Promise<PictureFile> {
  const storageName = documentName(randomBytes)
  await store.put(storageName, chunks())
  return { ...said, bytes, digest, store: store.kind as PictureFile['store'], storageName }
}

/** @returns `isPut`: whether the files that were put are the picture's now */
async function record(deps: MediaDeps, by: By, picture: Picture, files: readonly PictureFile[]): Promise<Taken & { isPut: boolean }> {
  const { hash: _, createdAt: __, ...said } = picture
  const row = { id: deps.newId('media'), shopId: by.shop.id, hash: picture.hash, createdAt: picture.createdAt }
  return audited(deps, by, { action: 'media.added', subject: row.id }, async (tx, tell) => {
    const isPut = await deps.mediaStore.putPicture(tx, picture, files)
    const [known] = await deps.mediaStore.ownByHashes(by.shop.id, [picture.hash], tx)
    if (known) {
      tell({ before: null, after: { id: known.id, known: true } })
      return { own: known, known: true, isPut }
    }
    if (!(await deps.mediaStore.use(tx, by.shop.id, picture.bytes, quotaOf(deps)))) throw overQuota(deps)
    await deps.mediaStore.putMedia(tx, row)
    tell({ before: null, after: { type: said.type, width: said.width, height: said.height, bytes: said.bytes } })
    return { own: { ...row, ...said }, known: false, isPut }
  })
}

/** What is not removed is swept. */
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

/** The shop's pictures, newest first. */
export async function listPictures(deps: MediaDeps, shop: Pick<ShopContext, 'id'>, slice: Slice): Promise<Page<MediaView>> {
  const { rows, total } = await deps.mediaStore.list(shop.id, slice)
  const base = baseOf(deps)
  return pageOf(
    rows.map((row) => mediaView(row, base)),
    total,
    slice,
  )
}

/**
 * Takes a picture from a shop. Its files go with the last one that has it.
 * @throws AppError NOT_FOUND, also for another shop's; PRECONDITION_FAILED; CONFLICT while a product shows it
 */
export async function removePicture(deps: MediaDeps, by: By, id: string): Promise<void> {
  const files = await audited(deps, by, { action: 'media.removed', subject: id }, async (tx, tell) => {
    const own = await deps.mediaStore.find(tx, by.shop.id, id)
    if (!own) throw new AppError('NOT_FOUND', 'No such picture')
    assertExpected(by.expected, onlyVersion)
    const product = await deps.mediaStore.shownBy(tx, id)
    if (product !== undefined) throw new AppError('CONFLICT', `A product shows this picture, ${product}: take it out of there first`)
    const gone = await deps.mediaStore.remove(tx, own)
    tell({ before: { id }, after: null })
    return gone
  })
  await removeFiles(deps, files)
}

const toldAgainMs = hourMs
const toldMax = 1_000

/** Tells of a picture once an hour, and not with every look at it. */
function tellOnce(
  { picturesTold: told, clock, log }: Pick<MediaDeps, 'picturesTold' | 'clock' | 'log'>,
  event: string,
  picture: Pick<PictureFile, 'hash' | 'store'>,
): void {
  const now = clock.now()
  const before = told.get(picture.hash)
  if (before !== undefined && before <= now && now < before + toldAgainMs) return
  if (told.size >= toldMax) told.clear()
  told.set(picture.hash, now)
  log.error(event, picture)
}

/** A file of a picture, as it is sent. Nothing is read before its chunks are asked for. */
export type SentPicture = { readonly etag: string; readonly file: PictureFile; open(): Promise<KeptDocument> }

/**
 * What a name of a picture stands for: itself, or in one of the widths that there are.
 * @param name the last part of its address
 * @throws AppError NOT_FOUND
 */
export async function publicPicture(deps: MediaDeps, name: string): Promise<SentPicture> {
  const said = pictureIn(name)
  const isKnownWidth = said?.width === undefined || (sizeWidths as readonly number[]).includes(said.width)
  const file = said && isKnownWidth ? fileFor(await deps.mediaStore.files(said.hash), said.width) : undefined
  if (!said || !file) throw new AppError('NOT_FOUND', 'No such picture')
  return {
    etag: `"${said.hash}-${file.width}"`,
    file,
    async open() {
      const found = await deps.documentStores.of(file.store)?.get(file.storageName)
      if (found?.bytes === file.bytes) return found
      // It may have gone since its row was read.
      if (!(await deps.mediaStore.fileNamed(file.storageName))) throw new AppError('NOT_FOUND', 'No such picture')
      tellOnce(deps, found ? 'pictures.damaged' : 'pictures.missing', { store: file.store, hash: said.hash })
      throw new AppError('UNAVAILABLE', 'The file of this picture is not in the store at hand: try again later', { retryAfterSeconds })
    },
  }
}
