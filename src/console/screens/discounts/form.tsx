import { useSignal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import { api, ifMatch, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import { pickChanges, withoutNulls } from '../../lib/api/changed-fields.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { findCollections, findProducts } from '../../lib/api/record-search.ts'
import type { Resource } from '../../lib/api/resource.ts'
import { moment, money, number, timeZone } from '../../lib/format/format.ts'
import type { Choice } from '../../lib/forms/choice.ts'
import { common, invalidAmountText, stateName } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { shop, shopPath } from '../../lib/session/current-shop.ts'
import { CheckField, MoneyField, NumberField, SelectField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Section } from '../../ui/page.tsx'
import { PickField, type RecordFinder } from '../../ui/picker.tsx'
import { useRecordEditor } from '../../ui/use-record-editor.ts'
import { type Body, blankDiscount, bodyFields, bodyOf, type DiscountText, type FieldErrors, textOf } from './discount.domain.ts'
import { t } from './i18n.ts'
import { discountValue } from './list.tsx'
import { type NamedDiscount, withoutRecord } from './read.ts'

type Discount = Schema<'Discount'>
const kinds = ['PERCENT', 'FIXED', 'FREE_SHIPPING'] as const
const productsMax = 250
const collectionsMax = 20

/** Wraps a search so that its choices have no records. */
const findWithoutRecords =
  (find: RecordFinder<Choice>): RecordFinder<Choice> =>
  async (q, signal) =>
    (await find(q, signal)).map(withoutRecord)

/** Creates or edits a discount. */
export function DiscountForm({ current, resource }: { current?: Versioned<NamedDiscount>; resource?: Resource<Versioned<NamedDiscount>> }) {
  const { route } = useLocation()
  const zone = timeZone()
  const currency = shop.value?.currency ?? 'USD'
  const editor = useRecordEditor(resource, current, (discount: NamedDiscount) => textOf(discount, { ...discount, zone }), blankDiscount)
  const errors = useSignal<FieldErrors>({})
  const sendOnce = useIdempotentSend()
  const { fields } = editor
  const { kind, how } = fields
  const errorText = (name: keyof DiscountText): string | undefined => {
    const reason = errors.value[name]
    if (reason === undefined) return undefined
    if (reason === 'required') return common('required')
    if (reason === 'amount') return invalidAmountText(currency)
    return t(`wrong.${reason}`)
  }

  async function save(): Promise<void> {
    const base = editor.base()
    const input = editor.values()
    const result = bodyOf(input, { currency, zone, before: base?.data })
    errors.value = 'errors' in result ? result.errors : {}
    if ('errors' in result) throw new Error(common('checkFields'))
    const { body } = result
    const changes = pickChanges(body, base?.data ?? {})
    const send = (version: string | undefined): Promise<Versioned<Discount>> =>
      sendOnce([changes, version], (header) =>
        base
          ? readVersioned(
              api.PATCH('/discounts/{id}', {
                params: { path: { id: base.data.id }, header: { ...header, ...ifMatch(version) } },
                body: changes,
              }),
            )
          : readVersioned(api.POST('/discounts', { params: { header }, body: withoutNulls(body) })),
      )
    const saved = await editor.save({
      async save(version) {
        if (base && Object.keys(changes).length === 0) return base
        const { data, etag } = await send(version)
        return { data: { ...data, products: input.products, collections: input.collections }, etag }
      },
      differences: (theirs) => differences(body, theirs),
    })
    if (!saved) return
    notify(base ? common('saved') : t('made'))
    if (!base) route(shopPath('discounts', saved.data.id), true)
  }
  return (
    <Form
      onSubmit={save}
      submit={current ? common('save') : common('create')}
      dirty={editor.isDirty}
      label={current ? t('discount') : t('add')}
      isEditableWhileSending={current !== undefined}
    >
      <Section title={t('what')}>
        <TextField bind={fields.title} label={common('title')} hint={t('nameHint')} required max={255} error={errorText('title')} />
        <div class="fields">
          <SelectField bind={kind} label={t('kind')} options={kinds.map((kind) => [kind, t(`kind.${kind}`)])} />
          {kind.value === 'PERCENT' && (
            <TextField bind={fields.percent} label={t('percent')} inputMode="decimal" code required error={errorText('percent')} />
          )}
          {kind.value === 'FIXED' && (
            <MoneyField
              bind={fields.amount}
              label={t('amount')}
              currency={currency}
              required
              hint={t('amountHint')}
              error={errorText('amount')}
            />
          )}
        </div>
        <div class="fields">
          <SelectField
            bind={how}
            label={t('how')}
            options={[
              ['CODE', t('discountCode')],
              ['AUTOMATIC', t('automatic')],
            ]}
          />
          {how.value === 'CODE' && (
            <TextField bind={fields.code} label={t('discountCode')} hint={t('codeHint')} required max={64} code error={errorText('code')} />
          )}
        </div>
        <CheckField bind={fields.isActive} label={common('active')} hint={t('isActiveHint')} />
      </Section>
      <Section title={t('forWhat')} hint={t('forWhatHint')}>
        <div class="grid">
          <PickField bind={fields.products} max={productsMax} label={common('products')} find={findWithoutRecords(findProducts)} />
          <PickField
            bind={fields.collections}
            max={collectionsMax}
            label={common('collections')}
            find={findWithoutRecords(findCollections)}
          />
        </div>
        <MoneyField
          bind={fields.minSubtotal}
          label={t('minSubtotal')}
          currency={currency}
          hint={t('minSubtotalHint')}
          error={errorText('minSubtotal')}
        />
      </Section>
      <Section title={t('dates')} hint={t('zone', { zone })}>
        <div class="fields">
          <TextField
            bind={fields.startsAt}
            label={t('startsAt')}
            type="datetime-local"
            hint={t('startsHint')}
            error={errorText('startsAt')}
          />
          <TextField bind={fields.endsAt} label={t('endsAt')} type="datetime-local" hint={t('endsHint')} error={errorText('endsAt')} />
        </div>
      </Section>
      <Section title={t('limits')} hint={current?.data.used != null ? t('usedSoFar', { n: current.data.used }) : undefined}>
        <div class="fields">
          <NumberField bind={fields.usageLimit} label={t('usageLimit')} hint={t('noLimitHint')} max={10} error={errorText('usageLimit')} />
          <NumberField
            bind={fields.perCustomerLimit}
            label={t('perCustomerLimit')}
            hint={t('noLimitHint')}
            max={10}
            error={errorText('perCustomerLimit')}
          />
        </div>
      </Section>
    </Form>
  )
}

const labels = (): Readonly<Record<(typeof bodyFields)[number], string>> => ({
  title: common('title'),
  code: t('discountCode'),
  kind: t('kind'),
  valueBps: t('takesOff'),
  amount: t('takesOff'),
  minSubtotal: t('minSubtotal'),
  productIds: common('products'),
  collectionIds: common('collections'),
  startsAt: t('startsAt'),
  endsAt: t('endsAt'),
  usageLimit: t('usageLimit'),
  perCustomerLimit: t('perCustomerLimit'),
  status: common('status'),
})

/** Lists the differing fields of a conflict. */
function differences(mine: Body, theirs: NamedDiscount): readonly (readonly [string, string, string])[] {
  const names = new Map([...theirs.products, ...theirs.collections].map(({ id, text }) => [id, text]))
  const valueText = (values: Body, field: (typeof bodyFields)[number]): string => {
    const value = values[field]
    if (value === null) return '–'
    switch (field) {
      case 'kind':
        return t(`kind.${values.kind}`)
      case 'valueBps':
      case 'amount':
        return discountValue(values)
      case 'minSubtotal':
        return values.minSubtotal ? money(values.minSubtotal) : '–'
      case 'startsAt':
      case 'endsAt':
        return moment(String(value))
      case 'status':
        return stateName(values.status)
      case 'productIds':
      case 'collectionIds':
        return (values[field] ?? []).map((id) => names.get(id) ?? id).join(', ')
      default:
        return typeof value === 'number' ? number(value) : String(value)
    }
  }
  return bodyFields
    .filter((field) => JSON.stringify(mine[field]) !== JSON.stringify(theirs[field]))
    .map((field) => [labels()[field], valueText(mine, field), valueText(theirs, field)])
}
