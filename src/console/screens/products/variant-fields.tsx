import { short } from '../../lib/format/truncate.ts'
import { CheckField, MoneyField, NumberField, SelectField, TextField } from '../../ui/fields.tsx'
import { Picture } from '../../ui/picture.tsx'
import type { Editor, Row } from './editor.ts'
import { wrongOf } from './field-texts.ts'
import { w } from './i18n.ts'

/** What of a variant is not in every row. */
export function VariantFields({ row, editor, currency }: { row: Row; editor: Editor; currency: string }) {
  const { draft, key } = row
  const wrong = (field: string) => wrongOf(editor, `rows.${key}.${field}`, currency)
  const pictures = editor.pictures.value
  const shown = pictures.find((one) => one.key === draft.picture.value)
  return (
    <>
      <div class="fields">
        <MoneyField
          label={w('compareAt')}
          currency={currency}
          bind={draft.compareAt}
          max={20}
          hint={w('compareAtHint')}
          error={wrong('compareAt')}
        />
        <MoneyField label={w('cost')} currency={currency} bind={draft.cost} max={20} hint={w('costHint')} error={wrong('cost')} />
        <TextField label={w('barcode')} bind={draft.barcode} max={255} code />
        <NumberField label={w('weight')} bind={draft.weight} max={9} error={wrong('weight')} />
        <TextField label={w('taxClass')} bind={draft.taxClass} max={40} code hint={w('taxClassHint')} />
        <NumberField label={w('lowStockAt')} bind={draft.lowStockAt} max={10} hint={w('lowStockHint')} error={wrong('lowStockAt')} />
        {pictures.length > 0 && (
          <div class="named">
            <Picture url={shown?.url} />
            <SelectField
              label={w('variantPicture')}
              bind={draft.picture}
              options={[
                ['', w('noPicture')],
                ...pictures.map(({ key: picture, alt }, nth) => [picture, short(alt.value, 60) || w('picture', { n: nth + 1 })] as const),
              ]}
            />
          </div>
        )}
      </div>
      <div class="fields">
        <CheckField label={w('track')} bind={draft.track} />
        <CheckField label={w('backorder')} bind={draft.backorder} />
        <CheckField label={w('taxable')} bind={draft.taxable} />
        <CheckField label={w('shipping')} bind={draft.shipping} />
      </div>
    </>
  )
}
