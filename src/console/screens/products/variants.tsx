import { useSignal } from '@preact/signals'
import { number } from '../../lib/format/format.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { common } from '../../lib/i18n/common.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { MoneyField, NumberField, SelectField, TextField } from '../../ui/fields.tsx'
import { Section } from '../../ui/page.tsx'
import type { ProductEditor, VariantRow } from './editor.ts'
import { fieldErrorText, type StockFigures } from './field-texts.ts'
import { t } from './i18n.ts'
import { missingCombinations, rowName, variantsMax } from './options.domain.ts'
import { VariantFields } from './variant-fields.tsx'

type VariantsProps = {
  readonly editor: ProductEditor
  readonly figures: { readonly value: StockFigures }
  readonly currency: string
  readonly productId: string | undefined
}

/** The variants: one without options, else one row per combination. */
export function VariantsSection(props: VariantsProps) {
  const { editor } = props
  const rows = editor.rows.value
  const options = editor.options.value
  const missingCount = missingCombinations(options, rows).length
  const [onlyRow] = rows
  const isSingle = rows.length === 1 && onlyRow !== undefined && rowName(options, onlyRow) === ''
  return (
    <Section title={isSingle ? t('priceAndStock') : t('variants')}>
      {'rows' in editor.errors.value && rows.length === 0 && <p class="error">{t('noVariants')}</p>}
      {isSingle ? (
        <>
          <MainVariantFields row={onlyRow} {...props} />
          <VariantFields row={onlyRow} {...props} />
        </>
      ) : (
        <>
          {rows.length > 1 && <BulkEdit {...props} />}
          <div class="variants">
            {rows.map((row) => (
              <VariantRowFields key={row.key} row={row} {...props} />
            ))}
          </div>
        </>
      )}
      {missingCount > 0 && options.length > 0 && rows.length < variantsMax && (
        <div class="row">
          <Button icon="plus" onPress={editor.addMissing} text={t('missing', { n: Math.min(missingCount, variantsMax - rows.length) })} />
        </div>
      )}
      <RemovedVariants editor={editor} />
    </Section>
  )
}

/** Price, stock and SKU, which every row shows. */
function MainVariantFields({ row, editor, currency, figures, productId }: VariantsProps & { row: VariantRow }) {
  const { draft, id, key } = row
  const errorOf = (field: string) => fieldErrorText(editor, `rows.${key}.${field}`, currency)
  const stock = id === undefined ? undefined : figures.value.get(id)
  // The hint is shown once, not on each of many new variants.
  const isFirstNew = editor.rows.value.find((one) => one.id === undefined)?.key === key
  return (
    <div class="fields">
      <MoneyField label={common('price')} currency={currency} bind={draft.price} max={20} required error={errorOf('price')} />
      {id === undefined ? (
        <NumberField
          label={t('firstStock')}
          bind={draft.onHand}
          max={10}
          error={errorOf('onHand')}
          hint={isFirstNew ? t('firstStockHint') : undefined}
        />
      ) : (
        <div class="field">
          <span>{t('onHand')}</span>
          <a class="stock-link" href={shopPath('products', productId ?? '', 'variants', id, 'stock')}>
            <strong aria-live="polite">{draft.track.value ? number(stock?.onHand ?? 0) : t('notCounted')}</strong>{' '}
            <span>{t('changeStock')}</span>
          </a>
          {stock !== undefined && stock.reserved > 0 && (
            <span class="hint">
              {t('reserved')}: {number(stock.reserved)}
            </span>
          )}
        </div>
      )}
      <TextField label={t('sku')} bind={draft.sku} max={255} code error={errorOf('sku')} />
    </div>
  )
}

function VariantRowFields(props: VariantsProps & { row: VariantRow }) {
  const { row, editor } = props
  const name = rowName(editor.options.value, row)
  const shortName = truncate(name)
  const isOpen = row.isOpen.value
  // Wrong rows are expanded.
  const isInvalid = Object.keys(editor.errors.value).some((field) => field.startsWith(`rows.${row.key}.`))
  return (
    <div class="variant" role="group" aria-label={shortName}>
      <div class="variant-head">
        <h3>
          <bdi class="cut">{name}</bdi>
        </h3>
        <span class="row tight">
          <button
            type="button"
            class="button quiet"
            aria-expanded={isOpen || isInvalid}
            aria-label={isOpen ? t('less', { name: shortName }) : t('more', { name: shortName })}
            onClick={() => (row.isOpen.value = !isOpen)}
          >
            {isOpen ? '–' : '+'}
          </button>
          <Button kind="quiet" icon="close" label={t('removeVariant', { name: shortName })} onPress={() => editor.removeRow(row.key)} />
        </span>
      </div>
      <MainVariantFields {...props} />
      {(isOpen || isInvalid) && <VariantFields {...props} />}
    </div>
  )
}

const bulkFields = ['price', 'compareAt', 'cost', 'weight', 'taxClass', 'lowStockAt'] as const
type BulkField = (typeof bulkFields)[number] | 'onHand'

/** Sets a field of every variant. The quantity is a field of new variants; later it changes by stock adjustments. */
function BulkEdit({ editor }: VariantsProps) {
  const field = useSignal<BulkField>('price')
  const text = useSignal('')
  const isNew = editor.rows.value.every(({ id }) => id === undefined)
  const [firstField, ...furtherFields] = bulkFields
  const fields: readonly BulkField[] = isNew ? [firstField, 'onHand', ...furtherFields] : bulkFields
  const labelOf = (bulkField: BulkField) =>
    bulkField === 'price' ? common('price') : bulkField === 'onHand' ? t('firstStock') : t(bulkField)
  function apply(): void {
    for (const { draft } of editor.rows.value) draft[field.value].value = text.value
  }
  return (
    <fieldset
      class="for-all"
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return
        // Enter would submit the product.
        event.preventDefault()
        apply()
      }}
    >
      <legend>{t('forAll')}</legend>
      <SelectField label={t('field')} bind={field} options={fields.map((bulkField) => [bulkField, labelOf(bulkField)] as const)} />
      <TextField label={common('value')} bind={text} max={40} code />
      <Button onPress={apply} text={t('apply')} />
    </fieldset>
  )
}

function RemovedVariants({ editor }: { editor: ProductEditor }) {
  const removed = editor.removed.value
  if (removed.length === 0) return null
  const before = editor.before()
  const previousName = (id: string | undefined) => {
    const row = before.rows.find((previous) => previous.id === id)
    return row ? rowName(before.options, row) : ''
  }
  return (
    <div class="note warn stack" role="status">
      <strong>{t('removedVariants', { n: removed.length })}</strong>
      <ul class="row">
        {removed.map((row) => {
          const name = rowName(editor.options.value, row) || previousName(row.id)
          return (
            <li key={row.key}>
              <Button onPress={() => editor.restoreRow(row.key)} text={t('takeBack', { name: truncate(name, 60) })} />
            </li>
          )
        })}
      </ul>
    </div>
  )
}
