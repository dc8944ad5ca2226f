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
import { AddressFields, type AddressForm, addressLine } from '../../ui/address.tsx'
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
  current,
  isClosed,
  onSaved,
}: {
  current?: VersionedDraft
  isClosed?: boolean
  onSaved?: (now: VersionedDraft) => void
}) {
  const { route } = useLocation()
  const currency = current?.data.currency ?? shop.value?.currency ?? 'USD'
  const country = shop.value?.country ?? ''
  // The base version stays until another is set.
  const [base, setBase] = useState(() => ({ text: current ? textOf(current.data) : blankDraft, etag: current?.etag ?? '' }))
  const form = useMemo(() => createDraftForm(base.text, country), [])
  useLayoutEffect(() => {
    if (!current || current.etag === base.etag) return
    const now = textOf(current.data)
    fillDraftForm(form, now, country)
    setBase({ text: now, etag: current.etag })
  }, [current])
  const sendOnce = useIdempotentSend()
  const input = readDraftForm(form)
  const isDirty = JSON.stringify(bodyOf(input, currency)) !== JSON.stringify(bodyOf(base.text, currency))
  const subtotal = subtotalOf(input, currency)

  async function create(): Promise<void> {
    const body = bodyOf(input, currency)
    const draft = await sendOnce(body, (header) => ok(api.POST('/v2/orders/drafts', { params: { header }, body })))
    notify(t('created'))
    route(shopPath('orders', 'drafts', draft.id), true)
  }
  async function change({ data: { id } }: VersionedDraft): Promise<void> {
    const body = changeOf(base.text, input, currency)
    const saved = await saveVersioned(base.etag, {
      save: (etag) =>
        sendOnce([body, etag], (header) =>
          readVersioned(api.PATCH('/v2/orders/drafts/{id}', { params: { path: { id }, header: { ...header, ...ifMatch(etag) } }, body })),
        ),
      readCurrent: () => readVersioned(api.GET('/v2/orders/drafts/{id}', { params: { path: { id } } })),
      differences: (theirs) => differencesOf(input, textOf(theirs), body),
      onViewCurrent: (now) => onSaved?.(now),
    })
    if (!saved) return
    notify(common('saved'))
    onSaved?.(saved)
  }
  async function save(): Promise<void> {
    if (isClosed) throw new Error(t('closedMeanwhile'))
    const error = findLineError(input, currency)
    if (error) throw new Error(t(`wrong.${error.problem}`))
    await (current ? change(current) : create())
  }
  return (
    <Form onSubmit={save} submit={current ? common('save') : t('create')} dirty={isDirty} label={t('draft')}>
      <Section title={t('lines')}>
        <LinesField bind={form.lines} currency={currency} unavailable={unavailableIn(current)} />
        {subtotal !== undefined && input.lines.length > 0 && (
          <p class="end">
            {common('subtotal')}: <strong>{money({ amount: subtotal, currency })}</strong>
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

const unavailableIn = (draft: VersionedDraft | undefined): ReadonlySet<string> =>
  new Set(draft?.data.status === 'OPEN' ? draft.data.lines.filter(({ available }) => !available).map(({ variantId }) => variantId) : [])

function CustomerSection({ form }: { form: DraftForm }) {
  const id = form.customer.value[0]?.id
  // A draft holds only the customer's id.
  useEffect(() => {
    if (id && form.customer.peek()[0]?.text === id)
      ok(api.GET('/customer/{customerId}', { params: { path: { customerId: id } } })).then(
        (customer) => setCustomerName(form, customer),
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
  const shippingMethods: readonly Schema<'ShippingMethod'>[] = methods.data.value?.data ?? []
  const selectedCode = form.shippingMethod.value
  const isShopAddress = form.shippingBy.value === 'shop'
  // "Same as shipping" is impossible while the shopper sets the shipping address.
  useEffect(() => {
    if (!isShopAddress && form.billingBy.peek() === 'same') form.billingBy.value = 'shopper'
  }, [isShopAddress, form])
  const options = shippingMethods.map(({ code, title }) => [code, title] as const)
  return (
    <Section title={t('where')}>
      <AddressField label={t('shippingAddress')} bind={form.shippingBy} form={form.shipping} sources={['shopper', 'shop']} />
      <AddressField
        label={t('billingAddress')}
        bind={form.billingBy}
        form={form.billing}
        sources={isShopAddress ? ['shopper', 'same', 'shop'] : ['shopper', 'shop']}
      />
      {methods.error.value !== undefined && <ErrorMessage error={methods.error.value} retry={methods.reload} />}
      {(shippingMethods.length > 0 || selectedCode !== '') && (
        <SelectField
          label={t('method')}
          bind={form.shippingMethod}
          options={[
            ['', t('methodByShopper')],
            ...options,
            ...(selectedCode && !shippingMethods.some(({ code }) => code === selectedCode) ? [[selectedCode, selectedCode] as const] : []),
          ]}
        />
      )}
    </Section>
  )
}

const AddressField = ({
  label,
  bind,
  form,
  sources,
}: {
  label: string
  bind: Signal<AddressSource>
  form: AddressForm
  sources: readonly AddressSource[]
}) => (
  <>
    <SelectField label={label} bind={bind} options={sources.map((source) => [source, t(`says.${source}`)] as const)} />
    {bind.value === 'shop' && (
      <fieldset class="sub" aria-label={label}>
        <AddressFields form={form} required />
      </fieldset>
    )}
  </>
)

/** Lists the differing fields of a conflict. */
function differencesOf(yours: DraftText, theirs: DraftText, changed: object): readonly (readonly [string, string, string])[] {
  const lines = ({ lines: all }: DraftText) =>
    all.map(({ title, detail, quantity, price }) => `${quantity} × ${title} ${detail} (${price})`).join('; ')
  const rows: readonly (readonly [keyof DraftText, string, string, string])[] = [
    ['lines', t('lines'), lines(yours), lines(theirs)],
    ['email', common('email'), yours.email, theirs.email],
    ['customerId', common('customer'), yours.customerId ?? '', theirs.customerId ?? ''],
    ['shippingAddress', t('shippingAddress'), addressLine(yours.shippingAddress), addressLine(theirs.shippingAddress)],
    ['billingAddress', t('billingAddress'), addressLine(yours.billingAddress), addressLine(theirs.billingAddress)],
    ['shippingMethod', t('method'), yours.shippingMethod, theirs.shippingMethod],
    ['discountCode', t('discountCode'), yours.discountCode, theirs.discountCode],
    ['note', common('note'), yours.note, theirs.note],
  ]
  const changedRows = rows.filter(([name, , mine, there]) => mine !== there || Object.hasOwn(changed, name))
  return changedRows.map(([, name, mine, there]) => [name, mine || '–', there || '–'] as const)
}
