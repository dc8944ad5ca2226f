import { AppError } from '../../../core/errors.ts'
import { etagOfVersion } from '../../../core/versions.ts'
import { inParallel } from '../../../lib/parallel.ts'
import { fetchPicture, isOutside, NotFetched } from '../media/index.ts'
import type { Product } from '../products/domain.ts'
import type { CatalogDeps } from '../products/providers.ts'
import { changeProduct, type ProductChange } from '../products/service.ts'
import { fetchingStore } from './image-download-store.ts'

const pageProducts = 50
const picturesAtOnce = 4
/** Of a product that somebody else changes meanwhile. */
const triesMax = 3
const failuresMax = 1_000

/** `complete` is false when it was stopped: what was fetched by then stays. */
export type FetchReport = {
  complete: boolean
  products: number
  /** Fetched now, and those that had been fetched from the same address before. */
  fetched: number
  known: number
  failed: number
  failures: { readonly handle: string; readonly url: string; readonly why: string }[]
}

export type FetchOptions = { readonly onProgress?: (products: number, of: number) => void; readonly signal?: AbortSignal }

/**
 * Takes the pictures that products of a shop show from other people's servers into its own, by the guarded fetch. A product keeps its address
 * where that fails. Done again it goes on: what has been taken is not asked for any more.
 */
export async function fetchImages(
  deps: CatalogDeps,
  by: ProductChange,
  { onProgress = () => undefined, signal }: FetchOptions = {},
): Promise<FetchReport> {
  const report: FetchReport = { complete: true, products: 0, fetched: 0, known: 0, failed: 0, failures: [] }
  const { read } = deps.db
  const total = await fetchingStore.count(read, by.shop.id)
  onProgress(0, total)
  for (let page: string[] = []; ; ) {
    page = await fetchingStore.page(read, by.shop.id, page.at(-1) ?? '', pageProducts)
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
  const taken = new Map<string, string | undefined>()
  for (let tries = 1; ; tries++) {
    const whole = await deps.catalogStore.findWhole(by.shop.id, id)
    if (!whole) return
    const { handle, images, version } = whole.product
    const urls = [...new Set(images.filter(isOutside).map(({ url }) => url))].filter((url) => !taken.has(url))
    await inParallel(urls, picturesAtOnce, async (url) => void taken.set(url, await takenFrom(deps, by, { handle, url }, report)))
    const changed = images.map((image): Product['images'][number] => ({ ...image, url: taken.get(image.url) ?? image.url }))
    if (changed.every(({ url }, at) => url === images[at]?.url)) return
    try {
      await changeProduct(deps, { ...by, expected: [etagOfVersion(version)] }, id, {
        images: changed.map(({ position: _, ...image }) => image),
      })
      return
    } catch (error) {
      const isStale = error instanceof AppError && error.code === 'PRECONDITION_FAILED'
      if (!isStale || tries === triesMax) throw error
    }
  }
}

/** @returns what the product refers to from now on; undefined where it keeps its address */
async function takenFrom(
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
    if (!(error instanceof NotFetched)) throw error
    report.failed++
    if (report.failures.length < failuresMax) report.failures.push({ handle, url, why: error.message })
    return undefined
  }
}
