import { useSignal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ErrorBoundary } from 'preact-iso/lazy'
import { ApiError, noResponseError, readApiError, responseTimeoutMs } from '../lib/api/api-error.ts'
import { chooseLanguage, type Language } from '../lib/i18n/catalog.ts'
import { lazyScreen } from '../lib/navigation/screen.tsx'
import { cookiesPersist } from '../lib/session/browser-storage.ts'
import { linkToken } from '../lib/session/link-token.ts'
import { endReason, logIn, sessionStatus } from '../lib/session/session.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/fields.tsx'
import { Form } from '../ui/form.tsx'
import { Note } from '../ui/note.tsx'
import { CodeField } from './code-field.tsx'
import { t } from './i18n.ts'
import { LanguageSelect } from './language-select.tsx'

const Setup = lazyScreen(() => import('../screens/new-shop/setup.tsx'))
const Invitation = lazyScreen(() => import('../screens/invitation/index.tsx'))

/** The login, the first setup, an invitation, or the password reset. */
export function SignedOut() {
  const [view, setView] = useState<'first' | 'login' | 'forgot'>('first')
  const isInvitation = linkToken.value?.page === 'invitation' && view === 'first'
  const isSetup = sessionStatus.value === 'setup' && view === 'first'
  const title = isInvitation ? t('joinTitle') : isSetup ? t('setupTitle') : view === 'forgot' ? t('forgotTitle') : t('loginTitle')
  useEffect(() => {
    document.title = title
  }, [title])
  function showLogin(): void {
    linkToken.value = undefined
    setView('login')
  }
  // The previously focused element is hidden behind the lock.
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (sessionStatus.peek() === 'locked') heading.current?.focus()
  }, [])
  return (
    <main class="login-page">
      <p class="mark" aria-hidden="true">
        <bdi dir="ltr">
          souk<span>.</span>
        </bdi>
      </p>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {!cookiesPersist() && <Note tone="warn">{isSecureContext ? t('noCookies') : t('insecure')}</Note>}
      {isInvitation || isSetup ? (
        <>
          <ErrorBoundary>{isInvitation ? <Invitation /> : <Setup />}</ErrorBoundary>
          <Button kind="quiet" onPress={showLogin} text={t('toLogin')} />
        </>
      ) : view === 'forgot' ? (
        <ForgotPassword onBack={() => setView('login')} />
      ) : (
        <Login onForgot={() => setView('forgot')} />
      )}
      <LanguageSelect onChange={({ value }) => chooseLanguage(value as Language)} />
    </main>
  )
}

function Login({ onForgot }: { onForgot: () => void }) {
  const email = useSignal('')
  const password = useSignal('')
  const code = useSignal('')
  const [needsCode, setWantsCode] = useState(false)
  async function send(): Promise<void> {
    try {
      await logIn({ email: email.value.trim(), password: password.value, ...(code.value.trim() ? { code: code.value.trim() } : {}) })
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'TOTP_REQUIRED') throw error
      const wasRejected = needsCode && code.value.trim() !== ''
      setWantsCode(true)
      if (wasRejected) throw error
    }
  }
  return (
    <>
      {endReason.value && <Note>{t(endReason.value)}</Note>}
      <Form onSubmit={send} submit={t('login')} label={t('loginTitle')}>
        <TextField label={t('email')} bind={email} type="email" autoComplete="username" required />
        <TextField label={t('password')} bind={password} type="password" autoComplete="current-password" required />
        {needsCode && <CodeField bind={code} />}
      </Form>
      <Button kind="quiet" onPress={onForgot} text={t('forgot')} />
    </>
  )
}

/** The response does not reveal whether an account exists. */
function ForgotPassword({ onBack }: { onBack: () => void }) {
  const email = useSignal('')
  const [result, setSent] = useState<'mail' | 'nothing' | undefined>(undefined)
  async function send(): Promise<void> {
    const response = await fetch('/auth/password/forgot', {
      method: 'POST',
      credentials: 'omit',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: email.value.trim() }),
      signal: AbortSignal.timeout(responseTimeoutMs),
    }).catch(() => {
      throw noResponseError()
    })
    if (!response.ok) throw await readApiError(response)
    const { sending } = (await response.json()) as { sending?: boolean }
    setSent(sending === false ? 'nothing' : 'mail')
  }
  return (
    <>
      {result === 'mail' ? (
        <Note tone="good">{t('forgotText')}</Note>
      ) : result === 'nothing' ? (
        <Note tone="warn">{t('forgotOff')}</Note>
      ) : (
        <Form onSubmit={send} submit={t('forgotSend')} label={t('forgotTitle')}>
          <TextField label={t('email')} bind={email} type="email" autoComplete="username" required />
        </Form>
      )}
      <Button kind="quiet" onPress={onBack} text={t('toLogin')} />
    </>
  )
}
