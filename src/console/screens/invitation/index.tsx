import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { ApiError, noResponseError, readApiError, responseTimeoutMs } from '../../lib/api/api-error.ts'
import type { components } from '../../lib/schema.d.ts'
import { shopHref } from '../../lib/session/current-shop.ts'
import { linkToken } from '../../lib/session/link-token.ts'
import { logIn } from '../../lib/session/session.ts'
import { CodeField } from '../../shell/code-field.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { t } from './i18n.ts'

type JoinedShop = components['schemas']['JoinedShop']

async function acceptInvitation(body: { token: string; password: string; name?: string }): Promise<JoinedShop> {
  const response = await fetch('/auth/invitation', {
    method: 'POST',
    credentials: 'omit',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(responseTimeoutMs),
  }).catch(() => {
    throw noResponseError(true)
  })
  if (!response.ok) throw await readApiError(response)
  return (await response.json()) as JoinedShop
}

/** Accepts an invitation, logs in and opens the shop. */
export default function Invitation() {
  const { route } = useLocation()
  const name = useSignal('')
  const password = useSignal('')
  const code = useSignal('')
  const [joined, setJoined] = useState<JoinedShop | undefined>(undefined)
  const [needsCode, setNeedsCode] = useState(false)
  async function send(): Promise<void> {
    let accepted = joined
    if (!accepted) {
      const token = linkToken.value?.token ?? ''
      const enteredName = name.value.trim()
      accepted = await acceptInvitation({ token, password: password.value, ...(enteredName ? { name: enteredName } : {}) })
      setJoined(accepted)
      // The page of the shop is loaded if the login replaces another account's session, which reloads the page.
      history.replaceState(null, '', shopHref(accepted.shop.name))
    }
    try {
      await logIn({ email: accepted.email, password: password.value, ...(code.value.trim() ? { code: code.value.trim() } : {}) })
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'TOTP_REQUIRED') throw error
      if (needsCode) throw error
      setNeedsCode(true)
      return
    }
    linkToken.value = undefined
    route(shopHref(accepted.shop.name), true)
  }
  return (
    <>
      <p>{joined ? t('joined', { shop: joined.shop.title }) : t('text')}</p>
      <Form onSubmit={send} submit={joined ? t('login') : t('join')} label={t('title')}>
        {!joined && <TextField label={t('name')} hint={t('nameHint')} bind={name} name="name" max={200} autoComplete="name" />}
        <TextField
          label={t('password')}
          hint={t('passwordHint')}
          bind={password}
          name="password"
          type="password"
          autoComplete="new-password"
          required
        />
        {needsCode && <CodeField bind={code} />}
      </Form>
    </>
  )
}
