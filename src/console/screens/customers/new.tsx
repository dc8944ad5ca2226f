import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useDraft } from '../../lib/forms/use-draft.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { CheckField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { t } from './i18n.ts'

/** Creates a customer without a password and without a mail. */
export function NewCustomerForm({ onMade }: { onMade: (made: Schema<'Customer'>) => void }) {
  const draft = useDraft('new', { email: '', name: '', phone: '', acceptsMarketing: false })
  const sendOnce = useIdempotentSend()
  const { email, name, phone, acceptsMarketing } = draft.of
  async function create() {
    const typed = draft.now()
    const body = { ...typed, email: typed.email.trim(), name: typed.name.trim(), phone: typed.phone.trim() || null }
    const made = await sendOnce(body, (key) => ok(api.POST('/customer', { params: { header: { 'idempotency-key': key } }, body })))
    draft.reset(typed)
    notify(t('made'))
    onMade(made)
  }
  return (
    <Form onSubmit={create} submit={common('create')} dirty={draft.dirty} label={t('add')}>
      <TextField bind={email} name="email" label={t('email')} type="email" required max={254} />
      <TextField bind={name} label={t('name')} max={200} />
      <TextField bind={phone} name="phone" label={t('phone')} type="tel" max={40} />
      <CheckField bind={acceptsMarketing} label={t('acceptsMarketing')} hint={t('acceptsMarketingHint')} />
      <p class="hint">{t('newHint')}</p>
    </Form>
  )
}
