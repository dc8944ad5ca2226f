import { useSignal } from '@preact/signals'
import { number } from '../../lib/format/format.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { common } from '../../lib/i18n/common.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { MoneyField, NumberField, SelectField, TextField } from '../../ui/fields.tsx'
import { Section } from '../../ui/page.tsx'
import type { ProductEditor, VariantRow } from './editor.ts'
import { fieldError, type StockFigures } from './field-texts.ts'
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
  const lacking = missingCombinations(options, rows).length
  const [only] = rows
  const isOne = rows.length === 1 && only !== undefined && rowName(options, only) === ''
  return (
    <Section title={isOne ? t('priceAndStock') : t('variants')}>
      {'rows' in editor.wrong.value && rows.length === 0 && <p class="error">{t('noVariants')}</p>}
      {isOne ? (
        <>
          <MainVariantFields row={only} {...props} />
          <VariantFields row={only} {...props} />
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
      {lacking > 0 && options.length > 0 && rows.length < variantsMax && (
        <div class="row">
          <Button icon="plus" onPress={editor.addMissing} text={t('missing', { n: Math.min(lacking, variantsMax - rows.length) })} />
        </div>
      )}
      <RemovedVariants editor={editor} />
    </Section>
  )
}

/** Price, stock and SKU, which every row shows. */
function MainVariantFields({ row, editor, currency, figures, productId }: VariantsProps & { row: VariantRow }) {
  const { draft, id, key } = row
  const wrong = (field: string) => fieldError(editor, `rows.${key}.${field}`, currency)
  const figure = id === undefined ? undefined : figures.value.get(id)
  return (
    <div class="fields">
      <MoneyField label={common('price')} currency={currency} bind={draft.price} max={20} required error={wrong('price')} />
      {id === undefined ? (
        <NumberField label={t('firstStock')} bind={draft.onHand} max={10} error={wrong('onHand')} hint={t('firstStockHint')} />
      ) : (
        <div class="field">
          <span class="label">{t('onHand')}</span>
          <a class="stock-link" href={shopPath('products', productId ?? '', 'variants', id, 'stock')}>
            <strong aria-live="polite">{draft.track.value ? number(figure?.onHand ?? 0) : t('notCounted')}</strong>{' '}
            <span>{t('seeStock')}</span>
          </a>
          {figure !== undefined && figure.reserved > 0 && (
            <span class="hint">
              {t('reserved')}: {number(figure.reserved)}
            </span>
          )}
        </div>
      )}
      <TextField label={t('sku')} bind={draft.sku} max={255} code error={wrong('sku')} />
    </div>
  )
}

function VariantRowFields(props: VariantsProps & { row: VariantRow }) {
  const { row, editor } = props
  const name = rowName(editor.options.value, row)
  const called = truncate(name)
  const isOpen = row.isOpen.value
  // Wrong rows are expanded.
  const isWrong = Object.keys(editor.wrong.value).some((field) => field.startsWith(`rows.${row.key}.`))
  return (
    <div class="variant" role="group" aria-label={called}>
      <div class="variant-head">
        <h3>
          <bdi class="cut">{name}</bdi>
        </h3>
        <span class="row tight">
          <button
            type="button"
            class="button quiet"
            aria-expanded={isOpen || isWrong}
            aria-label={isOpen ? t('less', { name: called }) : t('more', { name: called })}
            onClick={() => (row.isOpen.value = !isOpen)}
          >
            {isOpen ? '–' : '+'}
          </button>
          <Button kind="quiet" icon="close" label={t('removeVariant', { name: called })} onPress={() => editor.removeRow(row.key)} />
        </span>
      </div>
      <MainVariantFields {...props} />
      {(isOpen || isWrong) && <VariantFields {...props} />}
    </div>
  )
}

const bulkFields = ['price', 'compareAt', 'cost', 'weight', 'taxClass', 'lowStockAt'] as const

/** Sets a field of every variant. */
function BulkEdit({ editor }: VariantsProps) {
  const field = useSignal<(typeof bulkFields)[number]>('price')
  const text = useSignal('')
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
      <SelectField
        label={t('field')}
        bind={field}
        options={bulkFields.map((one) => [one, one === 'price' ? common('price') : t(one)] as const)}
      />
      <TextField label={common('value')} bind={text} max={40} code />
      <Button onPress={apply} text={t('apply')} />
    </fieldset>
  )
}

function RemovedVariants({ editor }: { editor: ProductEditor }) {
  const removed = editor.removed.value
  if (removed.length === 0) return null
  const before = editor.before()
  const wasCalled = (id: string | undefined) => {
    const was = before.rows.find((row) => row.id === id)
    return was ? rowName(before.options, was) : ''
  }
  return (
    <div class="note warn stack" role="status">
      <strong>{t('removedVariants', { n: removed.length })}</strong>
      <ul class="row">
        {removed.map((row) => {
          const name = rowName(editor.options.value, row) || wasCalled(row.id)
          return (
            <li key={row.key}>
              <Button onPress={() => editor.takeBack(row.key)} text={t('takeBack', { name: truncate(name, 60) })} />
            </li>
          )
        })}
      </ul>
    </div>
  )
}
