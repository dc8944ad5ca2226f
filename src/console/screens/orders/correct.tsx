import { api, ifMatch, readVersioned, type Versioned } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { money } from '../../lib/format/format.ts'
import type { Money } from '../../lib/forms/amounts.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { AddressFields, addressLine, addressOf, addressTexts } from '../../ui/address.tsx'
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
const correctableStatuses: readonly Order['status'][] = ['PENDING_PAYMENT', 'PAID', 'CONFIRMED']

/** Returns whether an order can still be corrected. */
export const isCorrectable = ({ status }: Pick<Order, 'status'>): boolean => correctableStatuses.includes(status)

type DialogProps = { order: Order; correction: Correction; onClose: () => void; onDone: () => Promise<void> }

/** Corrects a part of an order that is not sent completely. */
export function CorrectDialog({ order: { id }, correction, onClose, onDone }: DialogProps) {
  const current = useResource(id, (signal) =>
    readVersioned<Order>(api.GET('/v2/orders/{orderId}', { params: { path: { orderId: id } }, signal })),
  )
  const title = correction === 'contact' ? t('editContact') : t(correction)
  return (
    <FormDialog title={title} onClose={onClose}>
      <ResourceView resource={current}>
        {(of) => <CorrectForm version={of} correction={correction} title={title} resource={current} onDone={onDone} />}
      </ResourceView>
    </FormDialog>
  )
}

type FormProps = {
  version: Versioned<Order>
  correction: Correction
  title: string
  resource: Resource<Versioned<Order>>
  onDone: () => Promise<void>
}

function CorrectForm({ version, correction, title, resource, onDone }: FormProps) {
  const editor = useRecordEditor(resource, version, (order) => ({
    ...addressTexts(correction === 'contact' ? null : order[correction]),
    email: order.email ?? '',
    tags: (order.tags ?? []) as readonly string[],
  }))
  const sendOnce = useIdempotentSend()
  const address = addressOf(editor.fields)
  const buildBody = (): object => {
    if (correction !== 'contact') {
      if (!address?.countryCode) throw new Error(t('countryNeeded'))
      return { [correction]: address }
    }
    return { email: editor.fields.email.value.trim(), tags: [...editor.fields.tags.value] }
  }
  async function save(): Promise<void> {
    const body = buildBody()
    const send = (etag: string | undefined, extra: object = {}) =>
      sendOnce([body, extra, etag], (header) =>
        readVersioned<Order>(
          api.PATCH('/v2/orders/{orderId}', {
            params: { path: { orderId: version.data.id }, header: { ...header, ...ifMatch(etag) } },
            body: { ...body, ...extra },
          }),
        ),
      )
    const saved = await editor.save({
      async save(etag) {
        try {
          return await send(etag)
        } catch (error) {
          if (!(error instanceof ApiError) || error.difference === undefined) throw error
          if (!(await confirmDifference(error.difference as Difference))) throw error
          return send(etag, { acceptDifference: true })
        }
      },
      differences: (theirs) => differencesOf(correction, { ...version.data, ...body }, theirs),
    })
    if (!saved) return
    notify(common('saved'))
    await onDone()
  }
  return (
    <Form onSubmit={save} dirty={editor.isDirty} label={title}>
      {correction === 'contact' ? (
        <>
          <TextField
            bind={editor.fields.email}
            name="email"
            label={common('email')}
            type="email"
            required
            max={254}
            hint={t('newEmailHint')}
          />
          <TagsField bind={editor.fields.tags} label={common('tags')} hint={t('noteHint')} max={tagsMax} />
        </>
      ) : (
        <AddressFields form={editor.fields} required />
      )}
    </Form>
  )
}

function differencesOf(correction: Correction, yours: Order, theirs: Order): readonly (readonly [string, string, string])[] {
  if (correction !== 'contact') return [[t(correction), addressLine(yours[correction]), addressLine(theirs[correction])]]
  return [
    [common('email'), yours.email ?? '–', theirs.email ?? '–'],
    [common('tags'), (yours.tags ?? []).join(', '), (theirs.tags ?? []).join(', ')],
  ]
}

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
