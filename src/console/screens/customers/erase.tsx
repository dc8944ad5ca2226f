import { useSignal } from '@preact/signals'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
import { notify } from '../../lib/live/toasts.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { BulletList } from '../../ui/bullet-list.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Note } from '../../ui/note.tsx'
import { t } from './i18n.ts'

const erasedTextKeys = ['goesName', 'goesAddresses', 'goesOrders', 'goesLogin', 'goesGuest'] as const
const retainedTextKeys = ['staysNumbers', 'staysCountry', 'staysCards'] as const

/** Erases a customer after their e-mail address was typed. Irreversible. */
export function EraseDialog({
  customer,
  onClose,
  onErased,
}: {
  customer: Schema<'Customer'>
  onClose: () => void
  onErased: () => unknown
}) {
  const typedEmail = useSignal('')
  const hasOpenOrders = useSignal(false)
  async function erase() {
    if (typedEmail.value.trim().toLowerCase() !== customer.email.toLowerCase()) throw new Error(t('eraseMismatch'))
    hasOpenOrders.value = false
    try {
      await ok(api.POST('/customer/{customerId}/erase', { params: { path: { customerId: customer.id } } }))
    } catch (error) {
      hasOpenOrders.value = error instanceof ApiError && error.status === 409
      throw error
    }
    notify(t('erasedNow'))
    onClose()
    await onErased()
  }
  const list = (title: string, keys: readonly (typeof erasedTextKeys | typeof retainedTextKeys)[number][]) => (
    <>
      <h3>{title}</h3>
      <BulletList items={keys.map((key) => t(key))} />
    </>
  )
  return (
    <Dialog title={t('eraseTitle')} onClose={onClose}>
      <Form onSubmit={erase} submit={t('eraseNow')} danger label={t('eraseTitle')}>
        {hasOpenOrders.value && (
          <Note tone="warn">
            {t('eraseOpen')} <a href={`${shopPath('orders')}?q=${encodeURIComponent(customer.email)}`}>{t('eraseOpenLink')}</a>
          </Note>
        )}
        {list(t('goes'), erasedTextKeys)}
        {list(t('stays'), retainedTextKeys)}
        <p>
          <strong>{t('noWayBack')}</strong>
        </p>
        <TextField bind={typedEmail} label={t('eraseType')} hint={<bdi>{customer.email}</bdi>} required code />
      </Form>
    </Dialog>
  )
}
