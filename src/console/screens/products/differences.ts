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
import { rowName, toApiOptions } from './options.domain.ts'

type Difference = readonly [name: string, yours: string, theirs: string]
/** With the previous value; undefined if there was none. */
type ComparedField = readonly [...Difference, before: string | undefined]

const shownMax = 40

/**
 * Lists the fields that both sides changed differently. Unchanged own fields are not sent.
 * @param before values when the form was filled
 */
export function differencesOf(
  mine: ProductText,
  before: ProductText,
  now: Schema<'Product'>,
  { currency, zone }: ShopTerms,
): readonly Difference[] {
  const theirs = textOf(now, zone)
  const names: readonly (readonly [keyof BaseText, string])[] = [
    ['title', common('title')],
    ['handle', common('handle')],
    ['descriptionHtml', common('descriptionHtml')],
    ['vendor', t('vendor')],
    ['type', common('type')],
    ['tags', common('tags')],
    ['status', common('status')],
    ['kind', t('kind')],
    ['publication', t('showing')],
    ['publishedAt', t('publishedAt')],
    ['seoTitle', t('seoTitle')],
    ['seoDescription', t('seoDescription')],
  ]
  const fieldText = (text: BaseText, name: keyof BaseText) =>
    name === 'status'
      ? stateName(text.status)
      : name === 'kind'
        ? t(`kind.${text.kind}`)
        : name === 'publication'
          ? t(`showing.${text.publication}`)
          : String(text[name])
  const compared: ComparedField[] = names.map(([name, title]) => [
    title,
    fieldText(mine, name),
    fieldText(theirs, name),
    fieldText(before, name),
  ])
  const options = (text: ProductText) =>
    toApiOptions(text.options)
      .map(({ name, values }) => `${name}: ${values.join(', ')}`)
      .join('; ')
  compared.push([t('options'), options(mine), options(theirs), options(before)])
  const pictures = (text: ProductText) => text.pictures.map(pictureName).join(', ')
  compared.push([common('pictures'), pictures(mine), pictures(theirs), pictures(before)])
  compared.push(...compareRows(mine, before, theirs, currency))
  const isConflict = ([, yours, theirRow, previous]: ComparedField) => yours !== theirRow && yours !== previous && theirRow !== previous
  return compared
    .filter(isConflict)
    .slice(0, shownMax)
    .map(([name, yours, theirRow]): Difference => [name, yours, theirRow])
}

/** Names a picture by alt text and end of URL, because alt texts repeat. */
const pictureName = ({ alt, url }: PictureText): string => [alt, url.slice(-12)].filter(Boolean).join(' ')

function compareRows(mine: ProductText, before: ProductText, theirs: ProductText, currency: string): ComparedField[] {
  const amount = (text: string) => {
    const parsed = parseMoney(text, currency)
    return parsed ? money(parsed) : text
  }
  const yesOrNo = (text: string) => common(text === 'true' ? 'yes' : 'no')
  const picture = (key: string) => {
    const shownPicture = [...mine.pictures, ...theirs.pictures].find((picture) => picture.key === key)
    return shownPicture ? pictureName(shownPicture) : ''
  }
  const fields: readonly (readonly [keyof VariantText, string, (text: string) => string])[] = [
    ['price', common('price'), amount],
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
    ['picture', common('picture'), picture],
  ]
  const theirRow = new Map(theirs.rows.map((row) => [row.id, row]))
  const previousRows = new Map(before.rows.map((row) => [row.id, row]))
  const myIds = new Set(mine.rows.map(({ id }) => id))
  const title = (text: ProductText, row: RowText) => rowName(text.options, row) || t('variant')
  const changed = mine.rows.flatMap((row): ComparedField[] => {
    const other = row.id === undefined ? undefined : theirRow.get(row.id)
    if (!other) return [[title(mine, row), t('variant'), '–', undefined]]
    const previousRow = previousRows.get(row.id)
    return fields.map(([field, name, format]) => [
      `${title(mine, row)}: ${name}`,
      format(String(row[field])),
      format(String(other[field])),
      previousRow && format(String(previousRow[field])),
    ])
  })
  // Variants that the other side added stay.
  const removed = theirs.rows
    .filter(({ id }) => !myIds.has(id) && previousRows.has(id))
    .map((row): ComparedField => [title(theirs, row), '–', t('variant'), undefined])
  return [...changed, ...removed]
}
