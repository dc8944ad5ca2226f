import type { Schema } from '../../lib/api/api.ts'
import { money, parseMoney } from '../../lib/format/format.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import {
  type BaseText,
  type PictureText,
  type ProductText,
  type RowText,
  type ShopTerms,
  textOf,
  type VariantText,
} from './draft.domain.ts'
import { t } from './i18n.ts'
import { rowName, valuesOf } from './options.domain.ts'

type Difference = readonly [name: string, yours: string, theirs: string]
/** With what it was before; undefined where there was none. */
type Compared = readonly [...Difference, before: string | undefined]

const shownMax = 40

/**
 * What was changed here and, otherwise, by somebody else, in words: what one has not changed is not sent, and what they have not is as one knew it.
 * @param before what stood in the fields when one began
 */
export function differencesOf(
  mine: ProductText,
  before: ProductText,
  now: Schema<'Product'>,
  { currency, zone }: ShopTerms,
): readonly Difference[] {
  const theirs = textOf(now, zone)
  const names: readonly (readonly [keyof BaseText, string])[] = [
    ['title', t('name')],
    ['handle', t('handle')],
    ['descriptionHtml', t('description')],
    ['vendor', t('vendor')],
    ['type', t('type')],
    ['tags', t('tags')],
    ['status', t('visibility')],
    ['showing', t('showing')],
    ['publishedAt', t('publishedAt')],
    ['seoTitle', t('seoTitle')],
    ['seoDescription', t('seoDescription')],
  ]
  const inWords = (text: BaseText, name: keyof BaseText) =>
    name === 'status' ? stateName(text.status) : name === 'showing' ? t(`showing.${text.showing}`) : String(text[name])
  const found: Compared[] = names.map(([name, title]) => [title, inWords(mine, name), inWords(theirs, name), inWords(before, name)])
  const options = (text: ProductText) =>
    valuesOf(text.options)
      .map(({ name, values }) => `${name}: ${values.join(', ')}`)
      .join('; ')
  found.push([t('options'), options(mine), options(theirs), options(before)])
  const pictures = (text: ProductText) => text.pictures.map(pictureName).join(', ')
  found.push([t('pictures'), pictures(mine), pictures(theirs), pictures(before)])
  found.push(...rowsCompared(mine, before, theirs, currency))
  const isOther = ([, yours, there, was]: Compared) => yours !== there && yours !== was && there !== was
  return found
    .filter(isOther)
    .slice(0, shownMax)
    .map(([name, yours, there]): Difference => [name, yours, there])
}

/** By what it shows and by the end of its address: two may show the same. */
const pictureName = ({ alt, url }: PictureText): string => [alt, url.slice(-12)].filter(Boolean).join(' ')

function rowsCompared(mine: ProductText, before: ProductText, theirs: ProductText, currency: string): Compared[] {
  const amount = (text: string) => {
    const read = parseMoney(text, currency)
    return read ? money(read) : text
  }
  const yesOrNo = (text: string) => common(text === 'true' ? 'yes' : 'no')
  const picture = (key: string) => {
    const shown = [...mine.pictures, ...theirs.pictures].find((one) => one.key === key)
    return shown ? pictureName(shown) : ''
  }
  const fields: readonly (readonly [keyof VariantText, string, (text: string) => string])[] = [
    ['price', t('price'), amount],
    ['compareAt', t('compareAt'), amount],
    ['cost', t('cost'), amount],
    ['sku', t('sku'), String],
    ['barcode', t('barcode'), String],
    ['weight', t('weight'), String],
    ['taxClass', t('taxClass'), String],
    ['taxable', t('taxable'), yesOrNo],
    ['shipping', t('shipping'), yesOrNo],
    ['track', t('track'), yesOrNo],
    ['backorder', t('backorder'), yesOrNo],
    ['lowStockAt', t('lowStockAt'), String],
    ['picture', t('variantPicture'), picture],
  ]
  const there = new Map(theirs.rows.map((row) => [row.id, row]))
  const were = new Map(before.rows.map((row) => [row.id, row]))
  const here = new Set(mine.rows.map(({ id }) => id))
  const title = (text: ProductText, row: RowText) => rowName(text.options, row) || t('variant')
  const changed = mine.rows.flatMap((row): Compared[] => {
    const other = row.id === undefined ? undefined : there.get(row.id)
    if (!other) return [[title(mine, row), t('variant'), '–', undefined]]
    const was = were.get(row.id)
    return fields.map(([field, name, said]) => [
      `${title(mine, row)}: ${name}`,
      said(String(row[field])),
      said(String(other[field])),
      was && said(String(was[field])),
    ])
  })
  // One that they have added stays as it is.
  const removed = theirs.rows
    .filter(({ id }) => !here.has(id) && were.has(id))
    .map((row): Compared => [title(theirs, row), '–', t('variant'), undefined])
  return [...changed, ...removed]
}
