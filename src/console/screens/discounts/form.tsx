import { useSignal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import { api, ok, readVersioned, type Schema } from '../../lib/api/api.ts'
import { pickChanges, withoutNulls } from '../../lib/api/changed-fields.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { findCollections, findProducts } from '../../lib/api/record-search.ts'
import { moment, money, number, timeZone } from '../../lib/format/format.ts'
import type { Choice } from '../../lib/forms/choice.ts'
import { useDraft } from '../../lib/forms/use-draft.ts'
import { common, notAmount, stateName } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { shop, shopPath } from '../../lib/session/current-shop.ts'
import { CheckField, MoneyField, NumberField, SelectField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Section } from '../../ui/page.tsx'
import { PickField, type RecordFinder } from '../../ui/picker.tsx'
import { saveVersioned } from '../../ui/save-versioned.tsx'
import { type Body, blankDiscount, bodyFields, bodyOf, type DiscountText, type FieldErrors, textOf } from './discount.domain.ts'
import { t } from './i18n.ts'
import { discountValue } from './list.tsx'
import { readDiscount, type VersionedDiscount } from './read.ts'

type Discount = Schema<'Discount'>
const kinds = ['PERCENT', 'FIXED', 'FREE_SHIPPING'] as const
const productsMax = 250
const collectionsMax = 20

/** Strips the records from found choices, because the draft compares values. */
const withoutRecord =
  (find: RecordFinder<Choice>): RecordFinder<Choice> =>
  async (q, signal) =>
    (await find(q, signal)).map(({ id, text, detail }) => ({ id, text, detail }))

/** Creates or edits a discount. */
export function DiscountForm({ of, onSaved }: { of?: VersionedDiscount; onSaved?: (current: VersionedDiscount) => void }) {
  const { route } = useLocation()
  const zone = timeZone()
  const currency = shop.value?.currency ?? 'USD'
  const draft = useDraft<DiscountText>(of?.data.id ?? 'new', of ? textOf(of.data, { zone, ...of }) : blankDiscount)
  const wrong = useSignal<FieldErrors>({})
  const sendOnce = useIdempotentSend()
  const { kind, how } = draft.of
  const error = (field: keyof DiscountText): string | undefined => {
    const reason = wrong.value[field]
    if (reason === undefined) return undefined
    if (reason === 'required') return common('required')
    if (reason === 'amount') return notAmount(currency)
    return t(`wrong.${reason}`)
  }

  async function create(body: Body) {
    const made = await sendOnce(body, (key) =>
      ok(api.POST('/discounts', { params: { header: { 'idempotency-key': key } }, body: withoutNulls(body) })),
    )
    draft.reset(draft.now())
    notify(t('made'))
    route(shopPath('discounts', made.id), true)
  }
  async function change({ data, etag }: VersionedDiscount, body: Body) {
    const changes = pickChanges(body, data)
    const sent = draft.now()
    const isNothing = Object.keys(changes).length === 0
    const saved = isNothing
      ? { data, etag }
      : await saveVersioned(etag, {
          save: (version) =>
            sendOnce([changes, version], (key) =>
              readVersioned(
                api.PATCH('/discounts/{id}', {
                  params: { path: { id: data.id }, header: { 'idempotency-key': key, ...(version && { 'if-match': version }) } },
                  body: changes,
                }),
              ),
            ),
          theirs: async () => {
            const current = await readDiscount(data.id)
            return { data: current, etag: current.etag }
          },
          differences: (theirs) => differences(body, theirs),
          onTheirs({ data: current }) {
            draft.reset(textOf(current.data, { zone, ...current }))
            onSaved?.(current)
          },
        })
    if (!saved) return
    const { products, collections } = sent
    const current = { data: saved.data as Discount, etag: saved.etag, products, collections }
    draft.saved(textOf(current.data, { zone, ...current }), sent)
    onSaved?.(current)
    notify(common('saved'))
  }
  function submit() {
    const typed = bodyOf(draft.now(), { currency, zone, before: of?.data })
    wrong.value = 'wrong' in typed ? typed.wrong : {}
    if ('wrong' in typed) throw new Error(common('checkFields'))
    return of ? change(of, typed.body) : create(typed.body)
  }
  return (
    <Form
      onSubmit={async () => submit()}
      submit={of ? common('save') : common('create')}
      dirty={draft.dirty}
      label={of ? t('discount') : t('add')}
      keepsTyping={of !== undefined}
    >
      <Section title={t('what')}>
        <TextField bind={draft.of.title} label={t('name')} hint={t('nameHint')} required max={255} error={error('title')} />
        <div class="fields">
          <SelectField bind={kind} label={t('kind')} options={kinds.map((one) => [one, t(`kind.${one}`)])} />
          {kind.value === 'PERCENT' && (
            <TextField bind={draft.of.percent} label={t('percent')} inputMode="decimal" code required error={error('percent')} />
          )}
          {kind.value === 'FIXED' && (
            <MoneyField
              bind={draft.of.amount}
              label={t('amount')}
              currency={currency}
              required
              hint={t('amountHint')}
              error={error('amount')}
            />
          )}
        </div>
        <div class="fields">
          <SelectField
            bind={how}
            label={t('how')}
            options={[
              ['CODE', t('byCode')],
              ['AUTOMATIC', t('automatic')],
            ]}
          />
          {how.value === 'CODE' && (
            <TextField bind={draft.of.code} label={t('code')} hint={t('codeHint')} required max={64} code error={error('code')} />
          )}
        </div>
        <CheckField bind={draft.of.isActive} label={common('active')} hint={t('isActiveHint')} />
      </Section>
      <Section title={t('forWhat')} hint={t('forWhatHint')}>
        <div class="grid">
          <PickField bind={draft.of.products} max={productsMax} label={t('products')} find={withoutRecord(findProducts)} />
          <PickField bind={draft.of.collections} max={collectionsMax} label={t('collections')} find={withoutRecord(findCollections)} />
        </div>
        <MoneyField
          bind={draft.of.minSubtotal}
          label={t('minSubtotal')}
          currency={currency}
          hint={t('minSubtotalHint')}
          error={error('minSubtotal')}
        />
      </Section>
      <Section title={common('when')} hint={t('zone', { zone })}>
        <div class="fields">
          <TextField
            bind={draft.of.startsAt}
            label={t('startsAt')}
            type="datetime-local"
            hint={t('startsHint')}
            error={error('startsAt')}
          />
          <TextField bind={draft.of.endsAt} label={t('endsAt')} type="datetime-local" hint={t('endsHint')} error={error('endsAt')} />
        </div>
      </Section>
      <Section title={t('limits')} hint={of?.data.used != null ? t('usedSoFar', { n: of.data.used }) : undefined}>
        <div class="fields">
          <NumberField bind={draft.of.usageLimit} label={t('usageLimit')} hint={t('noLimitHint')} max={10} error={error('usageLimit')} />
          <NumberField
            bind={draft.of.perCustomerLimit}
            label={t('perCustomerLimit')}
            hint={t('noLimitHint')}
            max={10}
            error={error('perCustomerLimit')}
          />
        </div>
      </Section>
    </Form>
  )
}

const labels = {
  title: 'name',
  code: 'code',
  kind: 'kind',
  valueBps: 'takesOff',
  amount: 'takesOff',
  minSubtotal: 'minSubtotal',
  productIds: 'products',
  collectionIds: 'collections',
  startsAt: 'startsAt',
  endsAt: 'endsAt',
  usageLimit: 'usageLimit',
  perCustomerLimit: 'perCustomerLimit',
} as const

/** Lists the differing fields of a conflict. */
function differences(mine: Body, { data, products, collections }: VersionedDiscount): readonly (readonly [string, string, string])[] {
  const names = new Map([...products, ...collections].map(({ id, text }) => [id, text]))
  const say = (of: Body, field: (typeof bodyFields)[number]): string => {
    const value = of[field]
    if (value === null) return '–'
    switch (field) {
      case 'kind':
        return t(`kind.${of.kind}`)
      case 'valueBps':
      case 'amount':
        return discountValue(of)
      case 'minSubtotal':
        return of.minSubtotal ? money(of.minSubtotal) : '–'
      case 'startsAt':
      case 'endsAt':
        return moment(String(value))
      case 'status':
        return stateName(of.status)
      case 'productIds':
      case 'collectionIds':
        return (of[field] ?? []).map((id) => names.get(id) ?? id).join(', ')
      default:
        return typeof value === 'number' ? number(value) : String(value)
    }
  }
  return bodyFields
    .filter((field) => JSON.stringify(mine[field]) !== JSON.stringify(data[field]))
    .map((field) => [field === 'status' ? common('status') : t(labels[field]), say(mine, field), say(data, field)])
}
