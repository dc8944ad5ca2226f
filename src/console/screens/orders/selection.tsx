import { type Signal, useSignal } from '@preact/signals'
import { canManage } from '../../lib/session/current-shop.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import type { Column } from '../../ui/table.tsx'
import { documentsPath, hasCreditNote, hasInvoice } from './document-kinds.ts'
import { t } from './i18n.ts'
import type { Order } from './order-types.ts'

/** Ids of the selected orders. */
export type Selection = Signal<ReadonlySet<string>>

/** Creates an empty selection that lives as long as the list is shown. */
export const useSelection = (): Selection => useSignal<ReadonlySet<string>>(new Set())

/** Returns a selection with some ids added or removed. */
export function select(selection: Selection, ids: readonly string[], isOn: boolean): void {
  const next = new Set(selection.value)
  for (const id of ids) isOn ? next.add(id) : next.delete(id)
  selection.value = next
}

/** Returns a column with a check box for each order. */
export const selectionColumn = (selection: Selection): Column<Order> => ({
  title: t('select'),
  cell: ({ id, number }) => (
    <label class="pick">
      <input
        type="checkbox"
        aria-label={t('selectOrder', { number: `#${number}` })}
        checked={selection.value.has(id)}
        onChange={({ currentTarget: { checked } }) => select(selection, [id], checked)}
      />
    </label>
  ),
})

/** Selects all orders of a page, and acts on the selected ones. */
export function SelectionBar({
  orders,
  selection,
  onFulfil,
}: {
  orders: readonly Order[]
  selection: Selection
  onFulfil: (selected: readonly Order[]) => void
}) {
  const selected = orders.filter(({ id }) => selection.value.has(id))
  const isAll = selected.length === orders.length
  return (
    <div class="row selection">
      <label class="pick">
        <input
          type="checkbox"
          checked={isAll}
          ref={(box) => {
            if (box) box.indeterminate = selected.length > 0 && !isAll
          }}
          onChange={({ currentTarget: { checked } }) =>
            select(
              selection,
              orders.map(({ id }) => id),
              checked,
            )
          }
        />
        <span>{t('selectAll')}</span>
      </label>
      {selected.length > 0 && (
        <>
          <span role="status">{t('selected', { n: selected.length })}</span>
          <Button kind="primary" icon="truck" onPress={() => onFulfil(selected)} text={t('send')} />
          <ButtonLink href={documentsPath('packing-slips', selected)} text={t('packingSlips')} />
          {canManage.value && selected.every(hasInvoice) && <ButtonLink href={documentsPath('invoices', selected)} text={t('invoices')} />}
          {canManage.value && selected.some(hasCreditNote) && (
            <ButtonLink href={documentsPath('credit-notes', selected.filter(hasCreditNote))} text={t('creditNotes')} />
          )}
        </>
      )}
    </div>
  )
}
