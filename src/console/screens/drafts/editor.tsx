import type { Signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { api, ifMatch, ok, readVersioned, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { findCustomers } from '../../lib/api/record-search.ts'
import { useResource } from '../../lib/api/resource.ts'
import { money } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { shop, shopPath } from '../../lib/session/current-shop.ts'
import { AddressFields, type AddressForm } from '../../ui/address.tsx'
import { ErrorMessage } from '../../ui/error-message.tsx'
import { SelectField, TextAreaField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Section } from '../../ui/page.tsx'
import { PickField } from '../../ui/picker.tsx'
import { saveVersioned } from '../../ui/save-versioned.tsx'
import { blankDraft, bodyOf, changeOf, type DraftText, findLineError, subtotalOf, textOf, type VersionedDraft } from './draft.domain.ts'
import { LinesField } from './draft-lines.tsx'
import { type AddressSource, createDraftForm, type DraftForm, fillDraftForm, readDraftForm, setCustomerName } from './form.ts'
import { t } from './i18n.ts'

/**
 * The form of a draft order.
 * @param isClosed whether the draft can no longer be saved
 * @param onSaved called with the stored draft
 */
export function DraftEditor({
  of,
  isClosed,
  onSaved,
}: {
  of?: VersionedDraft
  isClosed?: boolean
  onSaved?: (now: VersionedDraft) => void
}) {
  const { route } = useLocation()
  const currency = of?.data.currency ?? shop.value?.currency ?? 'USD'
  const country = shop.value?.country ?? ''
  // The base version stays until another is set.
  const [begun, begin] = useState(() => ({ typed: of ? textOf(of.data) : blankDraft, etag: of?.etag ?? '' }))
  const form = useMemo(() => createDraftForm(begun.typed, country), [])
  useLayoutEffect(() => {
    if (!of || of.etag === begun.etag) return
    const now = textOf(of.data)
    fillDraftForm(form, now, country)
    begin({ typed: now, etag: of.etag })
  }, [of])
  const sendOnce = useIdempotentSend()
  const typed = readDraftForm(form)
  const isDirty = JSON.stringify(bodyOf(typed, currency)) !== JSON.stringify(bodyOf(begun.typed, currency))
  const sum = subtotalOf(typed, currency)

  async function create(): Promise<void> {
    const body = bodyOf(typed, currency)
    const made = await sendOnce(body, (header) => ok(api.POST('/v2/orders/drafts', { params: { header }, body })))
    notify(t('created'))
    route(shopPath('orders', 'drafts', made.id), true)
  }
  async function change({ data: { id } }: VersionedDraft): Promise<void> {
    const body = changeOf(begun.typed, typed, currency)
    const saved = await saveVersioned(begun.etag, {
      save: (etag) =>
        sendOnce([body, etag], (header) =>
          readVersioned(api.PATCH('/v2/orders/drafts/{id}', { params: { path: { id }, header: { ...header, ...ifMatch(etag) } }, body })),
        ),
      theirs: () => readVersioned(api.GET('/v2/orders/drafts/{id}', { params: { path: { id } } })),
      differences: (theirs) => differencesOf(typed, textOf(theirs), body),
      onTheirs: (now) => onSaved?.(now),
    })
    if (!saved) return
    notify(common('saved'))
    onSaved?.(saved)
  }
  async function save(): Promise<void> {
    if (isClosed) throw new Error(t('closedMeanwhile'))
    const wrong = findLineError(typed, currency)
    if (wrong) throw new Error(t(`wrong.${wrong.what}`))
    await (of ? change(of) : create())
  }
  return (
    <Form onSubmit={save} submit={of ? common('save') : t('create')} dirty={isDirty} label={t('draft')}>
      <Section title={t('lines')}>
        <LinesField bind={form.lines} currency={currency} unavailable={unavailableIn(of)} />
        {sum !== undefined && typed.lines.length > 0 && (
          <p class="end">
            {common('subtotal')}: <strong>{money({ amount: sum, currency })}</strong>
          </p>
        )}
      </Section>
      <CustomerSection form={form} />
      <DeliverySection form={form} />
      <Section title={t('more')}>
        <TextField label={t('discountCode')} bind={form.discountCode} name="discountCode" max={64} hint={t('discountHint')} code />
        <TextAreaField label={common('note')} bind={form.note} rows={2} max={2000} hint={t('noteHint')} />
      </Section>
    </Form>
  )
}

const unavailableIn = (of: VersionedDraft | undefined): ReadonlySet<string> =>
  new Set(of?.data.status === 'OPEN' ? of.data.lines.filter(({ available }) => !available).map(({ variantId }) => variantId) : [])

function CustomerSection({ form }: { form: DraftForm }) {
  const id = form.customer.value[0]?.id
  // A draft holds only the customer's id.
  useEffect(() => {
    if (id && form.customer.peek()[0]?.text === id)
      ok(api.GET('/customer/{customerId}', { params: { path: { customerId: id } } })).then(
        (of) => setCustomerName(form, of),
        () => undefined,
      )
  }, [id, form])
  return (
    <Section title={t('who')} hint={t('leftOpen')}>
      <TextField label={common('email')} bind={form.email} name="email" type="email" max={254} hint={t('emailHint')} />
      <PickField label={common('customer')} bind={form.customer} max={1} find={findCustomers} hint={t('customerHint')} />
    </Section>
  )
}

function DeliverySection({ form }: { form: DraftForm }) {
  const methods = useResource('methods', (signal) => ok(api.GET('/shops/v2/shipping-methods', { signal })))
  const known: readonly Schema<'ShippingMethod'>[] = methods.data.value?.data ?? []
  const chosen = form.shippingMethod.value
  const isSaid = form.shippingBy.value === 'shop'
  // "Same as shipping" is impossible while the shopper sets the shipping address.
  useEffect(() => {
    if (!isSaid && form.billingBy.peek() === 'same') form.billingBy.value = 'shopper'
  }, [isSaid, form])
  const options = known.map(({ code, title }) => [code, title] as const)
  return (
    <Section title={t('where')}>
      <AddressField label={t('shippingAddress')} bind={form.shippingBy} of={form.shipping} says={['shopper', 'shop']} />
      <AddressField
        label={t('billingAddress')}
        bind={form.billingBy}
        of={form.billing}
        says={isSaid ? ['shopper', 'same', 'shop'] : ['shopper', 'shop']}
      />
      {methods.error.value !== undefined && <ErrorMessage error={methods.error.value} retry={methods.reload} />}
      {(known.length > 0 || chosen !== '') && (
        <SelectField
          label={t('method')}
          bind={form.shippingMethod}
          options={[
            ['', t('methodByShopper')],
            ...options,
            ...(chosen && !known.some(({ code }) => code === chosen) ? [[chosen, chosen] as const] : []),
          ]}
        />
      )}
    </Section>
  )
}

const AddressField = ({
  label,
  bind,
  of,
  says,
}: {
  label: string
  bind: Signal<AddressSource>
  of: AddressForm
  says: readonly AddressSource[]
}) => (
  <>
    <SelectField label={label} bind={bind} options={says.map((one) => [one, t(`says.${one}`)] as const)} />
    {bind.value === 'shop' && (
      <fieldset class="sub" aria-label={label}>
        <AddressFields of={of} required />
      </fieldset>
    )}
  </>
)

/** Lists the differing fields of a conflict. */
function differencesOf(yours: DraftText, theirs: DraftText, changed: object): readonly (readonly [string, string, string])[] {
  const lines = ({ lines: all }: DraftText) =>
    all.map(({ title, detail, quantity, price }) => `${quantity} × ${title} ${detail} (${price})`).join('; ')
  const address = (of: DraftText['shippingAddress']) => (of ? Object.values(of).filter(Boolean).join(', ') : '–')
  const rows: readonly (readonly [keyof DraftText, string, string, string])[] = [
    ['lines', t('lines'), lines(yours), lines(theirs)],
    ['email', common('email'), yours.email, theirs.email],
    ['customerId', common('customer'), yours.customerId ?? '', theirs.customerId ?? ''],
    ['shippingAddress', t('shippingAddress'), address(yours.shippingAddress), address(theirs.shippingAddress)],
    ['billingAddress', t('billingAddress'), address(yours.billingAddress), address(theirs.billingAddress)],
    ['shippingMethod', t('method'), yours.shippingMethod, theirs.shippingMethod],
    ['discountCode', t('discountCode'), yours.discountCode, theirs.discountCode],
    ['note', common('note'), yours.note, theirs.note],
  ]
  const isOther = rows.filter(([name, , mine, there]) => mine !== there || Object.hasOwn(changed, name))
  return isOther.map(([, name, mine, there]) => [name, mine || '–', there || '–'] as const)
}
