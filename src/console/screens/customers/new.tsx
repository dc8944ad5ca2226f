import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useDraft } from '../../lib/forms/use-draft.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { Form } from '../../ui/form.tsx'
import { t } from './i18n.ts'
import { emptyProfile, ProfileFields, profileBody } from './profile.tsx'

/** Creates a customer without a password and without a mail. */
export function NewCustomerForm({ onCreated }: { onCreated: (made: Schema<'Customer'>) => void }) {
  const draft = useDraft('new', emptyProfile)
  const sendOnce = useIdempotentSend()
  async function create() {
    const input = draft.values()
    const body = profileBody(input)
    const customer = await sendOnce(body, (header) => ok(api.POST('/customer', { params: { header }, body })))
    draft.reset(input)
    notify(t('made'))
    onCreated(customer)
  }
  return (
    <Form onSubmit={create} submit={common('create')} dirty={draft.isDirty} label={t('add')}>
      <ProfileFields fields={draft.fields} />
      <p class="hint">{t('newHint')}</p>
    </Form>
  )
}
