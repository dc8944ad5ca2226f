import { useSignal } from '@preact/signals'
import { api, ok, Refused, type Schema } from '../../lib/api/api.ts'
import { notify } from '../../lib/live/toasts.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { BulletList } from '../../ui/bullet-list.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Note } from '../../ui/note.tsx'
import { t } from './i18n.ts'

const erasedTexts = ['goesName', 'goesAddresses', 'goesOrders', 'goesLogin', 'goesGuest'] as const
const keptTexts = ['staysNumbers', 'staysCountry', 'staysCards'] as const

/** Erases a customer after their e-mail address was typed. Irreversible. */
export function EraseDialog({ of, onClose, onErased }: { of: Schema<'Customer'>; onClose: () => void; onErased: () => unknown }) {
  const typed = useSignal('')
  const isOpen = useSignal(false)
  async function erase() {
    if (typed.value.trim().toLowerCase() !== of.email.toLowerCase()) throw new Error(t('eraseMismatch'))
    isOpen.value = false
    try {
      await ok(api.POST('/customer/{customerId}/erase', { params: { path: { customerId: of.id } } }))
    } catch (error) {
      isOpen.value = error instanceof Refused && error.status === 409
      throw error
    }
    notify(t('erasedNow'))
    onClose()
    await onErased()
  }
  const list = (title: string, of_: readonly (typeof erasedTexts | typeof keptTexts)[number][]) => (
    <>
      <h3>{title}</h3>
      <BulletList of={of_.map((one) => t(one))} />
    </>
  )
  return (
    <Dialog title={t('eraseTitle')} onClose={onClose}>
      <Form onSubmit={erase} submit={t('eraseNow')} danger label={t('eraseTitle')}>
        {isOpen.value && (
          <Note tone="warn">
            {t('eraseOpen')} <a href={`${shopPath('orders')}?q=${encodeURIComponent(of.email)}`}>{t('eraseOpenLink')}</a>
          </Note>
        )}
        {list(t('goes'), erasedTexts)}
        {list(t('stays'), keptTexts)}
        <p>
          <strong>{t('noWayBack')}</strong>
        </p>
        <TextField bind={typed} label={t('eraseType')} hint={<bdi>{of.email}</bdi>} required code />
      </Form>
    </Dialog>
  )
}
