/** Searches of merchants and lenders. */
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { foldText } from '../../lib/format/fold-text.ts'
import type { Choice } from '../../lib/forms/choice.ts'
import type { RecordFinder } from '../../ui/picker.tsx'

const resultsMax = 12
const pageMax = 100
const pagesMax = 20

/** Finds merchants by their shops, or by their whole id. */
export async function findMerchants(q: string, signal: AbortSignal): Promise<readonly Choice[]> {
  const { data } = await ok(api.GET('/admin/shops', { params: { query: { ...(q && { q }), limit: resultsMax * 2 } }, signal }))
  const found = new Map<string, Choice>()
  for (const { merchantId, title, name } of data)
    if (!found.has(merchantId)) found.set(merchantId, { id: merchantId, text: title || name, detail: merchantId })
  if (/^mer_[0-9a-z]+$/.test(q)) found.set(q, { id: q, text: q })
  return [...found.values()].slice(0, resultsMax)
}

/** Reads all lenders, up to a limit. */
export async function readLenders(signal?: AbortSignal): Promise<readonly Schema<'AdminLender'>[]> {
  const lenders: Schema<'AdminLender'>[] = []
  for (let page = 1; page <= pagesMax; page++) {
    const list = await ok(api.GET('/admin/lenders', { params: { query: { page, limit: pageMax } }, ...(signal && { signal }) }))
    lenders.push(...list.data)
    if (page >= list.pages) break
  }
  return lenders
}

/** Converts a lender to an entry of a picker. */
export const lenderChoice = ({ id, displayName }: Schema<'AdminLender'>): Choice => ({ id, text: displayName, detail: id })

/** Finds lenders by name. The API cannot search them, so all are read once per finder. */
export function lenderFinder(): RecordFinder<Choice> {
  let all: ReturnType<typeof readLenders> | undefined
  return async (q) => {
    all ??= readLenders()
    const text = foldText(q)
    try {
      return (await all)
        .filter(({ displayName, id }) => id === q || foldText(displayName).includes(text))
        .slice(0, resultsMax)
        .map(lenderChoice)
    } catch (error) {
      all = undefined
      throw error
    }
  }
}
