/** Merchants and lenders by what an operator types. */
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { foldText } from '../../lib/format/fold-text.ts'
import type { Choice } from '../../lib/forms/choice.ts'
import type { RecordFinder } from '../../ui/picker.tsx'

const eachMax = 12
const pageMax = 100
const pagesMax = 20

/** Merchants by their shops, which have names; one without a shop by the whole id. */
export async function findMerchants(q: string, signal: AbortSignal): Promise<readonly Choice[]> {
  const { data } = await ok(api.GET('/admin/shops', { params: { query: { ...(q && { q }), limit: eachMax * 2 } }, signal }))
  const found = new Map<string, Choice>()
  for (const { merchantId, title, name } of data)
    if (!found.has(merchantId)) found.set(merchantId, { id: merchantId, text: title || name, detail: merchantId })
  if (/^mer_[0-9a-z]+$/.test(q)) found.set(q, { id: q, text: q })
  return [...found.values()].slice(0, eachMax)
}

/** All lenders, as far as they are ever read: there are few. */
export async function allLenders(signal?: AbortSignal): Promise<readonly Schema<'AdminLender'>[]> {
  const lenders: Schema<'AdminLender'>[] = []
  for (let page = 1; page <= pagesMax; page++) {
    const list = await ok(api.GET('/admin/lenders', { params: { query: { page, limit: pageMax } }, ...(signal && { signal }) }))
    lenders.push(...list.data)
    if (page >= list.pages) break
  }
  return lenders
}

export const lenderChoice = ({ id, displayName }: Schema<'AdminLender'>): Choice => ({ id, text: displayName, detail: id })

/** Finds lenders by a part of their name, in whichever status. The API does not search them: all are read once, for as long as one looks for some. */
export function lenderFinder(): RecordFinder<Choice> {
  let all: ReturnType<typeof allLenders> | undefined
  return async (q) => {
    all ??= allLenders()
    const asked = foldText(q)
    try {
      return (await all)
        .filter(({ displayName, id }) => id === q || foldText(displayName).includes(asked))
        .slice(0, eachMax)
        .map(lenderChoice)
    } catch (error) {
      all = undefined
      throw error
    }
  }
}
