import { truncate } from '../../lib/format/truncate.ts'
import { common } from '../../lib/i18n/common.ts'
import { CheckField, MoneyField, NumberField, SelectField, TextField } from '../../ui/fields.tsx'
import { Picture } from '../../ui/picture.tsx'
import type { ProductEditor, VariantRow } from './editor.ts'
import { fieldErrorText } from './field-texts.ts'
import { t } from './i18n.ts'

/** The further fields of a variant. */
export function VariantFields({ row, editor, currency }: { row: VariantRow; editor: ProductEditor; currency: string }) {
  const { draft, key } = row
  const errorOf = (field: string) => fieldErrorText(editor, `rows.${key}.${field}`, currency)
  const pictures = editor.pictures.value
  const shownPicture = pictures.find((picture) => picture.key === draft.picture.value)
  return (
    <>
      <div class="fields">
        <MoneyField
          label={t('compareAt')}
          currency={currency}
          bind={draft.compareAt}
          max={20}
          hint={t('compareAtHint')}
          error={errorOf('compareAt')}
        />
        <MoneyField label={t('cost')} currency={currency} bind={draft.cost} max={20} hint={t('costHint')} error={errorOf('cost')} />
        <TextField label={t('barcode')} bind={draft.barcode} max={255} code />
        <NumberField label={t('weight')} bind={draft.weight} max={9} error={errorOf('weight')} />
        <TextField label={t('taxClass')} bind={draft.taxClass} max={40} code hint={t('taxClassHint')} />
        <NumberField label={t('lowStockAt')} bind={draft.lowStockAt} max={10} hint={t('lowStockHint')} error={errorOf('lowStockAt')} />
        {pictures.length > 0 && (editor.rows.value.length > 1 || draft.picture.value !== '') && (
          <div class="named">
            <Picture url={shownPicture?.url} />
            <SelectField
              label={common('picture')}
              bind={draft.picture}
              options={[
                ['', t('noPicture')],
                ...pictures.map(
                  ({ key: picture, alt }, index) => [picture, truncate(alt.value, 60) || t('picture', { n: index + 1 })] as const,
                ),
              ]}
            />
          </div>
        )}
      </div>
      <div class="fields">
        <CheckField label={t('track')} bind={draft.track} />
        <CheckField label={t('backorder')} bind={draft.backorder} />
        {editor.base.kind.value === 'STANDARD' && (
          <>
            <CheckField label={t('taxable')} bind={draft.taxable} />
            <CheckField label={t('shipping')} bind={draft.shipping} />
          </>
        )}
      </div>
    </>
  )
}
