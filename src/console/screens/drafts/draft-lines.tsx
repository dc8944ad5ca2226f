import type { Signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { moneyText } from '../../lib/format/format.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { common, invalidAmountText } from '../../lib/i18n/common.ts'
import { Button } from '../../ui/button.tsx'
import { MoneyField, NumberField } from '../../ui/fields.tsx'
import { Picker } from '../../ui/picker.tsx'
import { parsePrice, parseQuantity } from './draft.domain.ts'
import { createDraftLine, type DraftLine } from './form.ts'
import { t } from './i18n.ts'
import { type FoundVariant, findVariants } from './record-search.ts'

const linesMax = 100

type LinesProps = {
  readonly bind: Signal<readonly DraftLine[]>
  readonly currency: string
  /** Variants that the saved draft has too many units of. */
  readonly unavailable: ReadonlySet<string>
}

/** The lines of a draft order: found by search, with quantities and own prices. */
export function LinesField({ bind, currency, unavailable }: LinesProps) {
  const [pickedVariants, setPickedVariants] = useState<ReadonlyMap<string, FoundVariant>>(new Map())
  const isOutOfStock = ({ variantId, quantity }: DraftLine) => {
    const found = pickedVariants.get(variantId)
    return found ? (parseQuantity(quantity.value) ?? 0) > found.available : unavailable.has(variantId)
  }
  const hasVariant = ({ id }: { id: string }) => bind.value.some(({ variantId }) => variantId === id)
  function add(found: FoundVariant): void {
    setPickedVariants((before) => new Map(before).set(found.id, found))
    const existing = bind.value.find(({ variantId }) => variantId === found.id)
    // A variant that is picked again gets one more unit.
    if (existing) {
      const units = parseQuantity(existing.quantity.value)
      if (units !== undefined) existing.quantity.value = String(units + 1)
      return
    }
    if (bind.value.length >= linesMax) return
    const { id, title, variantName, price } = found
    bind.value = [...bind.value, createDraftLine({ variantId: id, title, detail: variantName, quantity: '1', price: moneyText(price) })]
  }
  return (
    <>
      <Picker
        label={t('add')}
        hint={t('addHint')}
        find={findVariants}
        isSelected={hasVariant}
        onPick={add}
        error={bind.value.length >= linesMax ? common('pickMax', { n: linesMax }) : undefined}
      />
      {bind.value.length > 0 && (
        <ul class="selected-lines priced" aria-label={t('lines')}>
          {bind.value.map((line) => (
            <LineField
              key={line.variantId}
              line={line}
              currency={currency}
              isOutOfStock={isOutOfStock(line)}
              onRemove={() => (bind.value = bind.value.filter((other) => other !== line))}
            />
          ))}
        </ul>
      )}
    </>
  )
}

type LineProps = { readonly line: DraftLine; readonly currency: string; readonly isOutOfStock: boolean; readonly onRemove: () => void }
const LineField = ({ line, currency, isOutOfStock, onRemove }: LineProps) => (
  <li>
    <span>
      <bdi class="cut">{line.title}</bdi>
      {line.detail && (
        <small class="faint">
          <bdi>{line.detail}</bdi>
        </small>
      )}
      {isOutOfStock && <small class="error">{t('short')}</small>}
    </span>
    <NumberField
      label={common('quantity')}
      bind={line.quantity}
      error={parseQuantity(line.quantity.value) === undefined ? t('wrong.quantity') : undefined}
    />
    <MoneyField
      label={t('price')}
      currency={currency}
      bind={line.price}
      placeholder={t('priceNow')}
      error={parsePrice(line.price.value, currency) === undefined ? invalidAmountText(currency) : undefined}
    />
    <Button kind="quiet" icon="close" label={`${common('remove')}: ${truncate(line.title)}`} onPress={onRemove} />
  </li>
)
