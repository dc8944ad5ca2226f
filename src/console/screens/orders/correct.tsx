import { api, ifMatch, readVersioned } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { money } from '../../lib/format/format.ts'
import type { Money } from '../../lib/forms/amounts.ts'
import type { Versioned } from '../../lib/forms/use-draft.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { AddressFields, addressOf, addressTexts } from '../../ui/address.tsx'
import { confirm, FormDialog } from '../../ui/dialog.tsx'
import { TagsField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { ResourceView } from '../../ui/page.tsx'
import { useRecordEditor } from '../../ui/use-record-editor.ts'
import { t } from './i18n.ts'
import type { Order } from './order-types.ts'

/** What a dialog corrects: the e-mail address and tags, or an address. */
export const corrections = ['contact', 'shippingAddress', 'billingAddress'] as const
export type Correction = (typeof corrections)[number]
const tagsMax = 50
const correctable: readonly Order['status'][] = ['PENDING_PAYMENT', 'PAID', 'CONFIRMED']

/** Whether an order can still be corrected. */
export const isCorrectable = ({ status }: Pick<Order, 'status'>): boolean => correctable.includes(status)

type DialogProps = { of: Order; what: Correction; onClose: () => void; onDone: () => Promise<void> }

/** Corrects a part of an order that is not sent completely. */
export function CorrectDialog({ of: { id }, what, onClose, onDone }: DialogProps) {
  const current = useResource(id, (signal) =>
    readVersioned<Order>(api.GET('/v2/orders/{orderId}', { params: { path: { orderId: id } }, signal })),
  )
  const title = what === 'contact' ? t('editContact') : t(what)
  return (
    <FormDialog title={title} onClose={onClose}>
      <ResourceView of={current}>
        {(of) => <CorrectForm of={of} what={what} title={title} resource={current} onDone={onDone} />}
      </ResourceView>
    </FormDialog>
  )
}

type FormProps = {
  of: Versioned<Order>
  what: Correction
  title: string
  resource: Resource<Versioned<Order>>
  onDone: () => Promise<void>
}

function CorrectForm({ of, what, title, resource, onDone }: FormProps) {
  const editor = useRecordEditor(resource, of, (order) => ({
    ...addressTexts(what === 'contact' ? null : order[what]),
    email: order.email ?? '',
    tags: (order.tags ?? []) as readonly string[],
  }))
  const sendOnce = useIdempotentSend()
  const address = addressOf(editor.of)
  const bodyOf = (): object => {
    if (what !== 'contact') {
      if (!address?.countryCode) throw new Error(t('countryNeeded'))
      return { [what]: address }
    }
    return { email: editor.of.email.value.trim(), tags: [...editor.of.tags.value] }
  }
  async function save(): Promise<void> {
    const body = bodyOf()
    const send = (version: string | undefined, more: object = {}) =>
      sendOnce([body, more, version], (header) =>
        readVersioned<Order>(
          api.PATCH('/v2/orders/{orderId}', {
            params: { path: { orderId: of.data.id }, header: { ...header, ...ifMatch(version) } },
            body: { ...body, ...more },
          }),
        ),
      )
    const saved = await editor.save({
      async save(version) {
        try {
          return await send(version)
        } catch (error) {
          if (!(error instanceof ApiError) || error.difference === undefined) throw error
          if (!(await confirmDifference(error.difference as Difference))) throw error
          return send(version, { acceptDifference: true })
        }
      },
      differences: (theirs) => differencesOf(what, { ...of.data, ...body }, theirs),
    })
    if (!saved) return
    notify(common('saved'))
    await onDone()
  }
  return (
    <Form onSubmit={save} dirty={editor.dirty} label={title}>
      {what === 'contact' ? (
        <>
          <TextField bind={editor.of.email} name="email" label={common('email')} type="email" required max={254} hint={t('newEmailHint')} />
          <TagsField bind={editor.of.tags} label={common('tags')} hint={t('noteHint')} max={tagsMax} />
        </>
      ) : (
        <AddressFields of={editor.of} required />
      )}
    </Form>
  )
}

function differencesOf(what: Correction, yours: Order, theirs: Order): readonly (readonly [string, string, string])[] {
  if (what !== 'contact') return [[t(what), addressLine(yours[what]), addressLine(theirs[what])]]
  return [
    [common('email'), yours.email ?? '–', theirs.email ?? '–'],
    [common('tags'), (yours.tags ?? []).join(', '), (theirs.tags ?? []).join(', ')],
  ]
}
const addressLine = (address: Order['shippingAddress']): string => (address ? Object.values(address).filter(Boolean).join(', ') : '–')

type Change = { readonly before: Money; readonly after: Money | null }
type Difference = Readonly<Record<'shippingTotal' | 'taxTotal' | 'taxIncluded' | 'total', Change>>

/** Shows what the new address would change, and asks whether to use it anyway. */
const confirmDifference = (difference: Difference): Promise<boolean> =>
  confirm({
    title: t('differenceTitle'),
    action: t('differenceAccept'),
    body: (
      <>
        <p>{t('differenceText')}</p>
        <ul>
          {(['shippingTotal', 'taxTotal', 'taxIncluded', 'total'] as const)
            .filter((name) => difference[name].before.amount !== difference[name].after?.amount)
            .map((name) => (
              <li key={name}>
                {t(`difference.${name}`)}: {money(difference[name].before)} →{' '}
                {difference[name].after ? money(difference[name].after) : t('notOffered')}
              </li>
            ))}
        </ul>
      </>
    ),
  })
