import { useSignal } from '@preact/signals'
import { api, fetchedOnce } from '../../lib/api/api.ts'
import { notify } from '../../lib/live/toasts.ts'
import { TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Section } from '../../ui/page.tsx'
import { w } from './i18n.ts'

/**
 * Changes one's own password.
 * @param email for the browser's keeper of passwords, where it is known
 * @param onChanged the other sessions have ended
 */
export function Password({ email, onChanged }: { email: string | undefined; onChanged: () => unknown }) {
  const current = useSignal('')
  const fresh = useSignal('')
  const again = useSignal('')
  const isDifferent = again.value !== '' && again.value !== fresh.value
  async function change(): Promise<void> {
    if (fresh.value !== again.value) throw new Error(w('notSame'))
    await api.POST('/auth/password', { body: { current: current.value, password: fresh.value }, fetch: fetchedOnce })
    for (const field of [current, fresh, again]) field.value = ''
    notify(w('passwordChanged'))
    await onChanged()
  }
  return (
    <Section title={w('password')} hint={w('passwordHint')}>
      <Form
        onSubmit={change}
        submit={w('changePassword')}
        dirty={[current, fresh, again].some(({ value }) => value !== '')}
        label={w('password')}
      >
        <input type="text" autoComplete="username" value={email ?? ''} readOnly hidden />
        <div class="fields">
          <TextField bind={current} label={w('current')} type="password" max={200} autoComplete="current-password" required />
          <TextField bind={fresh} label={w('fresh')} type="password" max={200} autoComplete="new-password" hint={w('freshHint')} required />
          <TextField
            bind={again}
            label={w('again')}
            type="password"
            max={200}
            autoComplete="new-password"
            error={isDifferent ? w('notSame') : undefined}
            required
          />
        </div>
      </Form>
    </Section>
  )
}
