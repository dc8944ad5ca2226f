import { useSignal } from '@preact/signals'
import { api, fetchWithoutRetry } from '../../lib/api/api.ts'
import { notify } from '../../lib/live/toasts.ts'
import { TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Section } from '../../ui/page.tsx'
import { t } from './i18n.ts'

/**
 * Changes the password.
 * @param email for the browser's password manager
 * @param onChanged called after the other sessions ended
 */
export function PasswordForm({ email, onChanged }: { email: string | undefined; onChanged: () => unknown }) {
  const current = useSignal('')
  const newPassword = useSignal('')
  const repeatedPassword = useSignal('')
  const isDifferent = repeatedPassword.value !== '' && repeatedPassword.value !== newPassword.value
  async function change(): Promise<void> {
    if (newPassword.value !== repeatedPassword.value) throw new Error(t('notSame'))
    await api.POST('/auth/password', { body: { current: current.value, password: newPassword.value }, fetch: fetchWithoutRetry })
    for (const field of [current, newPassword, repeatedPassword]) field.value = ''
    notify(t('passwordChanged'))
    await onChanged()
  }
  return (
    <Section title={t('password')} hint={t('passwordHint')}>
      <Form
        onSubmit={change}
        submit={t('changePassword')}
        dirty={[current, newPassword, repeatedPassword].some(({ value }) => value !== '')}
        label={t('password')}
      >
        <input type="text" autoComplete="username" value={email ?? ''} readOnly hidden />
        <div class="fields">
          <TextField bind={current} label={t('current')} type="password" max={200} autoComplete="current-password" required />
          <TextField
            bind={newPassword}
            label={t('fresh')}
            type="password"
            max={200}
            autoComplete="new-password"
            hint={t('freshHint')}
            required
          />
          <TextField
            bind={repeatedPassword}
            label={t('again')}
            type="password"
            max={200}
            autoComplete="new-password"
            error={isDifferent ? t('notSame') : undefined}
            required
          />
        </div>
      </Form>
    </Section>
  )
}
