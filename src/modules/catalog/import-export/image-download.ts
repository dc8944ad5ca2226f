import { AppError } from '../../../core/errors.ts'
import { etagOfVersion } from '../../../core/versions.ts'
import { inParallel } from '../../../lib/parallel.ts'
import { fetchPicture, isExternal, PictureFetchError } from '../media/index.ts'
import type { Product } from '../products/domain.ts'
import type { CatalogDeps } from '../products/providers.ts'
import { changeProduct, type ProductChange } from '../products/service.ts'
import { externalImageStore } from './image-download-store.ts'

const pageProducts = 50
const picturesAtOnce = 4
/** Attempts for a product that is changed at the same time. */
const triesMax = 3
const failuresMax = 1_000

/** `complete` is false if the run was stopped. Images stored until then stay. */
export type FetchReport = {
  complete: boolean
  products: number
  /** `fetched` counts new downloads, `known` images that were downloaded from the same URL before. */
  fetched: number
  known: number
  failed: number
  failures: { readonly handle: string; readonly url: string; readonly why: string }[]
}

type FetchOptions = { readonly onProgress?: (products: number, of: number) => void; readonly signal?: AbortSignal }

/**
 * Downloads images that a shop's products show from other servers. On failure the product keeps the URL.
 * Running it again continues, because downloaded images are not external any more.
 */
export async function fetchImages(
  deps: CatalogDeps,
  by: ProductChange,
  { onProgress = () => undefined, signal }: FetchOptions = {},
): Promise<FetchReport> {
  const report: FetchReport = { complete: true, products: 0, fetched: 0, known: 0, failed: 0, failures: [] }
  const { read } = deps.db
  const total = await externalImageStore.count(read, by.shop.id)
  onProgress(0, total)
  for (let page: string[] = []; ; ) {
    page = await externalImageStore.page(read, by.shop.id, page.at(-1) ?? '', pageProducts)
    for (const id of page) {
      if (signal?.aborted) return { ...report, complete: false }
      await fetchImagesOf(deps, by, id, report)
      report.products++
      onProgress(report.products, Math.max(total, report.products))
    }
    if (page.length < pageProducts) return report
  }
}

async function fetchImagesOf(deps: CatalogDeps, by: ProductChange, id: string, report: FetchReport): Promise<void> {
  const fetchedUrls = new Map<string, string | undefined>()
  for (let tries = 1; ; tries++) {
    const record = await deps.catalogStore.findProduct(by.shop.id, id)
    if (!record) return
    const { handle, images, version } = record.product
    const urls = [...new Set(images.filter(isExternal).map(({ url }) => url))].filter((url) => !fetchedUrls.has(url))
    await inParallel(urls, picturesAtOnce, async (url) => void fetchedUrls.set(url, await fetchOne(deps, by, { handle, url }, report)))
    const newImages = images.map((image): Product['images'][number] => ({ ...image, url: fetchedUrls.get(image.url) ?? image.url }))
    if (newImages.every(({ url }, at) => url === images[at]?.url)) return
    try {
      await changeProduct(deps, { ...by, expected: [etagOfVersion(version)] }, id, {
        images: newImages.map(({ position: _, ...image }) => image),
      })
      return
    } catch (error) {
      const isStale = error instanceof AppError && error.kind === 'PRECONDITION_FAILED'
      if (!isStale || tries === triesMax) throw error
    }
  }
}

/** Returns the new URL; undefined if the download fails. */
async function fetchOne(
  deps: CatalogDeps,
  by: ProductChange,
  { handle, url }: { handle: string; url: string },
  report: FetchReport,
): Promise<string | undefined> {
  try {
    const picture = await fetchPicture(deps, { shop: by.shop, actor: by.actor }, url)
    report[picture.isNew ? 'fetched' : 'known']++
    return picture.url
  } catch (error) {
    if (!(error instanceof PictureFetchError)) throw error
    report.failed++
    if (report.failures.length < failuresMax) report.failures.push({ handle, url, why: error.message })
    return undefined
  }
}
